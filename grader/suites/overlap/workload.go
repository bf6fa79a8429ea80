package overlap

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"cudalab/grader/suite"
	"cudalab/grader/suite/verdict"
	"cudalab/kernels/oracle"
)

// workload is one call of Run or of Efficiency.
type workload struct {
	efficiency     bool // Efficiency is called, and not Run
	streams        int
	n, chunk, work int
	asked          int        // the n that is asked for, where not n itself
	more           int        // bytes that in and out have beyond the n words
	lacks, short   int        // bytes that one of them lacks: 1 in, 2 out
	late           suite.Late // the streams that are kept busy before the call
	same           bool       // all of streams are one stream
	pair           bool       // the last of streams is the first once more
	far            bool       // nothing is computed, so that in and out hold nothing
	alias          bool       // in and out are one buffer
	again          bool       // a second call of Run follows at once, with other buffers
	timed          bool       // only the sums of chunks are noted
	item           uint32
}

// small draws small calls of so many chunks, which are alike in what has to be called for them.
func small(efficiency bool, chunks int) func(*rand.Rand) workload {
	return func(r *rand.Rand) workload {
		return workload{efficiency: efficiency, streams: 2, n: 300*chunks - r.IntN(200), chunk: 300, work: 3,
			item: r.Uint32()}
	}
}

// Label says what is called for: "1,000 words in chunks of 300 on 2 streams".
func (w workload) Label() string {
	label := verdict.Count(w.n, "word", "words") + " in chunks of " + verdict.Count(w.chunk, "word", "words") + " on " +
		verdict.Count(w.streams, "stream", "streams")
	switch {
	case w.same:
		label += " that are all the same"
	case w.pair:
		label += " of which the last is the first once more"
	case w.alias:
		label += ", in and out being one buffer"
	case w.again:
		label += ", twice"
	case len(w.late) == w.streams && w.streams > 1:
		label += ", while all streams are busy"
	case len(w.late) > 0:
		label += w.late[:1].While(streamName)
	}
	return label
}

func (w workload) function() string {
	if w.efficiency {
		return "Efficiency"
	}
	return "Run"
}

// size is how many words a buffer has to hold: those of every chunk but the last.
func (w workload) size() int { return min(w.chunk, w.n) }

func (w workload) chunks() int { return (w.n + w.size() - 1) / w.size() }

// different reports whether chunks can overlap: there are streams for it, and more than one chunk.
func (w workload) different() bool { return w.streams > 1 && !w.same && !w.pair && w.chunks() > 1 }

// inRow is how many chunks may come one after the other at most.
func (w workload) inRow() int { return (w.chunks() + 1) / 2 }

// word is word i of in, before the call.
func (w workload) word(i int) uint32 { return oracle.Item(w.item, i) }

// mixing is what the kernel makes of each word.
func (w workload) mixing() oracle.Rounds { return oracle.Mixing(w.work) }

// want is what word i of out must be.
func (w workload) want(i int) uint32 { return w.mixing().Of(w.word(i)) }

// given is the n that is asked for.
func (w workload) given() int { return cmp.Or(w.asked, w.n) }

// lacksOf is how many bytes in, 1, or out, 2, lacks.
func (w workload) lacksOf(which int) int {
	if which == w.short {
		return w.lacks
	}
	return 0
}

// maxWords bounds the sizes that are drawn. manyWords need more blocks of 256 threads than a block may have threads, so
// that the two cannot be mixed up.
const (
	maxWords   = 20_000
	manyWords  = 300_000
	maxStreams = 5
	maxChunks  = 40
	maxWork    = 500
)

// shapes are calls at the edges of what the contract allows.
var shapes = suite.Fixed(
	workload{streams: 1, n: 1, chunk: 1, work: 3, item: 1},
	workload{streams: 2, n: 255, chunk: 64, work: 7, item: 2},
	workload{streams: 3, n: 1000, chunk: 256, more: 10, item: 3},
	workload{streams: 3, n: 257, chunk: 257, work: 40, item: 4},
	workload{streams: 2, n: 100, chunk: math.MaxInt, work: 2, item: 5},
	workload{streams: 5, n: 700, chunk: 300, work: 5, more: 400, item: 6},
	workload{streams: 4, n: 37, chunk: 1, work: 9, item: 7},
	workload{streams: 2, n: manyWords, chunk: manyWords - 1, work: 2, item: 8},
	workload{streams: 2, n: 900, chunk: 200, work: 11, same: true, item: 9},
	workload{streams: 3, n: 2000, chunk: 300, work: 11, alias: true, more: 8, item: 10},
	workload{streams: 3, n: 1100, chunk: 200, work: 4, pair: true, item: 12},
	workload{streams: 3, n: 2500, chunk: 400, work: 60, again: true, item: 11},
)

// draw is a call on so many streams at least.
func draw(r *rand.Rand, least int) workload {
	w := workload{streams: least + r.IntN(maxStreams+1-least), n: 100 + r.IntN(maxWords-100), work: r.IntN(maxWork),
		item: r.Uint32()}
	w.chunk = w.n/maxChunks + 1 + r.IntN(w.n/2)
	return w
}

func drawn(r *rand.Rand) []workload {
	most := draw(r, 2)
	most.chunk = most.n/maxChunks + 1
	return []workload{draw(r, 1), draw(r, 2), draw(r, 2), most}
}

// farWords is how many words a far call has at most: they are pinned memory of the machine.
const farWords = 1 << 18

// chunks has a call have so many chunks of the size that they have.
func chunks(r *rand.Rand) func(*workload, int) {
	return func(w *workload, v int) { w.n = v*w.chunk - r.IntN(w.chunk) }
}

// far are calls with numbers from all over their domains.
func far(r *rand.Rand) []workload {
	few := func() workload {
		return workload{streams: 1 + r.IntN(4), n: 1 + r.IntN(500), chunk: 1 + r.IntN(100), work: r.IntN(10), far: true}
	}
	whole := func() workload {
		w := few()
		w.chunk = farWords
		return w
	}
	worked := func() workload { // as long as there may be
		w := few()
		w.work = suite.Somewhere(r, 0, math.MaxInt32)
		return w
	}
	most := worked()
	chunks(r)(&most, suite.Many(r))
	return slices.Concat([]workload{most},
		suite.Farther(r, few,
			suite.Number[workload]{Least: 1, Most: math.MaxInt, Set: func(w *workload, v int) { w.chunk = max(v, w.n/10) }},
			suite.Number[workload]{Most: math.MaxInt32, Set: func(w *workload, v int) { w.work = v }}),
		suite.Farther(r, whole,
			suite.Number[workload]{Least: 1, Most: farWords, Set: func(w *workload, v int) { w.n = v }}),
		suite.Farther(r, worked,
			suite.Number[workload]{Least: 1, Most: suite.FarCount, Set: chunks(r)},
			suite.Number[workload]{Least: 1, Most: suite.FarCount, Set: func(w *workload, v int) { w.streams = v }}))
}

// efficientFar are far calls of Efficiency.
func efficientFar(r *rand.Rand) []workload {
	few := func() workload {
		return workload{efficiency: true, streams: 1 + r.IntN(4), n: 1 + r.IntN(500), chunk: 1 + r.IntN(100), far: true}
	}
	most := few()
	most.n = farWords - r.IntN(farWords/2)
	most.chunk = most.n/10 + 1
	return append(suite.Farther(r, few,
		suite.Number[workload]{Least: 1, Most: suite.FarCount, Set: chunks(r)},
		suite.Number[workload]{Least: 1, Most: suite.FarCount, Set: func(w *workload, v int) { w.streams = v }},
		suite.Number[workload]{Most: math.MaxInt32, Set: func(w *workload, v int) { w.work = v }}), most)
}

// delayed has each stream late in turn, then all of them.
func delayed(r *rand.Rand) (ws []workload) {
	w := draw(r, 2)
	w.streams, w.chunk = 3, w.n/7+1
	for _, late := range []suite.Late{{0}, {1}, {2}, {0, 1, 2}} {
		w.late, w.item = late, r.Uint32()
		ws = append(ws, w)
	}
	return ws
}

// efficient are calls of Efficiency. Before the last of them a stream is kept busy: who does not wait is then too early
// for the clocks on any device.
func efficient(r *rand.Rand) (ws []workload) {
	for _, streams := range []int{1, 2, 4} {
		w := draw(r, 2)
		w.efficiency, w.streams, w.chunk = true, streams, w.n/6+1
		ws = append(ws, w)
	}
	ws[len(ws)-1].late = suite.Late{0}
	return ws
}
