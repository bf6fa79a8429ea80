package mutants_test

import (
	"context"
	"flag"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/grader/judge/check"
	"cudalab/grader/judge/compile"
	"cudalab/grader/judge/run"
	"cudalab/grader/proof/mutants"
	"cudalab/grader/suite/verdict"
	"cudalab/grader/suites/course"
)

var (
	which = flag.String("mutants", "", "check `all` mutants; or those whose ID, as in "+
		"\"slab: New: deletion\", contains one of the texts between commas; else a sample. The scores of each lesson of "+
		"which all were checked are written")
	seed = flag.Uint64("seed", 42, "the `seed` that the workloads are drawn from")
)

// One of so many mutants is in the sample, and one of so many that are known to pass; those take longest, for nothing
// ends their check.
const oneOf, oneOfPassing = 144, 144

// goal is how many of a hundred mutants of each lesson that are not equivalent have to be killed.
const goal = 97

// TestMutants has the suites check mutants of their solutions. Those that are listed have to pass, and all others to
// fail.
func TestMutants(t *testing.T) {
	c, err := course.Open("../../..")
	require.NoError(t, err)
	lessons := make([]lesson, len(c.Exercises))
	for i, e := range c.Exercises {
		all, err := mutants.Of(c.Root, e.Package)
		require.NoError(t, err)
		lessons[i] = lesson{exercise: e, passing: passing(t, e.Name), made: len(all)}
		known := map[string]bool{}
		for _, m := range all {
			known[m.ID] = true
			if _, passes := lessons[i].passing[m.ID]; chosen(e.Name, m.ID, passes) {
				lessons[i].checked = append(lessons[i].checked, judged{Mutant: m})
			}
		}
		for id := range lessons[i].passing {
			require.True(t, known[id], "%s lists a mutant that there is not: %s", e.Name, id)
		}
	}
	checkAll(t, c, lessons)
	for _, l := range lessons {
		l.complain(t, filepath.Join(c.Root, l.exercise.SolutionFolder()))
	}
	for _, l := range lessons {
		if len(l.checked) == 0 || len(l.checked) < l.made {
			continue
		}
		n := l.tally()
		t.Log("\n" + l.scores())
		require.NoError(t, os.WriteFile(filepath.Join("testdata", "scores", l.exercise.Name+".txt"), []byte(l.scores()),
			0o644))
		require.GreaterOrEqual(t, n.score(), float64(goal), l.exercise.Name)
	}
}

// chosen reports whether a mutant is to be checked. A sample goes by the ID, so that it stays as it is when others come
// and go.
func chosen(exercise, id string, passes bool) bool {
	switch *which {
	case "all":
		return true
	case "":
		h := fnv.New32a()
		h.Write([]byte(id))
		if passes {
			return h.Sum32()%oneOfPassing == 0
		}
		return h.Sum32()%oneOf == 0
	}
	return slices.ContainsFunc(strings.Split(*which, ","), func(part string) bool {
		return strings.Contains(exercise+": "+
			id, part)
	})
}

// verdict is what became of a mutant.
type judged struct {
	mutants.Mutant
	status verdict.Status
	failed []string // the checks that did
}

// lesson is one exercise's mutants.
type lesson struct {
	exercise course.Exercise
	passing  map[string]listed
	made     int // how many mutants there are
	checked  []judged
}

// checkAll has every lesson's verdicts found, a runner for each processor at a time. A runner takes one mutant of each
// lesson, so that one build does for as many.
func checkAll(t *testing.T, c *course.Course, lessons []lesson) {
	rounds := 0
	for _, l := range lessons {
		rounds = max(rounds, len(l.checked))
	}
	free := make(chan struct{}, runtime.NumCPU())
	var running sync.WaitGroup
	for round := range rounds {
		free <- struct{}{}
		running.Go(func() {
			defer func() { <-free }()
			q := check.Request{Course: compile.Course{Root: c.Root}, Options: run.Options{Device: "sim", Seed: *seed}}
			folder := t.TempDir()
			var asked []*judged
			for _, l := range lessons {
				if round < len(l.checked) {
					v := &l.checked[round]
					dir := filepath.Join(folder, l.exercise.Package)
					handIn(t, dir, filepath.Join(c.Root, l.exercise.SolutionFolder()), v.Mutant)
					q.Code = append(q.Code, check.Code{Exercise: l.exercise, Dir: dir})
					asked = append(asked, v)
				}
			}
			results, err := check.Submission(context.Background(), q)
			if err != nil {
				t.Error(err)
				return
			}
			for i, r := range results {
				asked[i].take(t, r)
			}
		})
	}
	running.Wait()
}

// handIn makes the folder of a student who has handed in a mutant.
func handIn(t *testing.T, dir, solution string, m mutants.Mutant) {
	err := os.CopyFS(dir, os.DirFS(solution))
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, m.File), []byte(m.Text), 0o600)
	}
	if err != nil {
		t.Error(err)
	}
}

// take keeps what a check said. Only a program that was run can have been found wrong.
func (v *judged) take(t *testing.T, r check.Result) {
	switch v.status = r.Report.Status; v.status {
	case verdict.Passed, verdict.Failed, verdict.Crashed, verdict.Timeout:
	default:
		t.Errorf("%s was not run, but is %s: %s %v %v", v.ID, v.status, r.Report.Message, r.Err, r.Report.Checks)
	}
	for _, ch := range r.Report.Checks {
		if ch.Status == verdict.Failed {
			v.failed = append(v.failed, ch.ID)
		}
	}
}

// complain fails the test for every verdict that is not as listed.
func (l *lesson) complain(t *testing.T, solution string) {
	for _, v := range l.checked {
		known, listed := l.passing[v.ID]
		changed := fmt.Sprintf("%s:%d: %s\n%s", v.File, v.Line, v.ID, difference(t, filepath.Join(solution, v.File), v.Text))
		switch passed := v.status == verdict.Passed; {
		case passed && !listed:
			t.Errorf("A mutant passes. Have the suite fail it, or list it in %s with the reason why it is as right as the "+
				"solution.\n%s",
				listOf(equivalent, l.exercise.Name), changed)
		case !passed && listed:
			t.Errorf("A mutant is listed as one that passes (%s), but is %s by %v.\n%s", known.why, v.status, v.failed, changed)
		case testing.Verbose():
			t.Logf("%s by %v: %s: %s", v.status, v.failed, l.exercise.Name, v.ID)
		}
	}
}

// difference is the lines of a file that a text has otherwise.
func difference(t *testing.T, file, text string) string {
	original, err := os.ReadFile(file)
	require.NoError(t, err)
	was, is := strings.Split(string(original), "\n"), strings.Split(text, "\n")
	for len(was) > 0 && len(is) > 0 && was[0] == is[0] {
		was, is = was[1:], is[1:]
	}
	for len(was) > 0 && len(is) > 0 && was[len(was)-1] == is[len(is)-1] {
		was, is = was[:len(was)-1], is[:len(is)-1]
	}
	var b strings.Builder
	for _, line := range was {
		fmt.Fprintf(&b, "-%s\n", line)
	}
	for _, line := range is {
		fmt.Fprintf(&b, "+%s\n", line)
	}
	return b.String()
}
