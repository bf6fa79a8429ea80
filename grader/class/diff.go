package class

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"cudalab/grader/suite/verdict"
)

// Difference is what lies between two folders of results.
type Difference struct {
	Schema int `json:"schema"`
	// Causes are what the two were graded under that was not the same. Each may be why any of the grades changed.
	Causes   []Cause  `json:"causes"`
	Students []Change `json:"students"` // whose grade or files are others, by ID
	Same     int      `json:"same"`     // students with the same grade of the same files
}

// Grades is how many students have another grade, or one in only one of the two.
func (d *Difference) Grades() int {
	n := 0
	for _, c := range d.Students {
		if c.grade() {
			n++
		}
	}
	return n
}

// grade reports whether the grade is another, or is in only one of the two.
func (c Change) grade() bool {
	return c.Kind == Added || c.Kind == Gone || (c.Old == nil) != (c.New == nil) || c.Old != nil && *c.Old != *c.New
}

// Cause is something that was not the same.
type Cause struct {
	What string `json:"what"` // "seed", "device", "cudalab", "course", "go" or "weights"
	Old  string `json:"old"`
	New  string `json:"new"`
}

// Kind is what became of a student between two results.
type Kind string

// What can become of a student.
const (
	Changed   Kind = "changed"
	Added     Kind = "added"
	Gone      Kind = "gone"
	SameGrade Kind = "same-grade" // of other files, or by other checks
)

// Change is one student's.
type Change struct {
	ID       string   `json:"id"`
	Kind     Kind     `json:"kind"`
	Old      *float64 `json:"old"` // null: none
	New      *float64 `json:"new"`
	MaxScore float64  `json:"max_score"`
	// Files reports that other files were graded.
	Files     bool             `json:"other_files"`
	Why       string           `json:"why"` // in a sentence
	Exercises []ExerciseChange `json:"exercises"`
}

// ExerciseChange is an exercise with another status, or other points.
type ExerciseChange struct {
	Exercise  string         `json:"exercise"`
	OldStatus verdict.Status `json:"old_status"`
	NewStatus verdict.Status `json:"new_status"`
	Old       float64        `json:"old"`
	New       float64        `json:"new"`
	Checks    []CheckChange  `json:"checks"`
}

// CheckChange is a check with another status, or other points.
type CheckChange struct {
	ID        string         `json:"id"`
	OldStatus verdict.Status `json:"old_status"`
	NewStatus verdict.Status `json:"new_status"`
	Old       float64        `json:"old"`
	New       float64        `json:"new"`
	// Finding is the first error of the one that did not pass: "free-before-use at slab/slab.go:41".
	Finding string `json:"finding,omitempty"`
}

// Diff compares two folders of results.
func Diff(before, after string) (*Difference, error) {
	a, err := readFolder(before)
	if err != nil {
		return nil, err
	}
	b, err := readFolder(after)
	if err != nil {
		return nil, err
	}
	d := &Difference{Schema: SchemaVersion, Causes: causes(*a.header, *b.header), Students: []Change{}}
	ids := map[string]bool{}
	for id := range a.results {
		ids[id] = true
	}
	for id := range b.results {
		ids[id] = true
	}
	for _, id := range slices.Sorted(maps.Keys(ids)) {
		x, old := a.results[id]
		y, now := b.results[id]
		var c Change
		switch {
		case !old:
			c = Change{ID: id, Kind: Added, New: scoreOf(y), MaxScore: y.MaxScore, Why: "not among the earlier results",
				Exercises: []ExerciseChange{}}
		case !now:
			c = Change{ID: id, Kind: Gone, Old: scoreOf(x), MaxScore: x.MaxScore, Why: "not among the later results",
				Exercises: []ExerciseChange{}}
		default:
			c = change(x, y, d.Causes)
		}
		if c.Kind == "" {
			d.Same++
		} else {
			d.Students = append(d.Students, c)
		}
	}
	return d, nil
}

// readFolder reads the journal of a folder that has results.
func readFolder(dir string) (journalState, error) {
	path := journalPath(dir)
	file, err := os.Open(path)
	if err != nil {
		return journalState{}, usagef("%s holds no results of cudalab's: %v.", dir, err)
	}
	defer file.Close()
	state, _, err := readJournal(file, path)
	if err == nil && state.header == nil {
		err = usagef("%s holds no results yet.", dir)
	}
	return state, err
}

// causes are what was not the same for all.
func causes(a, b Header) []Cause {
	on := func(d verdict.Device) string {
		text := fmt.Sprintf("%s (%s)", d.Name, d.Kind)
		if d.Driver != "" {
			text += ", CUDA " + d.Driver
		}
		if d.Profile != "" {
			text += ", profile " + d.Profile
		}
		return text
	}
	all := []Cause{}
	for _, c := range []Cause{
		{"seed", fmt.Sprint(a.Seed), fmt.Sprint(b.Seed)}, {"device", on(a.Device), on(b.Device)},
		{"cudalab", a.Versions.Cudalab, b.Versions.Cudalab}, {"course", a.Versions.Course, b.Versions.Course},
		{"go", a.Versions.Go, b.Versions.Go}, {"weights", weights(a.Exercises), weights(b.Exercises)},
	} {
		if c.Old != c.New {
			all = append(all, c)
		}
	}
	return all
}

// weights are what the exercises are worth, check by check.
func weights(es []Exercise) string {
	var all []string
	for _, e := range es {
		var checks []string
		for _, c := range e.Checks {
			checks = append(checks, fmt.Sprintf("%s %v", c.ID, c.MaxPoints))
		}
		all = append(all, e.Name+": "+strings.Join(checks, ", "))
	}
	return strings.Join(all, "; ")
}

// regraded says what became of a grade that a student had: "was 85, now 100".
func regraded(a, b Student) string {
	c := change(a, b, nil)
	grade := func(s *float64) string {
		if s == nil {
			return "none"
		}
		return points(*s)
	}
	text := fmt.Sprintf("%s was %s, now %s of %s points", b.ID, grade(c.Old), grade(c.New), points(b.MaxScore))
	var checks []string
	for _, e := range c.Exercises {
		for _, k := range e.Checks {
			checks = append(checks, fmt.Sprintf("%s/%s %s", e.Exercise, k.ID, cmp.Or(k.NewStatus, "no longer asked")))
		}
	}
	const few = 6
	if more := len(checks) - few; more > 0 {
		checks = append(checks[:few], fmt.Sprintf("%d more", more))
	}
	if len(checks) > 0 {
		text += ": " + strings.Join(checks, ", ")
	}
	if c.Files {
		return text + "; the files are others."
	}
	return text + "; the files are the same."
}

// change is what became of a student; its Kind is "" where nothing did.
func change(a, b Student, causes []Cause) Change {
	c := Change{ID: b.ID, Old: scoreOf(a), New: scoreOf(b), MaxScore: b.MaxScore, Files: a.Digest != b.Digest,
		Exercises: []ExerciseChange{}}
	reports := map[string]verdict.Report{}
	for _, r := range a.Exercises {
		reports[r.Exercise] = r
	}
	for _, now := range b.Exercises {
		if e, differs := changedExercise(reports[now.Exercise], now); differs {
			c.Exercises = append(c.Exercises, e)
		}
		delete(reports, now.Exercise)
	}
	for _, name := range slices.Sorted(maps.Keys(reports)) {
		e, _ := changedExercise(reports[name], verdict.Report{Exercise: name})
		c.Exercises = append(c.Exercises, e)
	}
	switch {
	case c.grade():
		c.Kind = Changed
	case c.Files || len(c.Exercises) > 0:
		c.Kind = SameGrade
	}
	c.Why = why(c, causes)
	return c
}

func scoreOf(s Student) *float64 {
	if s.Status != Graded {
		return nil
	}
	return &s.Score
}

// causeNames are what the causes are called.
var causeNames = map[string]string{"seed": "another seed", "device": "another device",
	"cudalab": "another version of cudalab",
	"course":  "another version of the course", "go": "another version of Go", "weights": "other weights"}

// why says what may be the reason for a change, the likeliest first.
func why(c Change, causes []Cause) string {
	var reasons []string
	if c.Files {
		reasons = append(reasons, "other files")
	}
	for _, o := range causes {
		reasons = append(reasons, causeNames[o.What])
	}
	switch {
	case len(reasons) > 0:
		return strings.Join(reasons, ", ")
	case c.Old == nil || c.New == nil:
		return "one of the two could not be graded, by no fault of the submission's"
	case slices.ContainsFunc(c.Exercises, func(e ExerciseChange) bool {
		return slices.ContainsFunc(e.Checks,
			CheckChange.slow)
	}):
		return "the same files, seed, versions and device: a measured speed lay on the two sides of its limit"
	}
	return "the same files, seed, versions and device: please report it, this should not happen"
}

// slow reports whether a check failed for what was measured.
func (c CheckChange) slow() bool {
	return strings.HasPrefix(c.Finding, ruleSlow) || strings.HasPrefix(c.Finding, ruleGrows)
}

func changedExercise(a, b verdict.Report) (e ExerciseChange, differs bool) {
	e = ExerciseChange{Exercise: b.Exercise, OldStatus: a.Status, NewStatus: b.Status, Old: a.Score, New: b.Score,
		Checks: []CheckChange{}}
	old := map[string]verdict.Check{}
	for _, c := range a.Checks {
		old[c.ID] = c
	}
	for _, now := range b.Checks {
		was := old[now.ID]
		delete(old, now.ID)
		if was.Status == now.Status && was.Points == now.Points {
			continue
		}
		e.Checks = append(e.Checks, CheckChange{now.ID, was.Status, now.Status, was.Points, now.Points,
			cmp.Or(firstError(now), firstError(was))})
	}
	for _, c := range a.Checks {
		if _, gone := old[c.ID]; gone {
			e.Checks = append(e.Checks, CheckChange{c.ID, c.Status, "", c.Points, 0, firstError(c)})
		}
	}
	return e, a.Status != b.Status || a.Score != b.Score || len(e.Checks) > 0
}

func firstError(c verdict.Check) string {
	i := slices.IndexFunc(c.Findings, func(f verdict.Finding) bool { return f.Severity == verdict.Error })
	if i < 0 {
		return ""
	}
	f := c.Findings[i]
	if f.File == "" {
		return f.Rule
	}
	return fmt.Sprintf("%s at %s:%d", f.Rule, f.File, f.Line)
}

// points is a score without a needless fraction.
func points(v float64) string {
	return strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%.2f", v), "0"), ".")
}
