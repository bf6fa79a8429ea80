package guarded

import (
	"context"
	"crypto/rand"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"cudalab/grader/judge/check"
	"cudalab/grader/judge/compile"
	"cudalab/grader/judge/run"
	"cudalab/grader/suite"
	"cudalab/grader/suite/verdict"
	"cudalab/grader/suites/course"
	"cudalab/native/trace"
)

// seed is what the workloads are drawn from.
const seed = 42

// bench is a built program and what it takes to check it.
type bench struct {
	*Program
	exercise course.Exercise
	code     run.Code
	file     []byte
	folder   string // for copies of the file
	draws    uint64 // the seed
	right    []*verdict.CaseNotes
	volatile []string        // what is not the same in two runs of the right program
	does     func() []string // as noted says
	counted  sync.Once
	calls    int64
	untimed  Seen
	seen     Seen // with the timed cases
}

// build builds a program, has the right one checked, and notes what it observes.
func build(t *testing.T, c *course.Course, e course.Exercise, precompiled *compile.Precompiled, p *Program) *bench {
	t.Helper()
	b := &bench{Program: p, exercise: e, folder: t.TempDir(), draws: seed}
	dir := filepath.Join(b.folder, e.Package)
	require.NoError(t, os.Mkdir(dir, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, e.Package+".go"), []byte(p.Text), 0o600))
	r, err := compile.Build(context.Background(), compile.Course{Root: c.Root, Precompiled: precompiled},
		compile.Exercise{Package: e.Package, Dir: dir, Main: e.Main(true), Solution: true})
	require.NoError(t, err)
	defer r.Close()
	linked := r.Exercises[0]
	require.True(t, linked.OK(), "%v %v %v\n%s", linked.Refusals, linked.Errors, linked.Err, p.Text)
	b.file, err = os.ReadFile(r.Binary)
	require.NoError(t, err)
	b.code = run.Code{Suite: e.Suite, Package: linked.ImportPath, Starts: linked.Starts, Points: map[string]float64{},
		Name: func(file string) string { return file }}
	for id, n := range e.Points {
		b.code.Points[id] = float64(n)
	}
	right, err := with(b.file)
	require.NoError(t, err)
	watching, err := observing(b.file)
	require.NoError(t, err)
	alone := b.check(t, right, false)
	require.Equal(t, verdict.Passed, alone.Report.Status, "%s passes, with what chooses", p.Base)
	b.right = alone.Cases
	b.untimed = seenIn(b.check(t, watching, true).Report.Output)
	watched := b.check(t, watching, false)
	b.seen = seenIn(watched.Report.Output)
	b.volatile = b.differences(watched.Cases)
	b.does = sync.OnceValue(func() []string { return b.noted(t, Pair{}) })
	require.NotContains(t, watched.Report.Output, "bytes left out", "the program observes more than it can print")
	return b
}

// check checks a program's file. It may be called on any goroutine.
func (b *bench) check(t *testing.T, file []byte, untimed bool) run.Result {
	t.Helper()
	program := filepath.Join(b.folder, rand.Text())
	defer os.Remove(program)
	assert.NoError(t, writeProgram(program, file))
	runner := run.NewRunner(program, run.Options{Device: "sim", Seed: b.draws, NoTiming: untimed})
	defer runner.Close()
	r := runner.Check(context.Background(), b.code)
	assert.NoError(t, r.Err)
	return r
}

// writeProgram writes a program's file. No process that is started meanwhile may inherit it: nobody can run what
// somebody has open for writing.
func writeProgram(name string, file []byte) error {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	return os.WriteFile(name, file, 0o700)
}

// fate is what became of a pair.
type fate int

const (
	stopped    fate = iota // it failed, as it should
	never                  // the predicate held in no case
	notReached             // it held, but nothing wrong was entered
	sameThing              // what is wrong was entered, and did what the right program does
	elsewhere              // it did something else and passed: no check that fails the wrong program looks at that case
	passed                 // it did something else in a case that such a check looks at, and passed
	fates      = int(iota)
)

var fateNames = [fates]string{"failed", "never held", "not entered", "did the same", "passed else", "passed"}

// result is what became of a pair.
type result struct {
	Pair
	fate
	where string // the case in which it did something else and passed, and in what
}

// try checks a pair.
func (b *bench) try(t *testing.T, p Pair) result {
	if ever, _ := b.seen.Holds(p.Predicate); !ever {
		return result{Pair: p, fate: never}
	}
	file, err := chosen(b.file, p)
	assert.NoError(t, err)
	r := b.check(t, file, false)
	switch {
	case r.Report.Status != verdict.Passed:
		return result{Pair: p, fate: stopped}
	case !strings.Contains(r.Report.Output, entered):
		return result{Pair: p, fate: notReached}
	}
	where := b.differs(t, p, r)
	if len(where) == 0 {
		return result{Pair: p, fate: sameThing}
	}
	for _, w := range where {
		if b.looksAt(p.Wrong, w) {
			return result{p, passed, w}
		}
	}
	return result{p, elsewhere, where[0]}
}

// differs is where a pair that was checked did something else than the right program.
func (b *bench) differs(t *testing.T, p Pair, r run.Result) []string {
	where := slices.DeleteFunc(b.differences(r.Cases), func(w string) bool { return slices.Contains(b.volatile, w) })
	inTime := func(w string) bool {
		id, _, _ := strings.Cut(w, ":")
		c, ok := b.exercise.Suite.Case(id)
		return ok && c.Timed
	}
	if slices.ContainsFunc(where, func(w string) bool { return !inTime(w) }) {
		return where
	}
	file, err := chosen(b.file, p)
	assert.NoError(t, err)
	if strings.Contains(b.check(t, file, true).Report.Output, entered) {
		return nil // what is timed is not the same in two runs on a busy machine
	}
	if len(where) == 0 && !slices.Equal(b.noted(t, p), b.does()) {
		for _, c := range b.exercise.Suite.Cases {
			if c.Timed { // of which nothing is recorded: it may be any of them
				where = append(where, c.ID+": calls")
			}
		}
	}
	return where
}

// looksAt reports whether a check that fails a wrong program looks at a case.
func (b *bench) looksAt(w Wrong, where string) bool {
	id, _, _ := strings.Cut(where, ":")
	fails := w.Program.Expect().Fails
	return slices.ContainsFunc(b.exercise.Suite.Checks, func(q suite.Question) bool {
		return slices.Contains(fails, q.ID) && slices.Contains(q.Needs, id)
	})
}

// noted is what a pair does in timed cases; with the zero Pair what the right program does.
func (b *bench) noted(t *testing.T, p Pair) []string {
	file, err := noting(b.file, p, b.untimedCalls(t))
	assert.NoError(t, err)
	return notedIn(b.check(t, file, false).Report.Output)
}

// untimedCalls is about how many calls there are in untimed cases.
func (b *bench) untimedCalls(t *testing.T) (calls int64) {
	b.counted.Do(func() {
		file, err := noting(b.file, Pair{}, 0)
		assert.NoError(t, err)
		for _, line := range notedIn(b.check(t, file, true).Report.Output) {
			_, err = fmt.Sscanf(line, noted+" %d", &b.calls)
			assert.NoError(t, err)
		}
	})
	return b.calls
}

// differences are where something was answered, noted or recorded that was not so with the right program.
func (b *bench) differences(cases []*verdict.CaseNotes) (all []string) {
	for i, c := range cases {
		was := b.right[i]
		outcomes := func(o verdict.Outcome) verdict.Outcome {
			o.Stack = nil
			return o
		}
		if !equal(c.Outcomes, was.Outcomes, outcomes) {
			all = append(all, c.ID+": outcomes")
		}
		if !equal(c.Trace.Records, was.Trace.Records, timeless) {
			all = append(all, c.ID+": records")
		}
		for _, name := range slices.Sorted(maps.Keys(c.Values)) {
			if !slices.Equal(c.Values[name], was.Values[name]) {
				all = append(all, c.ID+": "+name)
			}
		}
	}
	return all
}

// equal reports whether two lists are the same in what is looked at.
func equal[T any](a, b []T, look func(T) T) bool {
	return slices.EqualFunc(a, b, func(a, b T) bool { return reflect.DeepEqual(look(a), look(b)) })
}

// timeless is a record without where it comes from and how long it took.
func timeless(r trace.Record) trace.Record {
	r.Site, r.Time, r.Took, r.Start, r.End = 0, 0, 0, 0, 0
	if r.Op == trace.OpEventElapsedTime {
		r.Value = 0
	}
	return r
}

// precompile is what makes building cheaper.
func precompile(c *course.Course, e course.Exercise) *compile.Precompiled {
	return check.Precompile(context.Background(), c.Root, []course.Exercise{e}, nil)
}
