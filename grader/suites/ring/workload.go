package ring

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"cudalab/grader/suite"
	"cudalab/grader/suite/verdict"
	"cudalab/kernels/oracle"
)

// workload is one call of Run, or two right behind each other.
type workload struct {
	slots, n, work, items int
	late                  suite.Late // the streams that are kept busy before the call: 0 is producer, 1 consumer
	same                  bool       // both are one stream
	followed              bool       // the caller goes on at once and fills the slots anew
	again                 bool       // a second call with the same slots follows at once
}

var streamNames = []string{"producer", "consumer"}

// Label says what is called for: "5 items of 257 words through 2 slots, while consumer is busy".
func (w workload) Label() string {
	label := verdict.Count(w.items, "item", "items") + " of " + verdict.Count(w.n, "word", "words") + " through " +
		verdict.Count(w.slots, "slot", "slots")
	switch {
	case w.same:
		label += ", with one stream for both"
	case w.again:
		label += ", twice"
	case len(w.late) == 2:
		label += ", while both streams are busy"
	default:
		label += w.late.While(suite.Names(streamNames...))
	}
	return label
}

// sums is how many results the call has, or the two have together.
func (w workload) sums() int {
	if w.again {
		return 2 * w.items
	}
	return w.items
}

// workOf is the work of result i: a second call is given other work, so that it has other results.
func (w workload) workOf(i int) int {
	if w.items > 0 {
		return w.work + i/w.items
	}
	return w.work
}

// want is what result i must be.
func (w workload) want(i int) uint64 { return w.wantOf(i, i%w.items, w.n) }

// wantOf is the digest of any item's first elements, with the work of result i.
func (w workload) wantOf(i, item, n int) uint64 {
	return oracle.DigestOfItem(n, uint32(item), w.workOf(i), w.workOf(i))
}

// firstWrong is the first result that is wrong or missing; -1 if all are right.
func (w workload) firstWrong(sums []uint64) int {
	for i := range w.sums() {
		if i >= len(sums) || sums[i] != w.want(i) {
			return i
		}
	}
	return -1
}

// maxElements bounds the sizes that are drawn. manyElements need more blocks of 256 threads than a block may have
// threads, so that the two cannot be mixed up.
const (
	maxElements  = 20_000
	manyElements = 300_000
	maxItems     = 40
	maxSlots     = 6
	maxWork      = 500
)

// shapes are calls at the edges of what the contract allows.
var shapes = suite.Fixed(
	workload{slots: 1, n: 1, work: 3, items: 1},
	workload{slots: 1, n: 255, work: 7, items: 4},
	workload{slots: 2, n: 256, work: 0, items: 5},
	workload{slots: 3, n: 257, work: 40, items: 3},
	workload{slots: 5, n: 1000, work: 9, items: 2},
	workload{slots: 3, n: 2, work: 6, items: 7},
	workload{slots: 2, n: 100, work: 5, items: 0},
	workload{slots: 2, n: manyElements, work: 2, items: 3},
	workload{slots: 3, n: 513, work: 11, items: 8, same: true},
)

// draw is a call with two streams and items for so many laps at least.
func draw(r *rand.Rand, laps int) workload {
	w := workload{slots: 1 + r.IntN(maxSlots), n: 1 + r.IntN(maxElements), work: r.IntN(maxWork)}
	w.items = min(laps*w.slots+r.IntN(maxItems), maxItems)
	return w
}

func drawn(r *rand.Rand) []workload {
	most := draw(r, 2)
	most.items = maxItems
	return []workload{draw(r, 0), draw(r, 1), draw(r, 2), most}
}

// far are calls with numbers from all over their domains.
func far(r *rand.Rand) []workload {
	few := func() workload {
		return workload{slots: 1 + r.IntN(3), n: 1 + r.IntN(100), work: r.IntN(10), items: 1 + r.IntN(5)}
	}
	vast := func() workload { // with items of any size
		w := few()
		w.n, w.work = suite.Somewhere(r, 1, math.MaxInt32), suite.Somewhere(r, 0, math.MaxInt32)
		return w
	}
	most := vast()
	most.items = suite.Many(r)
	return slices.Concat([]workload{most},
		suite.Farther(r, few,
			suite.Number[workload]{Least: 1, Most: math.MaxInt32, Set: func(w *workload, v int) { w.n = v }},
			suite.Number[workload]{Most: math.MaxInt32, Set: func(w *workload, v int) { w.work = v }}),
		suite.Farther(r, vast, suite.Number[workload]{Most: suite.FarCount, Set: func(w *workload, v int) { w.items = v }}),
		suite.Farther(r, vast,
			suite.Number[workload]{Least: 1, Most: suite.FarCount, Set: func(w *workload, v int) { w.slots, w.items = v, v+2 }}))
}

// launches are what the call has to launch.
func (w workload) launches() (all []suite.Launch) {
	for i := range w.items {
		bytes, work := 4*int64(w.n), uint64(w.work)
		all = append(all,
			suite.Launch{Kernel: fillKernel, Bytes: bytes, First: 2, Numbers: []uint64{uint64(i), work}, Words: fillWords},
			suite.Launch{Kernel: digestKernel, Bytes: bytes, First: 2, Numbers: []uint64{work}, Words: digestWords})
	}
	return all
}

func fillWords(bytes int64, numbers []uint64) string {
	return fmt.Sprintf("over %s with item %d and work %d", verdict.Count(int(bytes/4), "word", "words"), numbers[0],
		numbers[1])
}

func digestWords(bytes int64, numbers []uint64) string {
	return fmt.Sprintf("over %s with work %d", verdict.Count(int(bytes/4), "word", "words"), numbers[0])
}

func delayed(r *rand.Rand) (ws []workload) {
	for _, late := range []suite.Late{{0}, {1}, {0, 1}} {
		w := draw(r, 2)
		w.slots, w.late = 2+r.IntN(3), late
		ws = append(ws, w)
	}
	return ws
}

// fiveItems is a small call like all others that it draws, in what Run has to call for it.
func fiveItems(r *rand.Rand) workload {
	return workload{slots: 2, n: 100 + r.IntN(900), work: 1 + r.IntN(20), items: 5, followed: true}
}

func twice(r *rand.Rand) []workload {
	w := draw(r, 2)
	w.again, w.followed, w.items = true, true, w.items/2
	return []workload{
		{slots: 1, n: 700, work: 20, items: 2, again: true, followed: true},
		{slots: 3, n: 700, work: 20, items: 2, again: true, followed: true},
		{slots: 3, n: 1 + r.IntN(maxElements), work: 50, items: 10, again: true, followed: true},
		w,
	}
}
