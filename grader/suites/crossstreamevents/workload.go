package crossstreamevents

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"cudalab/grader/suite"
	"cudalab/grader/suite/verdict"
	"cudalab/kernels/oracle"
)

// workload is one call of Share, or of FanOut with so many consumers.
type workload struct {
	consumers int // 0: a call of Share
	n         int
	// late are the streams that are kept busy before the call: 0 is the source, i+1 is consumer i.
	late suite.Late
	// What independent does in place of a little work: it fails, it does nothing, so that no launch of the grader's is in
	// the way, or it has long work.
	fails, quiet, timed bool
	lengths             *lengths // of a call of FanOut that has to be refused
}

// lengths are how many consumers and outs FanOut is given.
type lengths struct{ consumers, outs int }

// outs is how many results the call has, and how many streams read the buffer.
func (w workload) outs() int { return max(w.consumers, 1) }

func (w workload) function() string {
	if w.consumers == 0 && w.lengths == nil {
		return "Share"
	}
	return "FanOut"
}

// streamName is the student's parameter for a stream: 0 is the source, i+1 is consumer i.
func (w workload) streamName(i int) string {
	switch {
	case w.function() == "Share":
		return []string{"a", "b"}[min(i, 1)]
	case i == 0:
		return "source"
	}
	return fmt.Sprintf("consumers[%d]", i-1)
}

func (w workload) outName(i int) string {
	if w.function() == "Share" {
		return "out"
	}
	return fmt.Sprintf("outs[%d]", i)
}

// want is the sum that every result must have.
func (w workload) want() uint64 { return oracle.ChecksumFilled(w.n) }

// firstWrong is the first result that is wrong, or missing; -1 if all are right.
func (w workload) firstWrong(sums []uint64) int {
	want := w.want()
	for i := range w.outs() {
		if i >= len(sums) || sums[i] != want {
			return i
		}
	}
	return -1
}

// Label says what is called for: "257 elements for 3 consumers, while source is busy".
func (w workload) Label() string {
	label := verdict.Count(w.n, "element", "elements")
	if w.consumers > 0 {
		label += " for " + verdict.Count(w.consumers, "consumer", "consumers")
	}
	label += w.late.While(w.streamName)
	if w.fails {
		label += " and independent returns an error"
	}
	return label
}

// maxElements bounds the sizes that are drawn. manyElements need more blocks of 256 threads than a block may have
// threads, so that the two cannot be mixed up.
const (
	maxElements  = 20_000
	manyElements = 300_000
)

// shareWorkloads are the calls of Share on idle streams: sizes around a block's, a large one, then random ones, and one
// that was there before, so that nothing of an earlier call may do for a later one.
func shareWorkloads(r *rand.Rand) (ws []workload) {
	for _, n := range []int{1, 255, 256, 257, 1000, manyElements, 1 + r.IntN(maxElements), 1 + r.IntN(maxElements), 257} {
		ws = append(ws, workload{n: n})
	}
	return ws
}

// shareDelayed are the calls of Share on streams of which one or both are late.
func shareDelayed(r *rand.Rand) (ws []workload) {
	for _, late := range []suite.Late{{0}, {1}, {0, 1}} {
		ws = append(ws, workload{n: 1 + r.IntN(maxElements), late: late})
	}
	return ws
}

// fanOutWorkloads are the calls of FanOut on idle streams.
func fanOutWorkloads(r *rand.Rand) []workload {
	return []workload{
		{consumers: 1, n: 1},
		{consumers: 2, n: 513},
		{consumers: 5, n: 1023},
		{consumers: 1, n: manyElements},
		{consumers: 17, n: 300},
		{consumers: 2 + r.IntN(5), n: 1 + r.IntN(maxElements)},
		{consumers: 2 + r.IntN(5), n: 1 + r.IntN(maxElements)},
		{consumers: 2, n: 513}, // as before
	}
}

// far are calls with numbers from all over their domains.
func far(r *rand.Rand) []workload {
	n := suite.Number[workload]{Least: 1, Most: math.MaxInt32, Set: func(w *workload, v int) { w.n = v }}
	fanned := func() workload { return fewFannedOut(r) }
	return slices.Concat(
		suite.Farther(r, func() workload { return workload{} }, n),
		suite.Farther(r, fanned, n, suite.Number[workload]{Least: 1, Most: suite.FarCount,
			Set: func(w *workload, v int) { w.consumers = v }}))
}

// launches are what the call has to launch.
func (w workload) launches() []suite.Launch {
	bytes := 4 * int64(w.n)
	all := []suite.Launch{{Kernel: sumKernels.Fill, Bytes: bytes, Words: overElements}}
	for range w.outs() {
		all = append(all, suite.Launch{Kernel: sumKernels.Sum, Bytes: bytes, Words: overElements})
	}
	return all
}

func overElements(bytes int64, _ []uint64) string {
	return "over " + verdict.Count(int(bytes/4), "element", "elements")
}

// fewShared and fewFannedOut are small calls on idle streams, like all others that they draw in what has to be called
// for them.
func fewShared(r *rand.Rand) workload { return workload{n: 100 + r.IntN(900), quiet: true} }

func fewFannedOut(r *rand.Rand) workload { return workload{consumers: 3, n: 100 + r.IntN(900)} }

// fanOutDelayed are the calls of FanOut on streams of which each in turn is late, and then all of them are.
func fanOutDelayed(r *rand.Rand) (ws []workload) {
	for _, late := range []suite.Late{{0}, {1}, {2}, {3}, {0, 1, 2, 3}} {
		ws = append(ws, workload{consumers: 3, n: 1 + r.IntN(maxElements), late: late})
	}
	return ws
}
