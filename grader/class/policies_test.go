package class

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/grader/class/intake"
	"cudalab/grader/class/policy"
	"cudalab/grader/suite/verdict"
)

// ruled is a grader under a policy for two exercises.
func ruled(t *testing.T, text string) grader {
	t.Helper()
	exercises := []Exercise{{Name: "slab", MaxScore: 100, Checks: []Check{{ID: "cleanup", MaxPoints: 85},
		{ID: "cost", MaxPoints: 15}}},
		{Name: "ring", MaxScore: 100, Checks: []Check{{ID: "results", MaxPoints: 100}}}}
	dir := t.TempDir()
	file := filepath.Join(dir, "grading.toml")
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	p, err := readPolicy(file, exercises)
	require.NoError(t, err)
	require.NoError(t, os.Mkdir(filepath.Join(dir, timingsDir), 0o700))
	return grader{p, dir, exercises, map[string][]Student{}}
}

func scored(id, digest string, slab, ring float64) Student {
	return Student{ID: id, Status: Graded, Digest: digest, Score: slab + ring, MaxScore: 200,
		People:   []Person{{SID: "1815", Email: "ada@example.org"}},
		HandedIn: intake.Moment{Time: "2026-10-02T12:00:00Z"},
		Exercises: []verdict.Report{{Exercise: "slab", Status: verdict.Failed, Score: slab},
			{Exercise: "ring", Status: verdict.Failed, Score: ring}}}
}

func TestAPolicyMakesGradesOfResults(t *testing.T) {
	g := ruled(t, "[exercises.weights]\nslab = 2\n[deadline]\ndue = 2026-10-01T12:00:00Z\npenalty = 10\n[[student]]\nid "+
		"= \"ada@example.org\"\nadjust = 4\ncomment = \"Oral.\"\n")
	c := &Class{Exercises: g.exercises, Students: []Student{scored("ada", "x", 50, 100), {ID: "bob", Status: Errored},
		scored("cem", "y", 0, 0)}}
	c.Students[2].HandedIn, c.Students[2].People = intake.Moment{Late: true}, nil
	g.class(c)
	points, most, ok := c.Students[0].Final()
	require.Equal(t, []any{184.0, 300.0, true}, []any{points, most, ok}, c.Students[0].How())
	require.Nil(t, c.Students[1].Grade, "what could not be graded has no grade")
	require.Equal(t, "cem", c.Attention[0].ID)
	require.Contains(t, c.Attention[0].Text, "handed_in")
	require.Equal(t, 150.0, c.Students[0].Score, "the points stay what they are")
}

// What is so of everyone, as in an export without times, is asked once.
func TestTheSameIsAskedOnce(t *testing.T) {
	const ask = "When it was handed in is not known, and it was taken as in time. If it was not, write handed_in into " +
		"grading.toml."
	for dated, want := range map[int][]Attention{
		0:  {{"", "Of all 12 who were graded: " + ask}},
		1:  {{"", "Of 11 of 12 who were graded, b, c, d, e, f, g, h, i, j, k and 1 more: " + ask}},
		8:  {{"", "Of 4 of 12 who were graded, i, j, k, l: " + ask}},
		9:  {{"j", ask}, {"k", ask}, {"l", ask}},
		12: nil,
	} {
		g := ruled(t, "[deadline]\ndue = 2026-10-01T12:00:00Z\npenalty = 10\n")
		c := &Class{Exercises: g.exercises}
		for i := range 12 {
			s := scored(string(rune('a'+i)), "x", 50, 100)
			if i >= dated {
				s.HandedIn = intake.Moment{}
			}
			c.Students = append(c.Students, s)
		}
		g.class(c)
		require.Equal(t, want, c.Attention, dated)
	}
}

func TestWithoutAPolicyNothingIsSaid(t *testing.T) {
	c := &Class{Students: []Student{scored("ada", "x", 50, 100)}}
	grader{}.class(c)
	points, most, ok := c.Students[0].Final()
	require.Equal(t, []any{150.0, 200.0, true}, []any{points, most, ok})
	text, err := c.Students[0].MarshalJSON()
	require.NoError(t, err)
	require.NotContains(t, string(text), "grade\":")
	require.Empty(t, c.Students[0].How())
}

func TestTheBestAttemptCounts(t *testing.T) {
	g := ruled(t, "attempt = \"best\"")
	g.earlier["ada"] = []Student{scored("ada", "first", 90, 90), scored("ada", "second", 100, 100), scored("ada", "second",
		60, 60)}
	got := g.student(scored("ada", "third", 80, 80))
	require.Equal(t, "first", got.Digest, "of the same files the later result counts, whatever it is")
	require.Equal(t, 180.0, got.Grade.Points)
	require.Equal(t, "The best of 3 attempts that were graded counts: the one with the digest first.", got.Grade.How[0])
	g.policy.Attempt = policy.Last
	require.Equal(t, "third", g.student(scored("ada", "third", 80, 80)).Digest)
}

func TestTheLastAttemptBeforeTheDeadlineCounts(t *testing.T) {
	g := ruled(t, "attempt = \"in-time\"\n[deadline]\ndue = 2026-10-01T12:00:00Z\npenalty = 10")
	at := func(digest, when string, points float64) Student {
		s := scored("ada", digest, points, 0)
		s.HandedIn.Time = when
		return s
	}
	g.earlier["ada"] = []Student{at("first", "2026-09-01T12:00:00Z", 90), at("second", "2026-10-01T11:00:00Z", 60)}
	got := g.student(at("third", "2026-10-02T11:00:00Z", 100))
	require.Equal(t, "second", got.Digest)
	require.Equal(t, 60.0, got.Grade.Points)
	require.Equal(t, "The last attempt before the deadline counts, handed in 2026-10-01T11:00:00Z: the one with the "+
		"digest second. "+
		"What came 2026-10-02T11:00:00Z does not.", got.Grade.How[0])
	g.earlier["ada"] = []Student{at("first", "2026-10-01T13:00:00Z", 90)}
	got = g.student(at("third", "2026-10-02T11:00:00Z", 100))
	require.Equal(t, "third", got.Digest, "where none came in time the last counts")
	require.Equal(t, 90.0, got.Grade.Points)
}

func TestABonusGoesByTheTimings(t *testing.T) {
	g := ruled(t, "[[bonus]]\nexercise = \"slab\"\nbelow = 0.5\npoints = 5")
	s := scored("ada", "x", 100, 0)
	require.Equal(t, 100.0, g.student(s).Grade.Points, "without timings there is no bonus")
	require.NoError(t, replaceJSON(filepath.Join(g.dir, timingsDir, "ada.json"),
		Timings{ID: "ada", Exercises: []verdict.Report{{Exercise: "slab",
			Checks: []verdict.Check{{ID: "cost", Status: verdict.Passed, Measurements: []verdict.Measurement{{Value: 0.6,
				Low: 0.4, High: 0.8, Limit: 1}, {Value: 9}}}}}}}))
	require.Equal(t, 105.0, g.student(s).Grade.Points)
}

func TestHiddenChecksShowPointsOnly(t *testing.T) {
	g := ruled(t, "hidden = [\"slab.cleanup\"]")
	c := &Class{Exercises: g.exercises}
	g.class(c)
	r := verdict.Report{Exercise: "slab", Checks: []verdict.Check{{ID: "cleanup", Name: "frees all", Points: 85,
		MaxPoints: 85, Message: "secret",
		Findings: []verdict.Finding{{Rule: "leak"}}}, {ID: "cost", Name: "cheap"}}}
	shown := c.Shown(r)
	require.Equal(t, verdict.Check{ID: HiddenID, Name: HiddenName, Points: 85, MaxPoints: 85,
		Findings: []verdict.Finding{}, Measurements: []verdict.Measurement{}}, shown.Checks[0])
	require.Equal(t, r.Checks[1], shown.Checks[1])
	require.Equal(t, "cleanup", r.Checks[0].ID)
}
