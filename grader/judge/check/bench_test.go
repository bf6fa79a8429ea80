package check_test

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/grader/judge/check"
	"cudalab/grader/judge/compile"
	"cudalab/grader/judge/run"
	"cudalab/grader/suite/verdict"
	"cudalab/grader/suites/course"
)

var onDevice = flag.String("device", "sim", "the `device` on which exercises are measured: sim or gpu")

// benchOf measures an exercise's code, or with dir "" only the solution.
func benchOf(t *testing.T, exercise, dir string) check.BenchResult {
	t.Helper()
	c, err := course.Open("../../..")
	require.NoError(t, err)
	e, err := c.Find(exercise)
	require.NoError(t, err)
	q := check.Request{Course: compile.Course{Root: c.Root}, Options: run.Options{Device: *onDevice},
		Code: []check.Code{{Exercise: e, Dir: dir}}}
	return check.Bench(context.Background(), q, dir == "")
}

func contenders(r verdict.BenchReport) map[string][]string {
	names := map[string][]string{}
	for _, w := range r.Workloads {
		for _, s := range w.Standings {
			names[w.ID] = append(names[w.ID], s.Contender)
		}
	}
	return names
}

// changed is the solution of async-pipeline with something put in at the start of Run.
func changed(t *testing.T, begin string) string {
	t.Helper()
	text, err := os.ReadFile("../../../solutions/asyncpipeline/asyncpipeline.go")
	require.NoError(t, err)
	const run = "batches []contract.Batch) error {\n"
	require.Contains(t, string(text), run)
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "asyncpipeline.go"), []byte(strings.Replace(string(text), run,
		run+begin+"\n", 1)), 0o644))
	return dir
}

func TestBenchOfEveryExercise(t *testing.T) {
	c, err := course.Open("../../..")
	require.NoError(t, err)
	for _, e := range c.Exercises {
		t.Run(e.Name, func(t *testing.T) {
			r := benchOf(t, e.Name, filepath.Join(c.Root, e.SolutionFolder()))
			require.NoError(t, r.Err)
			require.Equal(t, verdict.Passed, r.Report.Status, r.Report.Message)
			require.GreaterOrEqual(t, len(r.Report.Workloads), len(e.Suite.Benchmarks))
			require.NotEmpty(t, e.Suite.Benchmarks, "every exercise can be measured")
			for id, names := range contenders(r.Report) {
				require.Equal(t, []string{verdict.Yours, verdict.Solution}, names[:2], id)
			}
			for _, w := range r.Report.Workloads {
				for _, s := range w.Standings {
					if w.Unit == verdict.Nanoseconds { // what is kept for a block may be as good as nothing
						require.Positive(t, s.Value, "%s: %s", w.ID, s.Contender)
					}
					require.LessOrEqual(t, s.Low, s.Value)
					require.GreaterOrEqual(t, s.High, s.Value)
				}
			}
		})
	}
}

func TestBenchOfTheSolutionAlone(t *testing.T) {
	r := benchOf(t, "slab", "")
	require.NoError(t, r.Err)
	require.Equal(t, verdict.Passed, r.Report.Status)
	for id, names := range contenders(r.Report) {
		require.NotContains(t, names, verdict.Yours, id)
		require.Equal(t, verdict.Solution, names[0], id)
	}
}

func TestBenchLeavesOutWhatDoesNotPass(t *testing.T) {
	for name, c := range map[string]struct {
		dir    string
		status verdict.Status
		says   string
	}{
		"skeleton":      {"../../../lessons", verdict.NotStarted, "as it was handed out"},
		"a wrong one":   {changed(t, "if len(batches) > 4 { return nil }"), verdict.Failed, "does not pass its checks"},
		"not compiling": {changed(t, "x := 1"), verdict.BuildFailed, "does not compile"},
		"refused":       {changed(t, "go func() {}()"), verdict.Refused, "may not use"},
	} {
		t.Run(name, func(t *testing.T) {
			if name == "skeleton" {
				text, err := os.ReadFile("../../../lessons/async-pipeline.skeleton.go.txt")
				require.NoError(t, err)
				c.dir = t.TempDir()
				require.NoError(t, os.WriteFile(filepath.Join(c.dir, "asyncpipeline.go"), text, 0o644))
			}
			r := benchOf(t, "async-pipeline", c.dir)
			require.NoError(t, r.Err)
			require.Equal(t, c.status, r.Report.Status)
			require.Contains(t, r.Report.Message, c.says)
			require.NotEmpty(t, r.Report.Next)
			require.Equal(t, map[string][]string{"speed": {verdict.Solution, "baseline"}}, contenders(r.Report))
		})
	}
}

// timed is what only the batches of the timed workload are: the checks before it do not reach what stands behind it.
const timed = "if len(batches) > 30 && batches[0].N == 4096 && batches[30].N == 4096 "

func TestBenchTellsHowTheCodeEnded(t *testing.T) {
	for name, c := range map[string]struct {
		begin  string
		status verdict.Status
		rule   string
	}{
		"error": {timed + `{ return fmt.Errorf("too much") }`, verdict.Failed,
			"unexpected-error"},
		"panic": {timed + `{ batches[0].N /= len(batches) - 32 }`, verdict.Crashed,
			"panic"},
		"memory": {
			timed + `{ for keep := [][]byte{}; ; { keep = append(keep, make([]byte, 1<<26)); clear(keep[len(keep)-1]) } }`,
			verdict.Crashed, "host-memory"},
	} {
		t.Run(name, func(t *testing.T) {
			r := benchOf(t, "async-pipeline", changed(t, c.begin))
			require.NoError(t, r.Err, r.Report.Message)
			require.Equal(t, c.status, r.Report.Status)
			require.Len(t, r.Report.Findings, 1)
			require.Equal(t, c.rule, r.Report.Findings[0].Rule)
			require.Contains(t, r.Report.Message, "left out")
			require.Equal(t, map[string][]string{"speed": {verdict.Solution, "baseline"}}, contenders(r.Report),
				"the rest is measured")
		})
	}
}
