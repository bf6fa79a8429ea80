package measure

import (
	"fmt"
	"math"
	"math/rand/v2"

	"cudalab/grader/suite"
	"cudalab/grader/suite/verdict"
)

// workload is one call of Time or of Compare.
type workload struct {
	compare bool
	n       int // of Compare
	warm    int // of Time
	rounds  int

	blocking bool // s is a stream that the legacy default stream waits for
	busy     bool // s is busy for a while before the call
	other    bool // another stream is
	cold     bool // the default pool holds nothing before the call
	long     bool // a round of work takes long, beside its launch
	fails    int  // which call of work answers an error, from 1 on; 0: none does
	noWork   bool
	shown    bool // the answer is shown beside the solution's
}

func (w workload) function() string {
	if w.compare {
		return "Compare"
	}
	return "Time"
}

// Label says what is called for: "5 rounds behind a warm-up of 2, while s is busy".
func (w workload) Label() string {
	label := verdict.Count(w.rounds, "round", "rounds")
	switch {
	case w.compare:
		label = verdict.Count(w.n, "element", "elements") + " and " + label
	case w.warm > 0:
		label += fmt.Sprintf(" behind a warm-up of %d", w.warm)
	default:
		label += " without a warm-up"
	}
	if w.blocking {
		label += " in a blocking stream"
	}
	switch {
	case w.busy && w.other:
		label += ", while s and another stream are busy"
	case w.busy:
		label += ", while s is busy"
	case w.other:
		label += ", while another stream is busy"
	}
	if w.cold {
		label += ", from an empty pool"
	}
	return label
}

// onClock is what has to be between the two records of a clock.
func (w workload) onClock() string {
	if w.rounds == 1 {
		return "the timed round"
	}
	return fmt.Sprintf("the %d timed rounds", w.rounds)
}

// Bounds on what is drawn.
const (
	maxElements = 20_000
	maxWarm     = 3
	maxRounds   = 6
)

// times are the calls of Time on idle streams: the edges, then random ones. In most the clock has other numbers than
// the warm-up, so that nothing can be mixed up.
func times(r *rand.Rand) []workload {
	return []workload{
		{rounds: 1},
		{rounds: 3},
		{warm: 2, rounds: 1},
		{warm: 1, rounds: 5, blocking: true},
		{warm: 3, rounds: 4},
		{warm: r.IntN(maxWarm + 1), rounds: 2 + r.IntN(maxRounds-1)},
		{warm: r.IntN(maxWarm + 1), rounds: 2 + r.IntN(maxRounds-1), blocking: true},
	}
}

// delayed are the calls of Time with s late, another stream late, and both; a round is long.
func delayed(*rand.Rand) []workload {
	return []workload{
		{warm: 1, rounds: 4, busy: true, long: true},
		{warm: 2, rounds: 3, other: true, long: true},
		{warm: 1, rounds: 2, busy: true, other: true, blocking: true, long: true},
	}
}

// failing are the calls of Time whose work fails: at once, last in the warm-up, first on the clock, and last; and
// anywhere in calls of more rounds.
func failing(r *rand.Rand) (ws []workload) {
	for _, call := range []int{1, 2, 3, 5} {
		ws = append(ws, workload{warm: 2, rounds: 3, fails: call})
	}
	return append(ws, suite.Farther(r, func() workload {
		return workload{warm: suite.FarCount / 2, rounds: suite.FarCount / 2}
	}, suite.Number[workload]{Least: 1, Most: suite.FarCount, Set: func(w *workload, v int) { w.fails = v }})...)
}

// timeFar are calls of Time with any numbers of rounds.
func timeFar(r *rand.Rand) []workload {
	few := func() workload { return workload{warm: r.IntN(maxWarm + 1), rounds: 1 + r.IntN(maxRounds)} }
	most := workload{warm: suite.Many(r), rounds: suite.Many(r)}
	return append(suite.Farther(r, few,
		suite.Number[workload]{Most: suite.FarCount, Set: func(w *workload, v int) { w.warm = v }},
		suite.Number[workload]{Least: 1, Most: suite.FarCount, Set: func(w *workload, v int) { w.rounds = v }}), most)
}

// compareFar are calls of Compare with numbers from all over their domains.
func compareFar(r *rand.Rand) []workload {
	return suite.Farther(r, func() workload { return workload{compare: true, rounds: 1 + r.IntN(maxRounds)} },
		suite.Number[workload]{Least: 1, Most: math.MaxInt32, Set: func(w *workload, v int) { w.n = v }},
		suite.Number[workload]{Least: 1, Most: suite.FarCount, Set: func(w *workload, v int) { w.rounds = v }})
}

// What is compared to be shown: 4 MiB, a number of rounds that is quickly done.
const (
	shownElements = 1 << 20
	shownRounds   = 10
)

// twoRounds and twoCompared are small calls like all others that they draw, in what has to be called for them.
func twoRounds(*rand.Rand) workload { return workload{warm: 1, rounds: 2} }

func twoCompared(r *rand.Rand) workload {
	return workload{compare: true, n: 100 + r.IntN(900), rounds: 2}
}

// compared are the calls of Compare.
func compared(r *rand.Rand) []workload {
	return []workload{
		{compare: true, n: 1, rounds: 1},
		{compare: true, n: 257, rounds: 2, blocking: true},
		{compare: true, n: 300_000, rounds: 2, cold: true},
		{compare: true, n: 1000, rounds: 3, busy: true, other: true},
		{compare: true, n: 1 + r.IntN(maxElements), rounds: 2 + r.IntN(maxRounds-1)},
		{compare: true, n: 1 + r.IntN(maxElements), rounds: 1 + r.IntN(maxRounds)},
		{compare: true, n: shownElements, rounds: shownRounds, shown: true},
	}
}
