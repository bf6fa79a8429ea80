package check

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cudalab/grader/judge/compile"
	"cudalab/grader/judge/run"
	"cudalab/grader/suite/verdict"
	"cudalab/grader/suites/course"
)

// handedIn is a submission of solutions; spoil changes them.
type handedIn struct {
	*course.Course
	dir string
}

// handIn hands in the solutions of the first few lessons: as many as it takes to see what one does to another.
func handIn(t *testing.T) handedIn { return solutions(t, 5) }

// solutions hands in those of the first lessons, up to so many.
func solutions(t testing.TB, most int) handedIn {
	c, err := course.Open("../../..")
	require.NoError(t, err)
	c.Exercises = c.Exercises[:min(most, len(c.Exercises))]
	h := handedIn{c, t.TempDir()}
	for _, e := range c.Exercises {
		require.NoError(t, os.CopyFS(filepath.Join(h.dir, e.Package), os.DirFS(filepath.Join(c.Root, e.SolutionFolder()))))
	}
	return h
}

// spoil writes code into an exercise: at the start of the body of its first exported function, and behind everything.
func (h handedIn) spoil(t *testing.T, pkg, inside, behind string) {
	t.Helper()
	file := filepath.Join(h.dir, pkg, pkg+".go")
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	head := regexp.MustCompile(`(?m)^func (New|Run|Share|Time)\(.*\{$`)
	require.Regexp(t, head, string(text))
	spoilt := head.ReplaceAllString(string(text), "$0\n"+strings.ReplaceAll(inside, "$", "$$"))
	require.NoError(t, os.WriteFile(file, []byte(spoilt+"\n"+behind), 0o600))
}

func (h handedIn) request() Request {
	return Request{Course: compile.Course{Root: h.Root}, Options: run.Options{Device: "sim", Seed: 42, NoTiming: true},
		Code: Submitted(h.dir, h.Exercises)}
}

// both checks a submission's exercises together, from what is precompiled, and each alone, without, and compares what
// is said to the byte.
func (h handedIn) both(t *testing.T) map[string]verdict.Report {
	t.Helper()
	q := h.request()
	quick := q
	quick.Precompiled = Precompile(context.Background(), h.Root, h.Exercises, nil)
	require.NotNil(t, quick.Precompiled)
	together, err := Submission(context.Background(), quick)
	require.NoError(t, err)
	require.Len(t, together, len(q.Code))
	said := map[string]verdict.Report{}
	for i, c := range q.Code {
		alone := q
		alone.Code = q.Code[i : i+1]
		r, err := Submission(context.Background(), alone)
		require.NoError(t, err)
		require.Equal(t, text(t, r[0].Report), text(t, together[i].Report))
		require.Equal(t, r[0].Err == nil, together[i].Err == nil)
		said[c.Exercise.Package] = together[i].Report
	}
	return said
}

func text(t *testing.T, r verdict.Report) string {
	r.DurationMS = 0
	b, err := json.MarshalIndent(r, "", " ")
	require.NoError(t, err)
	return string(b)
}

func TestNobodyHurtsAnother(t *testing.T) {
	h := handIn(t)
	h.spoil(t, "asyncpipeline", "\tfmt.Println(`printed by the first`)\n\tprintln(`panic: not really`)", "")
	h.spoil(t, "poolconfig", "\tforever(0)", "func forever(n int) int { return forever(n+1) + 1 }\n") // ends the process
	h.spoil(t, "crossstreamevents", "", "func broken() { unknown() }\n")
	h.spoil(t, "slab", "", "func broken() { go func() {}() }\n")
	said := h.both(t)
	require.Equal(t, verdict.Passed, said["asyncpipeline"].Status)
	require.Contains(t, said["asyncpipeline"].Output, "printed by the first")
	require.Equal(t, verdict.Crashed, said["poolconfig"].Status)
	require.Contains(t, text(t, said["poolconfig"]), "endless-recursion")
	require.Equal(t, verdict.BuildFailed, said["crossstreamevents"].Status)
	require.Equal(t, verdict.Refused, said["slab"].Status)
	require.Equal(t, verdict.Passed, said["buddy"].Status)
	require.Empty(t, said["buddy"].Output)
}

// What ends the process before anyone could be asked keeps nobody from being graded.
func TestAPanicWhileTheProgramStarts(t *testing.T) {
	h := handIn(t)
	h.spoil(t, "buddy", "", "var none []int\n\nvar first = none[len(none)]\n\nfunc init() { println(first) }\n")
	said := h.both(t)
	for pkg, r := range said {
		if pkg != "buddy" {
			require.Equal(t, verdict.Passed, r.Status, pkg)
			continue
		}
		require.Equal(t, verdict.Crashed, r.Status)
		f := r.Checks[0].Findings[0]
		require.Contains(t, f.Message, "index out of range")
		require.Equal(t, "buddy.go", filepath.Base(f.File))
		require.Positive(t, f.Line)
	}
}

// Memory that one exercise keeps is not held against another.
func TestMemoryThatOneKeeps(t *testing.T) {
	h := handIn(t)
	for _, pkg := range []string{"asyncpipeline", "poolconfig"} {
		h.spoil(t, pkg, "\tkeep()", `var kept []byte

func keep() {
	if kept == nil {
		kept = make([]byte, 600<<20)
	}
	for i := 0; i < len(kept); i += 4096 {
		kept[i] = 1
	}
}
`)
	}
	for pkg, r := range h.both(t) {
		require.Equal(t, verdict.Passed, r.Status, pkg)
	}
}

func TestNoDeviceForAnyone(t *testing.T) {
	h := handIn(t)
	q := h.request()
	q.Device, q.GPU = "gpu", "-1"
	results, err := Submission(context.Background(), q)
	require.NoError(t, err)
	for _, r := range results {
		var missing *run.NoDevice
		require.ErrorAs(t, r.Err, &missing)
		require.Equal(t, verdict.Errored, r.Report.Status)
		require.Equal(t, missing.Problem, r.Report.Message)
	}
}

func TestACheckThatIsStopped(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := Submission(ctx, handIn(t).request())
	require.ErrorIs(t, err, context.Canceled)
}

// BenchmarkSubmission is a submission that has changed, from its files to its reports on the simulator: all exercises
// at once, and each alone. Beside the time stands how many times as long as the build it takes.
func BenchmarkSubmission(b *testing.B) {
	h := solutions(b, math.MaxInt)
	all := h.request()
	requests := map[string]Request{"all": all}
	for i, e := range h.Exercises {
		one := all
		one.Code = all.Code[i : i+1]
		requests[e.Name] = one
	}
	changes := 0
	for _, name := range slices.Sorted(maps.Keys(requests)) {
		for _, noTiming := range []bool{true, false} {
			q := requests[name]
			q.NoTiming = noTiming
			change := func() {
				changes++
				for _, c := range q.Code {
					note := fmt.Sprintf("package %s\n\nvar note = `%d %d`\n\nfunc init() { note += note }\n", c.Exercise.Package,
						os.Getpid(), changes)
					require.NoError(b, os.WriteFile(filepath.Join(h.dir, c.Exercise.Package, "note.go"), []byte(note), 0o600))
				}
			}
			b.Run(fmt.Sprintf("%s/timing=%t", name, !noTiming), func(b *testing.B) {
				var built, checked time.Duration
				for b.Loop() {
					change()
					began := time.Now()
					r, err := build(context.Background(), q)
					built += time.Since(began)
					require.NoError(b, err)
					r.Close()

					change()
					began = time.Now()
					results, err := Submission(context.Background(), q)
					checked += time.Since(began)
					require.NoError(b, err)
					for _, r := range results {
						require.Equal(b, verdict.Passed, r.Report.Status)
					}
				}
				b.ReportMetric(float64(checked)/float64(built), "checked/built")
			})
		}
	}
}
