package blockpool

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"cudalab/grader/suite"
	"cudalab/grader/suite/allocator"
	"cudalab/grader/suite/sequence"
)

// layout is what New is called with.
type layout struct {
	size   int64 // of a block, in bytes
	blocks int
}

func (l layout) String() string {
	return fmt.Sprintf("blockpool.New(%s, %d)", suite.Literal(l.size), l.blocks)
}

// workload is one pool and what is done with it.
type workload = allocator.Workload[layout]

const (
	a = allocator.Stream(1 + iota)
	b
	c
	legacy = allocator.Legacy
)

// The operations, each with its stream.
func alloc(s allocator.Stream) allocator.Op           { return allocator.Alloc(0).In(s) }
func free(block int, s allocator.Stream) allocator.Op { return allocator.Free(block).In(s) }
func inside(block int, at int64, s allocator.Stream) allocator.Op {
	return allocator.FreeInside(block, at).In(s)
}
func unknown(address int64, s allocator.Stream) allocator.Op {
	return allocator.FreeUnknown(address).In(s)
}
func null(s allocator.Stream) allocator.Op { return allocator.FreeNull.In(s) }

var busy, wait, destroy, idle, shut = allocator.Busy, allocator.Wait, allocator.Destroy, allocator.Idle, allocator.Close

// examples are the sequences at the edges.
func examples() []workload {
	of := func(name string, size int64, blocks int, ops ...allocator.Op) workload {
		return workload{Name: name, Layout: layout{size, blocks}, Ops: append(ops, shut, shut)}
	}
	return []workload{
		of("one block, one stream", 256, 1, alloc(a), alloc(a), free(1, a), alloc(a), free(3, a)),
		of("one block, two streams", 256, 1, alloc(a), free(1, a), alloc(b), alloc(a), free(2, b), alloc(a), free(4, a)),
		of("two streams, a block each", 512, 2, alloc(a), alloc(b), free(1, a), free(2, b), alloc(a), alloc(b), free(3, a),
			free(4, b)), of("one's own before another's", 256, 2, busy(b), alloc(a), alloc(b), free(1, a), free(2, b), alloc(a),
			free(3, a), alloc(b), free(4, b)),
		of("given back elsewhere", 256, 2, busy(a), alloc(a), alloc(a), free(1, b), free(2, a), alloc(b), alloc(b),
			free(3, b), free(4, b)), of("three blocks around three streams", 256, 3, alloc(a), alloc(b), alloc(c), free(1, b),
			free(2, c), free(3, a), alloc(a), alloc(b), alloc(c), free(4, c), free(5, a), free(6, b), alloc(b), alloc(b),
			alloc(b), free(7, a), free(8, b), free(9, c)),
		of("one that is through, and one that is busy", 256, 2, alloc(a), alloc(b), busy(a), free(1, a), free(2, b), wait(b),
			alloc(c), alloc(c), free(3, c), free(4, c)),
		of("the one that is busy came first", 256, 3, busy(a), alloc(a), free(1, a), alloc(b), alloc(b), alloc(b), free(2, b),
			free(3, b), free(4, a), wait(b), alloc(c), alloc(c), alloc(c), free(5, c), free(6, c), free(7, c)),
		of("all are through", 256, 3, alloc(a), alloc(b), alloc(c), free(1, a), free(2, b), free(3, a), idle, alloc(c),
			alloc(c), alloc(c), free(4, c), free(5, a), free(6, b), idle, alloc(b)),
		of("work behind a free", 256, 1, alloc(a), free(1, a), busy(a), alloc(b), free(2, b)),
		of("freed again behind a wait", 256, 2, busy(a), busy(b), alloc(a), free(1, a), alloc(b), alloc(b), free(2, b),
			free(3, b), alloc(c), free(4, c), alloc(c), alloc(c), free(5, a), free(6, b), alloc(c), alloc(c)),
		of("the legacy default stream", 256, 2, alloc(legacy), alloc(a), free(1, legacy), free(2, a), alloc(a), alloc(a),
			free(3, legacy), alloc(legacy)), of("a stream that is destroyed", 256, 2, alloc(a), alloc(a), free(1, a), free(2, a),
			destroy(a), alloc(b), alloc(b), free(3, b), free(4, b), alloc(b)),
		of("destroyed with a block out", 256, 1, alloc(a), free(1, b), destroy(a), alloc(c), free(2, c)),
		of("frees that are none", 512, 3, null(a), unknown(0x1234, a), alloc(a), free(1, a), free(1, a), free(1, b), alloc(a),
			inside(2, 1, a), inside(2, 256, a), inside(2, 512, a), inside(2, 3*512, a), unknown(-256, b), null(b), free(2, b),
			free(2, a), alloc(a), alloc(a), alloc(a), alloc(a), inside(3, 511, b), free(3, a), free(4, b), free(4, b), alloc(b)),
		of("everything out and back, and again", 256, 4, alloc(a), alloc(b), alloc(a), alloc(b), alloc(c), free(1, a),
			free(2, a), free(3, b), free(4, c), alloc(c), alloc(c), alloc(c), alloc(c), alloc(c), free(6, a), free(7, a),
			free(8, b), free(9, b), alloc(a), alloc(a), alloc(b), alloc(b)),
		of("after Close", 256, 2, alloc(a), alloc(b), shut, alloc(a), free(1, a), null(b)),
	}
}

// busyStates is how many of the known states are drawn in which a stream is busy: each keeps a GPU for a while.
const busyStates = 24

// known are pools whose state is known for sure when a block is asked for: of three blocks each is out, fresh, or was
// given back in one of two streams, and a stream is busy with that or through. What the streams are through with is
// tried in full, and of the others as many as there is time for.
func known(from sequence.Source) (ws []workload) {
	var working []workload
	for state := range 4 * 4 * 4 {
		blocks := []int{state % 4, state / 4 % 4, state / 16}
		if blocks[0] > blocks[1] || blocks[1] > blocks[2] {
			continue // the same, in another order
		}
		for flags := range 4 {
			for _, asking := range []allocator.Stream{a, c} {
				w := knownState(blocks, flags, asking)
				if flags == 0 {
					ws = append(ws, w)
				} else {
					working = append(working, w)
				}
			}
		}
	}
	from.Shuffle(len(working), func(i, j int) { working[i], working[j] = working[j], working[i] })
	return append(ws, working[:busyStates]...)
}

// What may have become of a block before one is asked for.
const (
	stayedOut = iota
	backInA
	backInB
	fresh
)

// knownState asks for all blocks that there are in a stream; flags says whether A and B are busy.
func knownState(blocks []int, flags int, asking allocator.Stream) workload {
	w := workload{Name: fmt.Sprintf("known %v, %d, %v", blocks, flags, asking), Layout: layout{512, len(blocks)}}
	for i, busied := range []allocator.Stream{a, b} {
		if flags>>i&1 != 0 {
			w.Ops = append(w.Ops, busy(busied))
		}
	}
	had := 0
	for i, state := range blocks {
		if state != fresh {
			w.Ops = append(w.Ops, alloc([]allocator.Stream{a, b, a}[i]))
			had++
		}
	}
	for i, state := range blocks[:had] {
		if state == backInA || state == backInB {
			w.Ops = append(w.Ops, free(i+1, allocator.Stream(state)))
		}
	}
	switch flags {
	case 0:
		w.Ops = append(w.Ops, idle)
	case 1:
		w.Ops = append(w.Ops, wait(b))
	case 2:
		w.Ops = append(w.Ops, wait(a))
	}
	for range len(blocks) {
		w.Ops = append(w.Ops, alloc(asking))
	}
	w.Ops = append(w.Ops, shut)
	return w
}

// Bounds of the random sequences.
const (
	randomCount = 4
	randomOps   = 600
	randomQuiet = 50 // operations in which the host waits for nothing
)

// drawn are random sequences.
func drawn(from sequence.Source) []workload {
	ws := make([]workload, randomCount)
	for i := range ws {
		l := layout{256 * (1 + from.Int64N(8)), 1 + from.IntN(40)}
		ws[i] = workload{Name: fmt.Sprintf("random %d", i), Layout: l, Ops: append(drawOps(from.Rand, l, 2+from.IntN(4),
			randomOps, i%2 == 0), shut)}
	}
	return ws
}

// drawOps draws operations that fill the pool and empty it again in turns, in any of so many streams and the legacy
// default stream, with every mistake in between.
func drawOps(r *rand.Rand, l layout, streams, count int, working bool) (ops []allocator.Op) {
	any := func() allocator.Stream {
		if r.IntN(20) == 0 {
			return legacy
		}
		return allocator.Stream(1 + r.IntN(streams))
	}
	var out []int // blocks that a right pool has handed out
	blocks, filling := 0, true
	for len(ops) < count {
		switch {
		case len(out) >= l.blocks:
			filling = false
		case len(out) == 0:
			filling = true
		}
		some := 1 + r.IntN(max(blocks, 1))
		switch k := r.IntN(24); {
		case len(ops)%randomQuiet == randomQuiet-1:
			ops = append(ops, []allocator.Op{idle, wait(allocator.Stream(1 + r.IntN(streams)))}[r.IntN(2)])
			if working && len(ops) < count/2 {
				ops = append(ops, busy(allocator.Stream(1+r.IntN(streams))))
			}
		case k == 0:
			ops = append(ops, inside(some, 1+r.Int64N(2*l.size), any()))
		case k == 1:
			ops = append(ops, free(some, any()))
			for i, block := range out {
				if block == some {
					out = append(out[:i], out[i+1:]...)
					break
				}
			}
		case k == 2:
			ops = append(ops, []allocator.Op{null(any()), unknown(-256, any()), unknown(1<<40, any())}[r.IntN(3)])
		case filling == (k < 18) || len(out) == 0:
			ops = append(ops, alloc(any()))
			blocks++
			if len(out) < l.blocks {
				out = append(out, blocks)
			}
		default:
			i := r.IntN(len(out))
			ops = append(ops, free(out[i], any()))
			out[i] = out[len(out)-1]
			out = out[:len(out)-1]
		}
	}
	return ops
}

// The most of what far layouts have: so many bytes are all held at once, blocks may cost a CUDA call each, whose errors
// a life joins, and streams do.
const (
	farBytes       = 1 << 58
	farBlocks      = 1 << 13
	farLifeBlocks  = 1 << 7
	farLifeStreams = 1 << 5
	farStreams     = 1 << 7
)

// farLayouts have numbers from all over their domains, and so many blocks at most.
func farLayouts(r *rand.Rand, blocks int) []layout {
	few := func() layout { return layout{256 * (1 + r.Int64N(9)), 1 + r.IntN(2)} }
	return slices.Concat(
		suite.Farther(r, few, suite.Number[layout]{Least: 1, Most: blocks, Set: func(l *layout, v int) { l.blocks = v }}),
		suite.Farther(r, few,
			suite.Number[layout]{Least: 1, Most: farBytes / 256, Set: func(l *layout, v int) { l.size = 256 * int64(v) }}))
}

// far are a few operations on each of them, and one pool is used in many streams.
func far(from sequence.Source) (ws []workload) {
	for i, l := range farLayouts(from.Rand, farBlocks) {
		ops := []allocator.Op{alloc(a), free(1, a), free(1, b), alloc(b), inside(2, 256, b), alloc(a), free(2, c),
			alloc(c), free(3, a), alloc(a), shut, shut}
		ws = append(ws, workload{Name: fmt.Sprintf("far %d", i), Layout: l, Ops: ops[from.IntN(2):]})
	}
	for i, streams := range suite.Everywhere(from.Rand, 1, farStreams) {
		ws = append(ws, inStreams(fmt.Sprintf("far in streams %d", i), streams))
	}
	return ws
}

// inStreams has a block for each of some streams given back in it, and then taken in the last.
func inStreams(name string, streams int) workload {
	w := workload{Name: name, Layout: layout{512, streams}}
	for i := range streams {
		w.Ops = append(w.Ops, alloc(allocator.Stream(1+i)))
	}
	for i := range streams {
		w.Ops = append(w.Ops, free(1+i, allocator.Stream(1+i)))
	}
	for range streams {
		w.Ops = append(w.Ops, alloc(allocator.Stream(streams)))
	}
	w.Ops = append(w.Ops, shut)
	return w
}

// farLives hand out some blocks of such layouts while the streams are busy, and take some back.
func farLives(from sequence.Source) (ws []workload) {
	for _, l := range farLayouts(from.Rand, farLifeBlocks) {
		ops := []allocator.Op{alloc(a), free(1, b), alloc(a), shut}
		if l.blocks > 1 {
			ops = []allocator.Op{alloc(a), alloc(b), free(1, a), free(2, b), alloc(c), alloc(c), free(3, a), shut}
		}
		ws = append(ws, workload{Layout: l, Ops: ops})
	}
	for _, streams := range suite.Everywhere(from.Rand, 1, farLifeStreams) {
		ws = append(ws, inStreams("", streams))
	}
	return ws
}

// The large sequences: more blocks than 16 bits can number, and more bytes than 32 bits can count.
const (
	largeBlocks  = 70_000
	largeStreams = 16
	largeTurns   = 4000
	giants       = 4200 // of 1 MiB
)

// large fills a pool from many streams, goes on with mistakes while all is out, and gives it back and takes it again.
func large(from sequence.Source) []workload {
	return []workload{
		{Name: "many blocks", Layout: layout{256, largeBlocks}, Ops: fillAndEmpty(from.Rand, largeBlocks)},
		{Name: "more than 4 GiB", Layout: layout{1 << 20, giants}, Ops: fillAndEmpty(from.Rand, giants)},
	}
}

func fillAndEmpty(r *rand.Rand, blocks int) (ops []allocator.Op) {
	stream := func(i int) allocator.Stream { return allocator.Stream(1 + i%largeStreams) }
	turns := min(largeTurns, blocks/2)
	ops = make([]allocator.Op, 0, blocks+6*turns+8)
	for i := range blocks + 3 {
		ops = append(ops, alloc(stream(i)))
	}
	for i := range turns {
		block := 1 + r.IntN(blocks)
		switch i % 4 {
		case 0:
			ops = append(ops, inside(block, 1<<32, stream(i)), inside(block, 256*(1+r.Int64N(255)), stream(i)))
		case 1:
			ops = append(ops, free(block, stream(i)), free(block, stream(i+1)), alloc(stream(i+2)))
		}
	}
	for i := range 2 * turns {
		ops = append(ops, free(1+i*7919%blocks, stream(i)))
	}
	for i := range 2*turns + 2 {
		ops = append(ops, alloc(stream(i/3)))
	}
	return append(ops, shut, shut)
}

// life draws a pool whose streams are busy, so that each way to a block is gone in turn.
func life(from sequence.Source) workload {
	return workload{Layout: layout{256 * (2 + from.Int64N(4)), 2}, Ops: []allocator.Op{
		alloc(a), alloc(b), free(1, a), free(2, b), alloc(a), alloc(a), free(3, a), free(4, c), alloc(b), shut,
	}}
}
