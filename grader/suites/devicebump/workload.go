package devicebump

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"cudalab/grader/suite"
	"cudalab/grader/suite/verdict"
)

// step is one call of a method: a Launch with so many sizes, or a Reset.
type step struct {
	stream  int
	sizes   []uint64 // of a Launch; nil: a Reset
	threads int      // that a Launch is told, where that has to be refused
	bad     bool     // it has to be refused
	// of one that is bad: it only looks so. It is a Launch of as many threads as there may be, whose kernel launch is made
	// to fail
	most    bool
	many    int // of a far Launch: its threads, of which no sizes are there
	refused int // from which call of EventRecord on they are made to fail, as long as this call is under way; 0: none
}

func launch(stream int, sizes ...uint64) step { return step{stream: stream, sizes: sizes} }

// count is how many threads a Launch has.
func (s step) count() int { return max(len(s.sizes), s.many) }

func reset(stream int) step { return step{stream: stream} }

// from has events refused that the call records, from the first, second and so on.
func (s step) from(record int) step { s.refused = record; return s }

// workload is one Pools from New to Close.
type workload struct {
	streams   int
	bytes     int64
	shared    bool
	steps     []step
	late      suite.Late // the streams that are kept busy before
	legacy    bool       // streams[0] is the legacy default stream
	twice     bool       // the last of the streams is streams[0] once more
	large     bool       // the blocks are too large to be looked at whole
	timed     bool
	unchecked bool   // no kernel looks at the blocks
	fails     bool   // calls fail
	goesOn    bool   // whatever a call answers, the next one comes
	far       bool   // nothing is computed, and the sizes are not there
	tags      uint32 // what tags begin with
	pair      bool   // there are two Pools, each of one half of the streams
	closing   int    // of a pair: the step ahead of which the first is closed
}

// Label says what becomes of the pools: "2 streams that share a pool of 4 KiB, while streams[1] is busy".
func (w workload) Label() string {
	label := verdict.Count(w.streams, "stream", "streams")
	switch {
	case w.streams == 1:
		label += " with a pool of "
	case w.shared:
		label += " that share a pool of "
	default:
		label += ", each with a pool of "
	}
	label += suite.Bytes(uint64(max(w.bytes, 0)))
	if w.pair {
		label += ", halved between two Pools"
	}
	if w.legacy {
		label += ", of which streams[0] is the legacy default stream"
	}
	return label + w.late.While(func(i int) string { return fmt.Sprintf("streams[%d]", i) })
}

// pool is the pool of a stream.
func (w workload) pool(stream int) int {
	switch {
	case w.shared && w.pair:
		return stream / (w.streams / 2)
	case w.shared:
		return 0
	}
	return stream
}

// pools is how many there are.
func (w workload) pools() int {
	if w.streams == 0 {
		return 0
	}
	return w.pool(w.streams-1) + 1
}

// threads is how many threads all launches have together.
func (w workload) threads() (n int) {
	for _, s := range w.steps {
		n += s.count()
	}
	return n
}

// first is the number of the first thread of a step's launch, among those of all.
func (w workload) first(at int) (n int) {
	for _, s := range w.steps[:at] {
		n += s.count()
	}
	return n
}

// tag is what the launch of a step stamps its first thread's block with.
func (w workload) tag(at int) uint32 { return w.tags + uint32(1_000_000*(at+1)) }

// span is the launches of one pool between two of its resets, by their steps.
type span struct {
	pool     int
	launches []int
}

// spans are those of all pools.
func (w workload) spans() (all []span) {
	open := map[int]int{} // by pool, the span that is open
	for at, s := range w.steps {
		if s.bad {
			continue
		}
		pool := w.pool(s.stream)
		i, ok := open[pool]
		if s.sizes == nil {
			delete(open, pool)
			continue
		}
		if !ok {
			i = len(all)
			open[pool] = i
			all = append(all, span{pool: pool})
		}
		all[i].launches = append(all[i].launches, at)
	}
	return all
}

// resetBehind is the step of the first Reset behind launches; -1 if there is none.
func (w workload) resetBehind(s span) int {
	for at := s.launches[len(s.launches)-1] + 1; at < len(w.steps); at++ {
		if later := w.steps[at]; !later.bad && later.sizes == nil && w.pool(later.stream) == s.pool {
			return at
		}
	}
	return -1
}

// examples are small ones, and such as are at the edges of what the contract allows.
var examples = suite.Fixed(
	workload{streams: 1, bytes: 64, steps: []step{launch(0, 16, 80, 10), reset(0), launch(0, 64), reset(0), reset(0),
		launch(0, 48, 16, 1)}},
	workload{streams: 2, bytes: 256, steps: []step{launch(0, 100), launch(1, 200, 16), reset(0), launch(0, 256),
		launch(1, 32)}},
	workload{streams: 2, bytes: 256, shared: true, steps: []step{launch(0, 100), launch(1, 64), reset(0), launch(1, 200),
		launch(0, 40), reset(1), reset(1), launch(0, 256), reset(0), launch(1, 256)}},
	workload{streams: 3, bytes: 512, shared: true, late: []int{2}, steps: []step{launch(2, 500), launch(0, 16), reset(1),
		launch(0, 300), reset(0), launch(1, 400), launch(2, 100)}},
	workload{streams: 1, bytes: 16, shared: true, steps: []step{launch(0, 16, 16), reset(0), launch(0, 0, 1)}},
	workload{streams: 2, bytes: 1 << 20, shared: true, legacy: true, steps: []step{launch(1, 500, 600), launch(0, 16),
		reset(0), launch(1, 16), reset(1), launch(0, 99)}},
	workload{streams: 2, bytes: 64, steps: []step{reset(1), reset(0)}},
	workload{streams: 4, bytes: 256, pair: true, closing: 7, steps: halved},
	workload{streams: 4, bytes: 256, shared: true, pair: true, closing: 7, steps: halved},
)

// halved are the steps of two Pools, of which the first is closed ahead of the last four.
var halved = []step{launch(0, 100), launch(2, 60), reset(0), launch(3, 40), launch(1, 200), reset(2), reset(1),
	launch(2, 70), launch(3, 20), reset(3), launch(2, 256)}

// far are pools with numbers from all over their domains.
func far(r *rand.Rand) []workload {
	few := func() workload {
		w := workload{streams: 2, bytes: 1 << 10, shared: r.IntN(2) == 0, far: true, unchecked: true, tags: r.Uint32()}
		w.steps = []step{launches(0, 1+r.IntN(100)), launches(1, 1+r.IntN(100)), reset(0), launches(1, 1+r.IntN(100))}
		return w
	}
	steps := func(w *workload, n int) {
		w.steps = nil
		for range n {
			s := launches(r.IntN(w.streams), 1+r.IntN(100))
			if r.IntN(4) == 0 { // and a launch behind it, by which it shows
				w.steps = append(w.steps, reset(s.stream))
			}
			w.steps = append(w.steps, s)
		}
	}
	most := few()
	steps(&most, suite.Many(r))
	return slices.Concat([]workload{most},
		suite.Farther(r, few,
			suite.Number[workload]{Least: 1, Most: maxThreads, Set: func(w *workload, v int) { w.steps[1] = launches(1, v) }},
			suite.Number[workload]{Least: 1, Most: farBytes / 16, Set: func(w *workload, v int) { w.bytes = 16 * int64(v) }},
			suite.Number[workload]{Most: math.MaxUint32, Set: func(w *workload, v int) { w.tags = uint32(v) }}),
		suite.Farther(r, few, suite.Number[workload]{Least: 1, Most: suite.FarCount, Set: func(w *workload, v int) {
			w.streams = v
			steps(w, v+2)
		}}))
}

// The most that a Launch may have of threads, and a far pool of bytes, which is more than any device has memory.
const (
	maxThreads = 1 << 30
	farBytes   = 1 << 42
)

// launches is a far Launch of so many threads.
func launches(stream, threads int) step {
	return step{stream: stream, sizes: []uint64{}, many: threads}
}

// badlyCalled are pools whose methods are given arguments that they have to refuse, the worst last, and some that are
// just good.
var badlyCalled = suite.Fixed(
	workload{streams: 2, bytes: 64, shared: true, steps: []step{launch(0, 16), {stream: -1, sizes: []uint64{1}, threads: 1,
		bad: true},
		{stream: 2, sizes: []uint64{1}, threads: 1, bad: true}, {stream: 0, sizes: []uint64{1}, threads: 0, bad: true},
		{stream: 0, sizes: []uint64{1}, threads: -1, bad: true}, {stream: -1, bad: true},
		{stream: 2, bad: true}, launch(1, 16), {stream: 1, sizes: []uint64{1}, threads: 1 << 30, bad: true, most: true},
		{stream: 1, sizes: []uint64{1}, threads: 1<<30 + 1, bad: true}}},
)

// lacking are pools that no device has the memory for, but whose arguments are good: a shared one, however many streams
// there are, and as many bytes for each stream as an int64 can just count.
var lacking = suite.Fixed(
	workload{streams: 2, bytes: 1 << 62, shared: true, unchecked: true},
	workload{streams: 59, bytes: math.MaxInt64 / 59, unchecked: true}, // of few numbers of streams it is a multiple of 16
)

// unrecorded are lives in which events cannot be recorded for a while: in a Reset, and in the Launch behind it.
var unrecorded = func(*rand.Rand) (all []workload) {
	for record := 1; record <= 3; record++ {
		all = append(all, workload{streams: 2, bytes: 1 << 10, shared: true, unchecked: true, goesOn: true, steps: []step{
			launch(0, 16), launch(1, 16), reset(0).from(record), launch(1, 16).from(1), launch(1, 32), launch(0, 16)}})
	}
	return all
}

// drawn are pools that are used in some streams, with nothing but their own order.
func drawn(r *rand.Rand) (all []workload) {
	for i := range 4 {
		w := workload{streams: 2 + r.IntN(3), shared: i%2 == 0}
		w.bytes = 16 * (64 + r.Int64N(4096))
		if i >= 2 {
			w.late = suite.Late{r.IntN(w.streams)}
		}
		w.steps = drawSteps(r, w, 40)
		all = append(all, w)
	}
	return all
}

func drawSteps(r *rand.Rand, w workload, n int) (steps []step) {
	for range n {
		stream := r.IntN(w.streams)
		if r.IntN(4) == 0 {
			steps = append(steps, reset(stream))
			continue
		}
		threads := []int{1, 31, 33, 64, 100, 257, 1 + r.IntN(200)}[r.IntN(7)]
		if r.IntN(12) == 0 {
			threads = 1025 + r.IntN(300)
		}
		steps = append(steps, launch(stream, drawSizes(r, w.bytes, threads)...))
	}
	return steps
}

func drawSizes(r *rand.Rand, bytes int64, threads int) []uint64 {
	sizes := make([]uint64, threads)
	for i := range sizes {
		sizes[i] = 1 + r.Uint64N(100)
		switch r.IntN(20) {
		case 0:
			sizes[i] = []uint64{0, uint64(bytes) + 1, 1 << 32, 1<<32 + 1, 1 << 63, ^uint64(0), ^uint64(0) - 14}[r.IntN(7)]
		case 1:
			sizes[i] = 1 + r.Uint64N(uint64(bytes))
		}
	}
	return sizes
}

// large are more threads than 16 bits count, and than there may be in 256 blocks, and blocks behind the first 4 GiB of
// a pool.
func large(r *rand.Rand) []workload {
	sizes := make([]uint64, 1024*256+1)
	for i := range sizes {
		sizes[i] = 1 + r.Uint64N(64)
	}
	const half, quarter = 1<<31 + 16, 1 << 30
	return []workload{
		{streams: 1, bytes: 16 << 20, steps: []step{launch(0, sizes...), reset(0), launch(0, 16)}},
		{streams: 2, bytes: 5 << 30, shared: true, large: true, steps: []step{launch(0, half), launch(1, quarter),
			launch(0, quarter), launch(1, 1<<32+16, quarter-48, 16, 16),
			reset(1), launch(0, 1<<32+16), launch(1, 16)}},
	}
}

// shortShared and shortOwn are lives of a few calls, always alike in what has to be called for them.
func shortShared(r *rand.Rand) workload {
	return short(r, true, []step{launch(0), launch(1), reset(0), launch(1), launch(0)})
}

func shortOwn(r *rand.Rand) workload {
	return short(r, false, []step{launch(0), launch(1), reset(0), launch(0)})
}

func short(r *rand.Rand, shared bool, steps []step) workload {
	w := workload{streams: 2, bytes: 16 * (100 + r.Int64N(100)), shared: shared, steps: steps, fails: true,
		unchecked: true, late: suite.Late{r.IntN(2)}}
	for i := range steps {
		if steps[i].sizes = nil; i != 2 {
			steps[i].sizes = drawSizes(r, w.bytes, 20+r.IntN(20))
		}
	}
	return w
}
