package class

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/grader/suite/verdict"
)

func checked(id string, status verdict.Status, points float64, fs ...verdict.Finding) verdict.Check {
	return verdict.Check{ID: id, Status: status, Points: points, MaxPoints: 50, Findings: fs}
}

func of(id, digest string, checks ...verdict.Check) Student {
	s := Student{Schema: SchemaVersion, ID: id, Status: Graded, Digest: digest, MaxScore: 100, Notes: []string{}}
	r := verdict.Report{Exercise: "slab", Status: verdict.Passed, Checks: checks}
	for _, c := range checks {
		r.Score += c.Points
		if c.Status != verdict.Passed {
			r.Status = verdict.Failed
		}
	}
	s.Score, s.Exercises = r.Score, []verdict.Report{r}
	return s
}

// settledIn is a folder of results with such a journal.
func settledIn(t *testing.T, h Header, students ...Student) (dir string) {
	t.Helper()
	dir = t.TempDir()
	j, _, err := openJournal(dir)
	require.NoError(t, err)
	require.NoError(t, j.begin(h))
	for _, s := range students {
		require.NoError(t, j.settle(s))
	}
	require.NoError(t, j.close())
	return dir
}

func header() Header {
	return Header{Schema: SchemaVersion, Seed: 7, Device: verdict.Device{Kind: "sim", Name: "H200"},
		Versions: Versions{Cudalab: "v1", Course: "c1", Go: "go1.26"},
		Exercises: []Exercise{{Name: "slab", MaxScore: 100, Checks: []Check{{ID: "blocks", MaxPoints: 50},
			{ID: "speed", MaxPoints: 50}}}}}
}

var race = verdict.Finding{Rule: "data-race", Severity: verdict.Error, File: "slab/slab.go", Line: 9}

func TestTheSameResultsDoNotDiffer(t *testing.T) {
	a := of("ada", "1", checked("blocks", verdict.Passed, 50))
	d, err := Diff(settledIn(t, header(), a), settledIn(t, header(), a))
	require.NoError(t, err)
	require.Equal(t, &Difference{Schema: 1, Causes: []Cause{}, Students: []Change{}, Same: 1}, d)
	require.Zero(t, d.Grades())
}

func TestEqualGradesDoNotDiffer(t *testing.T) {
	a := of("ada", "1", checked("blocks", verdict.Passed, 50), checked("speed", verdict.Failed, 0))
	b := of("ada", "1", checked("blocks", verdict.Failed, 0), checked("speed", verdict.Passed, 50))
	d, err := Diff(settledIn(t, header(), a), settledIn(t, header(), b))
	require.NoError(t, err)
	require.Equal(t, SameGrade, d.Students[0].Kind, "other checks have the same sum")
	require.Len(t, d.Students[0].Exercises, 1)
	require.Zero(t, d.Grades())
}

func TestWhoseGradeDiffersByWhichCheckAndWhy(t *testing.T) {
	slow := verdict.Finding{Rule: ruleSlow, Severity: verdict.Error}
	lost := Student{Schema: SchemaVersion, ID: "lost", Status: Errored, Digest: "1", MaxScore: 100}
	old := settledIn(t, header(),
		of("ada", "1", checked("blocks", verdict.Failed, 0, race), checked("speed", verdict.Skipped, 0)),
		of("bob", "1", checked("blocks", verdict.Passed, 50), checked("speed", verdict.Passed, 50)),
		of("cem", "1", checked("blocks", verdict.Passed, 50)), of("dan", "1", checked("blocks", verdict.Passed, 50)),
		of("eve", "1", checked("blocks", verdict.Passed, 50)), lost, of("odd", "1", checked("blocks", verdict.Passed, 50)))
	now := settledIn(t, header(),
		of("ada", "2", checked("blocks", verdict.Passed, 50), checked("speed", verdict.Passed, 50)),
		of("bob", "1", checked("blocks", verdict.Passed, 50), checked("speed", verdict.Failed, 0, slow)),
		of("cem", "9", checked("blocks", verdict.Passed, 50)), of("dan", "1", checked("blocks", verdict.Passed, 50)),
		of("lost", "1", checked("blocks", verdict.Passed, 50)), of("new", "1", checked("blocks", verdict.Passed, 50)),
		of("odd", "1", checked("blocks", verdict.Failed, 0, race)))
	d, err := Diff(old, now)
	require.NoError(t, err)
	require.Equal(t, 1, d.Same)
	require.Equal(t, 6, d.Grades())
	by := map[string]Change{}
	for _, c := range d.Students {
		by[c.ID] = c
	}
	require.Len(t, by, 7)
	require.Equal(t, "other files", by["ada"].Why)
	require.Equal(t, []ExerciseChange{{"slab", verdict.Failed, verdict.Passed, 0, 100, []CheckChange{
		{"blocks", verdict.Failed, verdict.Passed, 0, 50, "data-race at slab/slab.go:9"}, {"speed", verdict.Skipped,
			verdict.Passed, 0, 50, ""}}}}, by["ada"].Exercises)
	require.Contains(t, by["bob"].Why, "a measured speed lay on the two sides of its limit")
	require.Equal(t, SameGrade, by["cem"].Kind)
	require.Equal(t, "other files", by["cem"].Why)
	require.Equal(t, Gone, by["eve"].Kind)
	require.Equal(t, Added, by["new"].Kind)
	require.Nil(t, by["lost"].Old)
	require.Contains(t, by["lost"].Why, "could not be graded, by no fault of the submission's")
	require.Contains(t, by["odd"].Why, "please report it")
}

func TestWhatWasNotTheSameForAllIsNamed(t *testing.T) {
	a, b := of("ada", "1", checked("blocks", verdict.Passed, 50)), of("ada", "1", checked("blocks", verdict.Failed, 0,
		race))
	for what, change := range map[string]func(*Header){
		"seed": func(h *Header) { h.Seed = 8 }, "device": func(h *Header) { h.Device.Name = "L4" },
		"cudalab": func(h *Header) { h.Versions.Cudalab = "v2" }, "course": func(h *Header) { h.Versions.Course = "c2" },
		"go":      func(h *Header) { h.Versions.Go = "go1.27" },
		"weights": func(h *Header) { h.Exercises[0].Checks[0].MaxPoints = 60 },
	} {
		h := header()
		h.Exercises = []Exercise{{Name: "slab", MaxScore: 100, Checks: []Check{{ID: "blocks", MaxPoints: 50},
			{ID: "speed", MaxPoints: 50}}}}
		change(&h)
		d, err := Diff(settledIn(t, header(), a), settledIn(t, h, b))
		require.NoError(t, err)
		require.Len(t, d.Causes, 1)
		require.Equal(t, what, d.Causes[0].What)
		require.NotEqual(t, d.Causes[0].Old, d.Causes[0].New)
		require.Equal(t, causeNames[what], d.Students[0].Why)
		require.NotEmpty(t, d.Students[0].Why)
	}
}

func TestThereMustBeSomethingToCompare(t *testing.T) {
	_, err := Diff(t.TempDir(), t.TempDir())
	var asked *UsageError
	require.ErrorAs(t, err, &asked)
	require.ErrorContains(t, err, "holds no results of cudalab's")
}

func TestRegradingSaysWhatWas(t *testing.T) {
	a := of("ada", "1", checked("blocks", verdict.Failed, 0, race), checked("speed", verdict.Passed, 50))
	b := of("ada", "2", checked("blocks", verdict.Passed, 50), checked("speed", verdict.Passed, 50))
	require.Equal(t, "ada was 50, now 100 of 100 points: slab/blocks passed; the files are others.", regraded(a, b))
	require.Equal(t, "ada was 100, now 100 of 100 points; the files are the same.", regraded(b, b))
	require.Equal(t, "ada was 100, now none of 100 points; the files are the same.",
		regraded(b, Student{ID: "ada", Status: Errored, MaxScore: 100, Digest: "2", Exercises: b.Exercises}))
}
