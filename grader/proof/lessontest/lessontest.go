// Package lessontest is the test of a lesson. It holds the grader to the lesson's own sources and to its corpus: the
// solution passes in full, the skeleton is not started, a half-done skeleton is told the next gap, right programs in
// other styles pass, and wrong ones and cheats fail for the right reason on the right line.
//
// Each lesson has a test package that calls it, grader/suites/PACKAGE, so that go test runs several at a time and only
// those whose inputs have changed. What the checks say of the programs on the simulator is kept there in
// testdata/words.txt, and what became of them on each device in testdata/matrix; -record writes both.
package lessontest

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/grader/judge/check"
	"cudalab/grader/judge/compile"
	"cudalab/grader/judge/run"
	"cudalab/grader/machine/lock"
	"cudalab/grader/proof/corpus"
	"cudalab/grader/proof/sample"
	"cudalab/grader/suite"
	"cudalab/grader/suite/verdict"
	"cudalab/grader/suites/course"
	"cudalab/native/device"
	"cudalab/native/trace"
)

var (
	onDevice = flag.String("device", "sim", "the `device` on which the lesson's programs are checked: sim or gpu")
	record   = flag.Bool("record", false, "write what the checks say of the programs, and what becomes of them, to "+
		"testdata instead of comparing it")
)

// seed is what the programs' workloads are drawn from.
const seed = 42

// Run checks every program of an exercise of this course, as many at a time as -parallel says.
func Run(t *testing.T, exercise string) { Of(t, course.Own(), exercise) }

// Of checks every program of an exercise of any course, in whose folder the test is.
func Of(t *testing.T, d course.Definition, exercise string) {
	c, err := d.Open("")
	require.NoError(t, err)
	e, err := c.Find(exercise)
	require.NoError(t, err)
	// The runners are built by other processes, of whose files go test knows nothing: it runs a test again, instead of
	// answering from its cache, only where something has changed that the test itself has looked at.
	_, err = compile.Sources(c.Root, e.Package)
	require.NoError(t, err)
	programs, err := corpus.Programs(c.Root, e.Package)
	require.NoError(t, err)
	// The programs stay for as long as what was said of them is quoted.
	b := bench{Course: c, exercise: e, folder: t.TempDir(), precompiled: check.Precompile(context.Background(), c.Root,
		[]course.Exercise{e}, nil),
		places: places(*onDevice), batches: &batches{}}
	checked := make([]judged, len(programs))
	runs := drawn(e.Name, programs)
	t.Run("programs", func(t *testing.T) { // ends with the last of them
		for i, p := range programs {
			if !runs(i) {
				continue
			}
			t.Run(p.String(), func(t *testing.T) {
				judge := b.enter(t, p)
				var judgeIdle func(*testing.T) judged
				if p.Kind == corpus.Solution {
					judgeIdle = b.enter(t, corpus.Program{Kind: corpus.Wrong, Name: "idle", Text: idle(t, p.Text)})
				}
				t.Parallel()
				v := judge(t)
				if p.Kind == corpus.Solution && *hostile > 0 {
					t.Run("hostile", func(t *testing.T) { answersWhatever(t, e.Suite, v.cases, v.place) })
					t.Run("lost", func(t *testing.T) { findsNothingWithout(t, e.Suite, v.cases, v.place) })
				}
				right := p.Kind == corpus.Right || p.Kind == corpus.Solution
				if v.orders = schedules(t, v.cases, right && *record); v.orders.faulty() {
					requireProofAgrees(t, check.Result{Result: run.Result{Report: v.report, Cases: v.cases, Place: v.place}},
						v.orders)
				}
				v.cases = nil
				checked[i] = v
				require.Empty(t, p.Expect().Differences(v.report), describe(v.report))
				requireWhole(t, e, p, v.report)
				if p.Kind == corpus.Solution {
					t.Run("idle", func(t *testing.T) { earnsNothing(t, judgeIdle(t).report) })
				}
				if right {
					requireRoom(t, v.report)
				}
			})
		}
	})
	if *onDevice == "sim" { // what a gap or a slip costs is decided without the device
		t.Run("gaps", b.goesGapByGap)
		t.Run("edges", func(t *testing.T) {
			solution := slices.IndexFunc(programs, func(p corpus.Program) bool { return p.Kind == corpus.Solution })
			b.refusesEachEdge(t, programs[solution])
		})
	}
	matrix, said, other := corpus.NewMatrix(e.Name), newTranscript(t), &orders{faults: map[string]*shown{},
		none: map[string]int{}}
	wrongs, begins := 0, 0
	for i, p := range programs {
		if !runs(i) {
			matrix.Expect(p)
			said.recorded(p)
			continue
		}
		if checked[i].dir == "" {
			return // only some were asked for, or one could not be checked
		}
		matrix.Add(p, checked[i].report)
		said.add(p, checked[i].dir, checked[i].report)
		other.take(p, checked[i].orders)
		if p.Kind == corpus.Wrong {
			wrongs, begins = wrongs+1, begins+roots(checked[i].report)
		}
	}
	t.Logf("The %d wrong programs have %d errors to begin with, %.2f each.", wrongs, begins,
		float64(begins)/float64(max(wrongs, 1)))
	t.Run("matrix", func(t *testing.T) { compareMatrix(t, corpus.MatrixFile(c.Root, e.Package, *onDevice), matrix) })
	if *onDevice == "sim" {
		t.Run("words", func(t *testing.T) { compareGolden(t, wordsFile, said.String()) })
	}
	t.Run("orders", func(t *testing.T) { compareOrders(t, other) })
}

// sampled is how many of an exercise's programs `make test` checks beside the solution and the skeleton.
const sampled = 2

// drawn answers which of an exercise's programs are run: all, or their sample, or what that leaves.
func drawn(exercise string, programs []corpus.Program) (runs func(i int) bool) {
	others := slices.IndexFunc(programs, func(p corpus.Program) bool {
		return p.Kind != corpus.Solution && p.Kind != corpus.Skeleton
	})
	of := sample.Of(exercise, len(programs)-others, sampled)
	return func(i int) bool {
		if i < others {
			return sample.Part() == "" || sample.Part() == sample.Drawn
		}
		return of(i - others)
	}
}

// bench is what the programs of one exercise are checked with.
type bench struct {
	*course.Course
	exercise    course.Exercise
	folder      string // for the programs
	precompiled *compile.Precompiled
	places      chan struct{} // on the device: one for each program that is checked
	batches     *batches
}

// onGPU is how many programs are checked at a time where they share a GPU: one takes turns with itself alone, and
// beside some 20 processes an H200 had no memory left for the next one's context.
const onGPU = 6

// places are as many as a device has.
func places(kind string) chan struct{} {
	if kind == string(device.GPU) {
		return make(chan struct{}, onGPU)
	}
	return nil
}

// room waits for a place on the device and answers how to leave it.
func (b bench) room() (leave func()) {
	if b.places == nil {
		return func() {}
	}
	b.places <- struct{}{}
	return func() { <-b.places }
}

// verdict is what was said of a program, and the folder in which it was.
type judged struct {
	report verdict.Report
	cases  []*verdict.CaseNotes
	place  func(trace.Site) []verdict.Place
	dir    string
	orders scheduled
}

// enter has a program share a runner with others that are entered before any of them is checked, and answers how to
// check it.
func (b bench) enter(t *testing.T, p corpus.Program) (judge func(*testing.T) judged) {
	t.Helper()
	above, err := os.MkdirTemp(b.folder, "")
	require.NoError(t, err)
	dir := filepath.Join(above, b.exercise.Package)
	require.NoError(t, os.Mkdir(dir, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, b.exercise.Package+".go"), []byte(p.Text), 0o644))
	entered := b.batches.enter(check.Code{Exercise: b.exercise, Dir: dir})
	return func(t *testing.T) judged {
		t.Helper()
		defer b.room()()
		r, err := b.batches.check(context.Background(), b.request(), entered)
		require.NoError(t, err)
		require.NoError(t, r.Err)
		require.Equal(t, *onDevice, r.Report.Device.Kind)
		return judged{report: r.Report, cases: r.Cases, place: r.Place, dir: dir}
	}
}

// request is what the checks of all programs have in common.
func (b bench) request() check.Request {
	return check.Request{
		Course:  compile.Course{Root: b.Root, Precompiled: b.precompiled},
		Options: run.Options{Device: *onDevice, Seed: seed, Turns: lock.Here()},
	}
}

// requireWhole says what every report must have, and what the solution's and the skeleton's must.
func requireWhole(t *testing.T, e course.Exercise, p corpus.Program, r verdict.Report) {
	t.Helper()
	for _, ch := range r.Checks {
		for _, f := range ch.Findings {
			require.NotEmpty(t, f.Message)
			require.NotEmpty(t, f.Fix)
		}
	}
	requireDrawings(t, r)
	require.Equal(t, 100.0, r.MaxScore)
	switch p.Kind {
	case corpus.Solution:
		require.Equal(t, r.MaxScore, r.Score)
		require.Len(t, r.Checks, len(e.Suite.Checks))
	case corpus.Skeleton:
		require.Equal(t, verdict.NotStarted, r.Status, describe(r))
		require.Zero(t, r.Score)
	case corpus.Half:
		x := p.Expect()
		requireAsked(t, e.Suite, x.Next, r)
		if !x.Wrong && len(x.Wants) == 0 {
			requireNothingWrong(t, r)
		}
	}
}

// requireAsked sees to it that what is filled is judged: every check that needs nothing of the gap next or of those
// behind it, nor any time, which is measured of what is complete.
func requireAsked(t *testing.T, s *suite.Suite, next string, r verdict.Report) {
	t.Helper()
	for _, q := range s.Checks {
		waits := slices.ContainsFunc(q.Needs, func(id string) bool {
			c, ok := s.Case(id)
			return !ok || c.Timed || c.After >= next
		})
		asked := slices.ContainsFunc(r.Checks, func(ch verdict.Check) bool {
			return ch.ID == q.ID &&
				ch.Status != verdict.Skipped
		})
		require.True(t, waits || asked, "%s needs no gap from %s on, but was not asked:\n%s", q.ID, next, describe(r))
	}
}

// room is by what factor a right program stays within a limit on its time: so far from it verdicts are certain, as
// the chapter on fairness shows.
const room = 1.2

// requireRoom sees to it that no right program is near a limit on its time: on another GPU it would be beyond.
func requireRoom(t *testing.T, r verdict.Report) {
	t.Helper()
	for _, ch := range r.Checks {
		for _, m := range ch.Measurements {
			if strings.HasSuffix(m.Name, "time / solution's time") {
				require.Positive(t, m.Limit)
				require.LessOrEqual(t, room*m.Value, m.Limit, "%s: a right program is too near the limit", ch.ID)
			}
		}
	}
}

// compareMatrix holds what became of the programs to what is recorded for the device, or records it. On a GPU nothing
// needs to have been recorded.
func compareMatrix(t *testing.T, file string, m *corpus.Matrix) {
	t.Logf("on %s, seed %d\n\n%s", *onDevice, seed, m)
	if *record {
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, []byte(m.String()), 0o644))
	}
	want, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) && *onDevice == "gpu" {
		t.Skip("not yet recorded on a GPU: -record does it")
	}
	requireRecorded(t, file, err)
	was, is := string(want), m.String()
	if sample.Part() != "" { // which checks fail besides is not expected of half-done programs: only a run of all knows it
		was, is = besides.ReplaceAllString(was, "$1"), besides.ReplaceAllString(is, "$1")
	}
	require.Equal(t, was, is, "other programs, or other verdicts: read them, and record them with -record")
}

// besides are the rows of a matrix that tell of checks, with the last column behind the first group.
var besides = regexp.MustCompile(`(?m)^(\S+ \S+ +[0-9]+ +[0-9]+) +[0-9]+$`)

// requireRecorded ends a test whose golden file cannot be read.
func requireRecorded(t *testing.T, file string, err error) {
	t.Helper()
	if errors.Is(err, fs.ErrNotExist) {
		require.FailNow(t, fmt.Sprintf("there is no %s/%s yet: go test with -record writes it, for you to read",
			filepath.Base(filepath.Dir(file)), filepath.Base(file)))
	}
	require.NoError(t, err)
}

// roots is how many errors a report has that come of no other.
func roots(r verdict.Report) (n int) {
	for _, ch := range r.Checks {
		for _, f := range ch.Findings {
			if f.Root() {
				n++
			}
		}
	}
	return n
}

// describe is a report in lines, for a failing test.
func describe(r verdict.Report) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %g/%g %s\n", r.Status, r.Score, r.MaxScore, r.Message)
	for _, ch := range r.Checks {
		fmt.Fprintf(&b, "  %s: %s %s\n", ch.ID, ch.Status, ch.Message)
		for _, f := range ch.Findings {
			fmt.Fprintf(&b, "    %s:%d: %s %s: %s\n", filepath.Base(f.File), f.Line, f.Severity, cmp.Or(f.Rule, "?"), f.Message)
		}
	}
	return b.String()
}
