package mutants_test

import (
	"context"
	"flag"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/grader/judge/check"
	"cudalab/grader/judge/compile"
	"cudalab/grader/judge/run"
	"cudalab/grader/proof/mutants"
	"cudalab/grader/suite/verdict"
	"cudalab/grader/suites/course"
)

var styled = flag.String("device", "sim", "the `device` on which solutions in other styles are checked: sim or gpu")

// unlike are the lessons in which a style does not mean the same, and the check that says so.
var unlike = map[string]string{
	// a pool gives memory back when somebody waits, and learns nothing from who asks
	"pool-config: asks in place of waiting": "trim",
}

// Every solution passes in other styles.
func TestOtherStylesPass(t *testing.T) {
	c, err := course.Open("../../..")
	require.NoError(t, err)
	requests := map[string]*check.Request{} // by style: one build does for all lessons
	for _, e := range c.Exercises {
		restyled, err := mutants.Restyled(c.Root, e.Package)
		require.NoError(t, err)
		for _, m := range restyled {
			q := requests[m.ID]
			if q == nil {
				q = &check.Request{Course: compile.Course{Root: c.Root}, Options: run.Options{Device: *styled, Seed: *seed}}
				requests[m.ID] = q
			}
			dir := filepath.Join(t.TempDir(), e.Package)
			handIn(t, dir, filepath.Join(c.Root, e.SolutionFolder()), m)
			q.Code = append(q.Code, check.Code{Exercise: e, Dir: dir})
		}
	}
	require.Len(t, requests, 3)
	for style, q := range requests {
		t.Run(style, func(t *testing.T) {
			if *styled == "sim" {
				t.Parallel()
			}
			results, err := check.Submission(context.Background(), *q)
			require.NoError(t, err)
			for i, r := range results {
				name := q.Code[i].Exercise.Name + ": " + style
				v := judged{Mutant: mutants.Mutant{ID: name}}
				v.take(t, r)
				if failed, otherwise := unlike[name]; otherwise {
					require.Equal(t, []string{failed}, v.failed, name)
					continue
				}
				require.Equal(t, verdict.Passed, v.status, "%s failed %v: %v", name, v.failed, r.Report.Checks)
			}
		})
	}
}
