package streampool

import (
	"fmt"
	"math"
	"math/rand/v2"

	"cudalab/grader/suite"
	"cudalab/grader/suite/allocator"
	"cudalab/grader/suite/sequence"
)

// knownStates is how many of the known states are drawn.
const knownStates = 72

// known are pools whose state is known for sure when a block is asked for: each of three blocks that share a chunk is
// out, or was given back in one of two streams, and these are busy with that, or through with all.
func known(from sequence.Source) (ws []workload) {
	for state := range 27 {
		for flags := range 16 {
			ws = append(ws, knownState([]int{state % 3, state / 3 % 3, state / 9}, flags))
		}
	}
	from.Shuffle(len(ws), func(i, j int) { ws[i], ws[j] = ws[j], ws[i] })
	return ws[:knownStates]
}

// knownState asks for blocks of one or two thirds of a chunk; flags says whether A and B are busy, who asks, for how
// much, and whether the upstream has more.
func knownState(blocks []int, flags int) workload {
	w := workload{Name: fmt.Sprintf("known %v, %d", blocks, flags), Layout: layout{step: 3072,
		limit: 3072 * int64(1+flags>>3&1)}}
	asking := []allocator.Stream{a, c}[flags>>1&1]
	if flags&1 != 0 {
		w.Ops = append(w.Ops, busy(a), busy(b))
	}
	for range blocks {
		w.Ops = append(w.Ops, alloc(1024, a))
	}
	for i, state := range blocks {
		if state > 0 {
			w.Ops = append(w.Ops, free(i+1, allocator.Stream(state)))
		}
	}
	for range 3 {
		if flags&1 == 0 {
			w.Ops = append(w.Ops, idle)
		}
		w.Ops = append(w.Ops, alloc(1024*int64(1+flags>>2&1), asking))
	}
	w.Ops = append(w.Ops, shut)
	return w
}

// Bounds of the random sequences.
const (
	randomCount = 5
	randomOps   = 500
	randomQuiet = 40 // operations in which the host waits for nothing
)

// drawn are random sequences.
func drawn(from sequence.Source) []workload {
	ws := make([]workload, randomCount)
	for i := range ws {
		l := layout{step: 1024 * (1 + from.Int64N(8)), limit: 8192 * (1 + from.Int64N(8)), side: i%3 == 2}
		ws[i] = workload{Name: fmt.Sprintf("random %d", i), Layout: l, Ops: append(drawOps(from.Rand, l, 2+from.IntN(5)),
			shut)}
	}
	return ws
}

// inOrder are sequences over an upstream whose memory is there in stream order.
func inOrder(ws []workload) (ordered []workload) {
	for _, w := range ws {
		if !w.Layout.side {
			w.Layout.ordered = true
			ordered = append(ordered, w)
		}
	}
	return ordered
}

// drawOps draws operations that fill the pool and empty it again in turns, in any of so many streams and the legacy
// default stream, with every mistake in between; now and then a stream is forgotten and destroyed, and another comes.
func drawOps(r *rand.Rand, l layout, streams int) (ops []allocator.Op) {
	living := make([]allocator.Stream, streams)
	for i := range living {
		living[i] = allocator.Stream(i + 1)
	}
	next := allocator.Stream(streams + 1)
	any := func() allocator.Stream {
		if r.IntN(20) == 0 {
			return legacy
		}
		return living[r.IntN(len(living))]
	}
	size := func() int64 {
		if r.IntN(4) == 0 {
			return 1 + r.Int64N(l.limit/4)
		}
		return 1 + r.Int64N(1500)
	}
	var out []int // blocks that a right pool may have handed out
	blocks, filling := 0, true
	for len(ops) < randomOps {
		if r.IntN(30) == 0 || len(out) == 0 {
			filling = !filling
		}
		some := 1 + r.IntN(max(blocks, 1))
		switch k := r.IntN(32); {
		case len(ops)%randomQuiet == randomQuiet-1:
			ops = append(ops, []allocator.Op{idle, wait(living[0]), busy(living[r.IntN(len(living))])}[r.IntN(3)])
		case k == 0:
			ops = append(ops, inside(some, 1+r.Int64N(2048), any()))
		case k == 1:
			ops = append(ops, free(some, any()))
		case k == 2:
			ops = append(ops, []allocator.Op{null(any()), unknown(-256, any()), unknown(1<<40, any()),
				allocator.Alloc(-r.Int64N(3)).In(any())}[r.IntN(4)])
			if ops[len(ops)-1].Kind == allocator.KindAlloc {
				blocks++
			}
		case k == 3 && r.IntN(2) == 0:
			ops = append(ops, trim(r.Int64N(l.limit)))
		case k == 4 && r.IntN(2) == 0:
			i := r.IntN(len(living))
			ops = append(ops, forget(living[i]), destroy(living[i]))
			living[i] = next
			next++
		case filling == (k < 24) || len(out) == 0:
			ops = append(ops, alloc(size(), any()))
			blocks++
			out = append(out, blocks)
		default:
			i := r.IntN(len(out))
			ops = append(ops, free(out[i], any()))
			out[i] = out[len(out)-1]
			out = out[:len(out)-1]
		}
	}
	return ops
}

// The large sequence: more pieces than 16 bits can number, and more bytes than 32 bits can count.
const (
	largeStreams = 16
	largeTurns   = 1000
	largeBlocks  = 70_000
	largeOut     = 66_000
	gib          = 1 << 30
)

// large fills 6 GiB in two chunks.
func large(from sequence.Source) []workload {
	r := from.Rand
	in := func(i int) allocator.Stream { return allocator.Stream(1 + i%largeStreams) }
	ops := append(make([]allocator.Op, 0, 2*largeBlocks+5*largeTurns+largeOut),
		alloc(4*gib+gib/2, a), alloc(gib, b), alloc(gib, b)) // the third: there is half as much
	sizes := func() int64 { return 1 + r.Int64N(4096) }
	for i := range largeBlocks { // blocks 4 to 70,003
		ops = append(ops, alloc(sizes(), in(i)))
	}
	for i := largeOut; i < largeBlocks; i++ {
		ops = append(ops, free(4+i, in(i)))
	}
	for i := 0; i < largeOut; i += 2 { // every second
		ops = append(ops, free(4+i, in(i/2)))
	}
	ops = append(ops, alloc(gib/2, c), alloc(1<<31, c), alloc(1<<32, c), alloc(1<<62, c), free(4, a), inside(5, 1<<32, a),
		unknown(1<<61, b))
	for i := range largeTurns {
		ops = append(ops, alloc(sizes(), in(i*7)), free(5+2*i, in(i)))
	}
	again := largeBlocks + 4 + 4
	for i := 2*largeTurns + 1; i < largeOut; i += 2 {
		ops = append(ops, free(4+i, in(i)))
	}
	for i := range largeTurns {
		ops = append(ops, free(again+i, in(i)))
	}
	ops = append(ops, free(1, d), free(2, c), alloc(5*gib, a), alloc(gib, b), alloc(1, c), free(again+largeTurns, b),
		trim(gib), trim(0), shut, shut)
	return []workload{{Name: "6 GiB in two chunks", Layout: layout{step: 5 * gib, limit: 6 * gib}, Ops: ops}}
}

// The most of what far pools have: so many bytes are all held at once, and streams and chunks cost CUDA calls each.
const (
	farBytes   = 1 << 57
	farStreams = 1 << 7
	farChunks  = 1 << 7
	farInLives = 1 << 3 // of both, where all streams are busy

	stepsInLives = 12 // who asks until a stream is done takes long
)

// farLayouts have steps from all over their domain; the upstream has room for two of them, or for less than one.
func farLayouts(r *rand.Rand) (ls []layout) {
	for _, units := range suite.Everywhere(r, 1, math.MaxInt64/256) {
		l := layout{step: 256 * int64(units), limit: 256 * (8 + r.Int64N(8))}
		if l.step <= farBytes && r.IntN(4) > 0 {
			l.limit = 2 * l.step
		}
		ls = append(ls, l)
	}
	return ls
}

// far are a few operations on pools of such steps, and on others all sizes, all that Trim may keep, many streams and
// many chunks.
func far(from sequence.Source) (ws []workload) {
	for i, l := range farLayouts(from.Rand) {
		some := func(s allocator.Stream) allocator.Op { return alloc(allocator.Within(from.Rand, l.limit/3), s) }
		ops := []allocator.Op{some(a), some(b), free(1, a), free(1, a), some(a), free(2, c), some(c), inside(3, 256, a),
			alloc(l.limit, b), free(3, b), free(4, c), trim(l.step - 1), some(a), trim(l.step), trim(0), shut, shut}
		ws = append(ws, workload{Name: fmt.Sprintf("far %d", i), Layout: l, Ops: ops[from.IntN(2):]})
	}
	sizes := workload{Name: "all sizes", Layout: layout{step: 256, limit: 1 << 40}}
	for i, size := range suite.Everywhere(from.Rand, 0, math.MaxInt64) {
		sizes.Ops = append(sizes.Ops, alloc(int64(size), a), free(1+2*i, a), alloc(-1-int64(size), a))
		if from.IntN(2) == 0 {
			sizes.Ops = append(sizes.Ops, trim(0))
		}
	}
	keeps := workload{Name: "all that may be kept", Layout: layout{step: 1 << 20, limit: farBytes}}
	for i, keep := range suite.Everywhere(from.Rand, 0, math.MaxInt64) {
		keeps.Ops = append(keeps.Ops, alloc(allocator.Within(from.Rand, 1<<30), a), free(1+i, a), trim(int64(keep)))
	}
	ws = append(ws, sizes, keeps)
	for i, streams := range suite.Everywhere(from.Rand, 1, farStreams) {
		ws = append(ws, inStreams(fmt.Sprintf("far in streams %d", i), streams))
	}
	for i, chunks := range suite.Everywhere(from.Rand, 1, farChunks) {
		ws = append(ws, inChunks(fmt.Sprintf("far in chunks %d", i), chunks))
	}
	return ws
}

// inStreams has parts of one chunk given back in a stream each, and then all of it taken in the last.
func inStreams(name string, streams int) workload {
	n := int64(streams)
	w := workload{Name: name, Layout: layout{step: 512 * n, limit: 512 * n}}
	for i := range streams {
		w.Ops = append(w.Ops, alloc(512, allocator.Stream(1+i)))
	}
	for i := range streams {
		w.Ops = append(w.Ops, free(1+i, allocator.Stream(1+i)))
	}
	w.Ops = append(w.Ops, alloc(512*n, allocator.Stream(streams)), free(streams+1, a), trim(0), shut)
	return w
}

// inChunks has chunks given back in two streams, and all but half of them trimmed.
func inChunks(name string, chunks int) workload {
	w := workload{Name: name, Layout: layout{step: 1024, limit: 1024 * int64(chunks)}}
	for i := range chunks {
		w.Ops = append(w.Ops, alloc(1024, allocator.Stream(1+i%2)))
	}
	for i := range chunks {
		w.Ops = append(w.Ops, free(1+i, allocator.Stream(1+i/2%2)))
	}
	w.Ops = append(w.Ops, trim(512*int64(chunks)), alloc(1000, c), free(chunks+1, b), trim(0), shut)
	return w
}

// farLives are lives of such pools, of which several have several chunks.
func farLives(from sequence.Source) (ws []workload) {
	for _, l := range farLayouts(from.Rand)[:stepsInLives] {
		some := func(s allocator.Stream) allocator.Op { return alloc(allocator.Within(from.Rand, l.limit/4), s) }
		ws = append(ws, workload{Layout: l, Ops: []allocator.Op{some(a), some(b), free(1, b), some(c), free(2, a),
			free(3, c), some(b), forget(c), trim(0), free(4, a), shut}})
	}
	for _, n := range suite.Everywhere(from.Rand, 1, farInLives) {
		ws = append(ws, inStreams("", n), inChunks("", n))
	}
	return ws
}

// lifeByFree draws a pool to which the second stream comes with a Free, and which closes then.
func lifeByFree(from sequence.Source) workload {
	half := func() int64 { return 2048 - from.Int64N(200) }
	return workload{Layout: layout{step: 4096, limit: 4096}, Ops: []allocator.Op{
		alloc(half(), a), alloc(half(), a), free(1, a), free(2, b), alloc(half(), b), free(3, b), shut,
	}}
}

// lifeByForget draws a pool with one stream that has all, and is forgotten before the second comes. When both are
// forgotten and own nothing the pool is trimmed to nothing, and closes with what it has left.
func lifeByForget(from sequence.Source) workload {
	whole := func() int64 { return 4096 - from.Int64N(200) }
	return workload{Layout: layout{step: 4096, limit: 4096}, Ops: []allocator.Op{
		alloc(whole(), a), free(1, a), trim(0), alloc(whole(), a), free(2, a), forget(a), alloc(whole(), b), free(3, b),
		trim(0), forget(b), shut,
	}}
}

// life draws a pool whose streams are busy, so that each way to a block is gone in turn. Its first block needs the
// whole step, so that the upstream is asked once.
func life(from sequence.Source) workload {
	whole := func() int64 { return 4096 - from.Int64N(200) }
	half := func() int64 { return 2048 - from.Int64N(200) }
	return workload{Layout: layout{step: 4096, limit: 4096}, Ops: []allocator.Op{
		alloc(whole(), a), free(1, a), alloc(half(), a), alloc(half(), b), free(2, a), free(3, b), alloc(whole(), c),
		free(4, c), alloc(half(), a), free(5, a), forget(a), trim(0), alloc(whole(), b), free(6, b), shut,
	}}
}
