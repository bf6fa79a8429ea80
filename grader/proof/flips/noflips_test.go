package flips_test

import (
	"context"
	"flag"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cudalab/grader/judge/check"
	"cudalab/grader/proof/flips"
	"cudalab/grader/suite/verdict"
)

var (
	checks    = flag.Int("checks", 18, "how `many` checks TestNoFlips makes of all solutions together")
	exercises = flag.String("exercises", "", "the `names` of the exercises whose solutions TestNoFlips checks, with "+
		"commas between them; none: all")
	each   = flag.Int("each", 0, "how `many` checks TestNoFlips makes of each solution, in place of -checks")
	load   = flag.String("load", "half", "in which part of them other work loads the machine: none, half or all")
	beside = flag.Int("beside", 1, "how `many` checks run at one time, as in a class; timed cases run alone")
	within = flag.Duration("within", 0, "stop TestNoFlips or TestCurve after this `time`, to be gone on with; 0: when "+
		"it is done")
	ledgerAt  = flag.String("ledger", "", "the `file` that checks are entered in; those that it has are not made again")
	summaryAt = flag.String("summary", "", "the `file` that TestNoFlips writes its counts to")
)

// atOneTime is how many checks of each exercise are made before the load changes.
const atOneTime = 10

// TestNoFlips checks the solutions again and again, timing included, on fresh seeds: whatever else the machine has to
// do, none may fail. Checks whose outcome the clock calls unclear are counted; they pass.
func TestNoFlips(t *testing.T) {
	c := openCourse(t)
	solutions := flips.Solutions(c)
	if *exercises != "" {
		named := strings.Split(*exercises, ",")
		solutions = slices.DeleteFunc(solutions, func(p flips.Program) bool {
			return !slices.Contains(named,
				p.Exercise.Name)
		})
		require.Len(t, solutions, len(named))
	}
	binary, err := flips.Link(context.Background(), c.Root, solutions...)
	require.NoError(t, err)
	defer binary.Close()
	path := *ledgerAt
	if path == "" {
		path = filepath.Join(t.TempDir(), "ledger")
	}
	ledger, err := flips.OpenLedger(path)
	require.NoError(t, err)
	defer func() { require.NoError(t, ledger.Close()) }()

	if *each > 0 {
		*checks = *each * len(solutions)
	}
	r := repeated{t: t, ledger: ledger, solutions: solutions}
	if *within > 0 {
		r.until = time.Now().Add(*within)
	}
	for range *beside {
		checker := binary.Checker(*onDevice, nil)
		defer checker.Close()
		r.checkers = append(r.checkers, checker)
	}
	for r.round() {
	}
	entries, summary := ledger.Entries(), ledger.Summary()
	t.Logf("%d of %d checks\n%s", len(entries), *checks, summary)
	require.NotEmpty(t, entries)
	for _, e := range entries {
		require.Containsf(t, []flips.Verdict{flips.Passed, flips.Unclear}, e.Verdict, "%s under seed %d: %v", e.Exercise,
			e.Seed, e.Checks)
	}
	if *summaryAt != "" {
		require.NoError(t, os.WriteFile(*summaryAt, []byte(summary), 0o644))
	}
}

// repeated is the checks under way.
type repeated struct {
	t         *testing.T
	ledger    *flips.Ledger
	solutions []flips.Program
	checkers  []*flips.Checker
	until     time.Time // zero: no matter when
}

// task is one check to make.
type task struct {
	solution int
	loaded   bool
}

// round makes the next checks, all on a quiet machine or all on a loaded one; it reports whether there were any.
func (r *repeated) round() bool {
	loaded := r.done(true) < r.done(false)
	tasks := r.left(loaded)
	if len(tasks) == 0 {
		tasks = r.left(!loaded)
	}
	if len(tasks) == 0 || r.late() {
		return false
	}
	if tasks[0].loaded {
		defer startLoad(r.t, *onDevice)()
	}
	queue := make(chan task, len(tasks))
	for _, x := range tasks {
		queue <- x
	}
	close(queue)
	var all sync.WaitGroup
	for _, checker := range r.checkers {
		all.Go(func() {
			for x := range queue {
				if !r.late() {
					r.check(checker, x)
				}
			}
		})
	}
	all.Wait()
	return true
}

// done is how many checks there are, on a quiet machine or on a loaded one.
func (r *repeated) done(loaded bool) (n int) {
	for _, p := range r.solutions {
		n += r.ledger.Count(p.Exercise.Name, loaded)
	}
	return n
}

// late reports whether the time is over.
func (r *repeated) late() bool { return !r.until.IsZero() && time.Now().After(r.until) }

// left are checks that are still to be made, at most atOneTime of each solution.
func (r *repeated) left(loaded bool) (tasks []task) {
	share := map[string]float64{"none": 0, "half": 0.5, "all": 1}[*load]
	if !loaded {
		share = 1 - share
	}
	for n := range atOneTime {
		for i, p := range r.solutions {
			want := int(share * float64(*checks))
			mine := (want + len(r.solutions) - 1 - i) / len(r.solutions) // the first ones get the rest
			if r.ledger.Count(p.Exercise.Name, loaded)+n < mine {
				tasks = append(tasks, task{i, loaded})
			}
		}
	}
	return tasks
}

// check makes one check and enters it.
func (r *repeated) check(checker *flips.Checker, x task) {
	e := flips.Entry{Exercise: r.solutions[x.solution].Exercise.Name, Seed: 1 + rand.Uint64N(check.MaxSeed),
		Loaded: x.loaded}
	result := checker.Check(context.Background(), x.solution, e.Seed, nil)
	e.Verdict, e.Checks = flips.VerdictOf(result.Report)
	e.Millis = result.Report.DurationMS
	if err := r.ledger.Enter(e, result.Report.Device); err != nil {
		r.t.Error(err)
	}
	switch e.Verdict {
	case flips.Failed:
		r.t.Errorf("%s failed under seed %d: %v\n%s", e.Exercise, e.Seed, e.Checks, described(result.Report))
	case flips.Errored:
		r.t.Errorf("%s could not be checked: %v", e.Exercise, result.Err)
	case flips.Unclear:
		r.t.Logf("%s is unclear: %s", e.Exercise, described(result.Report))
	}
}

// described are a report's findings in lines.
func described(r verdict.Report) string {
	var b strings.Builder
	b.WriteString(r.Message)
	for _, c := range r.Checks {
		for _, f := range c.Findings {
			b.WriteString("\n  " + c.ID + ": " + f.Message)
		}
	}
	return b.String()
}
