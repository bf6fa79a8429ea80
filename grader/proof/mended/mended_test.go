//go:build unix

// Package mended holds the search for the cause of a failed check to programs with one known mistake, or two.
//
// Only tests use it. `go test ./grader/proof/mended -run TestCauses -programs held -lesson all -v` searches in all of
// testdata, which was written before there was a search; -programs corpus in the corpus' wrong programs, right in its
// right ones.
package mended

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cudalab/grader/judge/check"
	"cudalab/grader/judge/compile"
	"cudalab/grader/judge/mend"
	"cudalab/grader/judge/run"
	"cudalab/grader/proof/corpus"
	"cudalab/grader/proof/sample"
	"cudalab/grader/suite/verdict"
	"cudalab/grader/suites/course"
)

var (
	programs = flag.String("programs", "held", "search in testdata's programs (held) or the corpus' (corpus, right)")
	lesson   = flag.String("lesson", "", "search in all programs of the `lesson`, or of \"all\"; default: a sample")
	only     = flag.String("only", "", "with -lesson: only in programs in whose name this `text` is")
	every    = flag.Int("every", 1, "with -lesson: only in one of so many programs")
	budget   = flag.Int("budget", mend.Budget, "how many candidates are tried")
	bare     = flag.Bool("bare", false, "search without the solution, as in a handout")
)

// fewPrograms is how many are searched where no lesson is named.
const fewPrograms = 1

// outcome is what came of one search.
type outcome struct {
	program string
	own     bool // edited from another style than the solution's
	status  verdict.Status
	told    *mend.Cause
	lines   []int // where the program is otherwise than the one that it is edited from
	passing int
	first   int // number of the first candidate that passed; 0: none
	tried   int
	took    time.Duration
	cpu     time.Duration // of the search and its processes
	fails   bool          // the edit fails under other seeds
	finding int           // the first finding's line
	error   verdict.Finding
	advice  advice // the first finding's, where there is a change to hold it against
}

// off is how far a line is from the mistake.
func (o *outcome) off(line int) int {
	least := 1 << 20
	for _, l := range o.lines {
		least = min(least, max(l-line, line-l))
	}
	return least
}

func TestCauses(t *testing.T) {
	c, err := course.Open("../../..")
	require.NoError(t, err)
	type item struct {
		course.Exercise
		corpus.Program
	}
	var all []item
	for _, e := range c.Exercises {
		if *lesson != "" && *lesson != "all" && *lesson != e.Package {
			continue
		}
		some, err := read(c, e)
		require.NoError(t, err)
		for _, p := range some {
			if strings.Contains(p.String(), *only) {
				all = append(all, item{e, p})
			}
		}
	}
	if *lesson == "" {
		var few []item
		for _, i := range sample.Few("mended", len(all), fewPrograms) {
			few = append(few, all[i])
		}
		all = few
	}
	var outcomes []*outcome
	for i, p := range all {
		if i%*every != 0 {
			continue
		}
		o := search(t, c, p.Exercise, p.Program)
		outcomes = append(outcomes, o)
		t.Log(o)
		if o.told != nil {
			require.False(t, o.fails, "%s: the edit that was told fails under other seeds", o.program)
			require.NotEqual(t, "right", *programs, "%s is right, and has a cause", o.program)
		}
	}
	t.Log("\n" + table(outcomes))
}

func read(c *course.Course, e course.Exercise) ([]corpus.Program, error) {
	if *programs == "held" {
		file := filepath.Join("testdata", e.Package+".diff")
		if _, err := os.Stat(file); err != nil {
			return nil, nil
		}
		return corpus.Edited(c.Root, e.Package, file)
	}
	all, err := corpus.Programs(c.Root, e.Package)
	return slices.DeleteFunc(all, func(p corpus.Program) bool {
		if *programs == "right" {
			return p.Kind != corpus.Right && p.Kind != corpus.Solution
		}
		return p.Kind != corpus.Wrong || p.Base == "" && p.Kind == corpus.Wrong
	}), err
}

func search(t *testing.T, c *course.Course, e course.Exercise, p corpus.Program) *outcome {
	t.Helper()
	o := &outcome{program: e.Package + " " + p.String() + " from " + p.Base, own: p.Base != "solution"}
	dir := filepath.Join(t.TempDir(), e.Package)
	require.NoError(t, os.Mkdir(dir, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, e.Package+".go"), []byte(p.Text), 0o644))
	q := check.Request{Course: compile.Course{Root: c.Root}, Options: run.Options{Device: "sim", Seed: 42, NoTiming: true},
		Code: []check.Code{{Exercise: e, Dir: dir}}}
	q.Precompiled = check.Recall(context.Background(), q)
	require.NotNil(t, q.Precompiled)
	r := check.Exercise(context.Background(), q)
	require.NoError(t, r.Err)
	o.status = r.Report.Status
	for _, ch := range r.Report.Checks {
		for _, f := range ch.Findings {
			if o.finding == 0 && f.Severity == verdict.Error {
				o.finding, o.error = f.Line, f
			}
		}
	}
	o.lines = changed(t, c, e, p)
	q.Seed = r.Report.Seed
	began, spent := time.Now(), cpu()
	s := &mend.Search{Request: q, Result: r, Budget: *budget, Bare: *bare}
	var err error
	o.told, err = s.Cause(context.Background())
	o.took, o.cpu = time.Since(began), cpu()-spent
	require.NoError(t, err, o.program)
	o.tried, o.passing = s.Tried, len(s.Found)
	if len(s.Found) > 0 {
		o.first = s.Found[0].Number
	}
	if o.told != nil {
		o.advice = adviceOf(o.error, o.told.Edit)
	}
	if o.told != nil && !strings.HasPrefix(p.Name, "pair") {
		text := s.Text(o.told.Edit)
		require.NoError(t, os.WriteFile(filepath.Join(dir, e.Package+".go"), []byte(text), 0o644))
		for _, seed := range []uint64{7, 77, 777} {
			q.Seed = seed
			again := check.Exercise(context.Background(), q)
			for _, ch := range again.Report.Checks {
				o.fails = o.fails || ch.ID == o.told.Check.ID && ch.Status != verdict.Passed
			}
		}
	}
	if testing.Verbose() && (o.told == nil || o.off(o.told.Place.Line) > 2) {
		for _, e := range s.Found[:min(len(s.Found), 6)] {
			was, now := e.Lines()
			t.Logf("    %d line %d: %s => %s", e.Number, e.Place.Line, strings.Join(was, "⏎"), strings.Join(now, "⏎"))
		}
	}
	return o
}

// changed are the lines of a program that its base has otherwise.
func changed(t *testing.T, c *course.Course, e course.Exercise, p corpus.Program) (lines []int) {
	if p.Base == "" {
		return nil
	}
	base, err := corpus.Find(c.Root, e.Package, p.Base)
	require.NoError(t, err)
	was, now := code(base.Text), code(p.Text)
	off := strings.Count(p.Text, "\n") - len(now) + 1
	long := make([][]int, len(was)+1)
	for i := range long {
		long[i] = make([]int, len(now)+1)
	}
	for i := len(was) - 1; i >= 0; i-- {
		for j := len(now) - 1; j >= 0; j-- {
			if was[i] == now[j] {
				long[i][j] = long[i+1][j+1] + 1
			} else {
				long[i][j] = max(long[i+1][j], long[i][j+1])
			}
		}
	}
	for i, j := 0, 0; i < len(was) || j < len(now); {
		switch {
		case i < len(was) && j < len(now) && was[i] == now[j]:
			i, j = i+1, j+1
		case j == len(now) || i < len(was) && long[i+1][j] >= long[i][j+1]:
			lines = append(lines, off+j, off+j+1)
			i++
		default:
			lines = append(lines, off+j+1)
			j++
		}
	}
	return lines
}

// code are a program's lines from the package clause on, without what is wanted of them.
func code(text string) (lines []string) {
	all := strings.Split(text, "\n")
	begin := slices.IndexFunc(all, func(l string) bool { return strings.HasPrefix(l, "package ") })
	for _, l := range all[begin:] {
		l, _, _ = strings.Cut(l, "// want: ")
		lines = append(lines, strings.TrimRight(l, " \t"))
	}
	return lines
}

func (o *outcome) String() string {
	told := "nothing"
	if o.told != nil {
		was, now := o.told.Lines()
		line := o.told.Place.Line
		told = fmt.Sprintf("advice %+v; line %d (off by %d): %s %s %s => %s", o.advice, line, o.off(line), o.told.Question(),
			o.told.Difference(),
			strings.Join(was, "⏎"), strings.Join(now, "⏎"))
	}
	return fmt.Sprintf("%s: %s, finding off by %d, %d passing, first %d of %d, %.1f s (CPU %.1f s): %s", o.program,
		o.status, o.off(o.finding), o.passing, o.first, o.tried, o.took.Seconds(), o.cpu.Seconds(), told)
}

// cpu is the CPU time of this process and of those that it has waited for: the machine may be busy with others.
func cpu() time.Duration {
	var own, others syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &own) != nil || syscall.Getrusage(syscall.RUSAGE_CHILDREN, &others) != nil {
		return 0
	}
	return time.Duration(own.Utime.Nano() + own.Stime.Nano() + others.Utime.Nano() + others.Stime.Nano())
}

// table is the outcomes in figures.
func table(all []*outcome) string {
	text := ""
	for _, g := range []struct {
		name string
		is   func(*outcome) bool
	}{
		{"near the solution", func(o *outcome) bool { return !o.own && !strings.Contains(o.program, "/pair-") }},
		{"in another style", func(o *outcome) bool { return o.own && !strings.Contains(o.program, "/pair-") }},
		{"pairs", func(o *outcome) bool { return strings.Contains(o.program, "/pair-") }},
	} {
		n, told, right, finding := 0, 0, 0, 0
		within := map[int]int{}
		for _, o := range all {
			if !g.is(o) || o.status == verdict.Passed {
				continue
			}
			n++
			for _, b := range []int{20, 100, 300} {
				if o.first > 0 && o.first <= b {
					within[b]++
				}
			}
			if o.off(o.finding) <= 2 {
				finding++
			}
			if o.told != nil {
				told++
				if o.off(o.told.Place.Line) <= 2 {
					right++
				}
			}
		}
		text += fmt.Sprintf("%-18s %3d programs; passing within 20, 100, 300 candidates: %d, %d, %d; told %d, ", g.name, n,
			within[20], within[100], within[300], told)
		text += fmt.Sprintf("of these within two lines %d; first finding within two lines %d\n", right, finding)
	}
	named, agree, contradict := 0, 0, ""
	for _, o := range all {
		if o.advice.told {
			named++
		}
		if o.advice.agrees {
			agree++
		}
		if o.advice.contradicts {
			contradict += fmt.Sprintf("\n    %s: %s", o.program, o.error.Fix)
		}
	}
	text += fmt.Sprintf("advice that names a call, where a change was told: %d, of which %d name one of the change; "+
		"against the change:%s\n", named, agree, cmp.Or(contradict, " none"))
	for _, clock := range []struct {
		name string
		of   func(*outcome) time.Duration
	}{
		{"time", func(o *outcome) time.Duration { return o.took }},
		{"CPU time", func(o *outcome) time.Duration { return o.cpu }},
	} {
		var took []time.Duration
		for _, o := range all {
			if o.status != verdict.Passed {
				took = append(took, clock.of(o))
			}
		}
		slices.Sort(took)
		if n := len(took); n > 0 {
			text += fmt.Sprintf("%s: median %.1f s, 90th percentile %.1f s, most %.1f s\n", clock.name, took[n/2].Seconds(),
				took[n*9/10].Seconds(), took[n-1].Seconds())
		}
	}
	return text
}
