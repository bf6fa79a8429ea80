package buddy

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"cudalab/grader/suite"
	"cudalab/grader/suite/allocator"
	"cudalab/grader/suite/sequence"
)

// workload is one allocator and what is done with it.
type workload = allocator.Workload[layout]

var (
	alloc, free, inside = allocator.Alloc, allocator.Free, allocator.FreeInside
	null, never, shut   = allocator.FreeNull, allocator.FreeNever, allocator.Close
)

// sixteen is a root of sixteen minimal blocks, in numbers that are easy to follow.
var sixteen = layout{4096, 256}

// examples are the sequences at the edges.
func examples() []workload {
	of := func(name string, l layout, ops []allocator.Op) workload {
		return workload{Name: name, Layout: l, Ops: ops}
	}
	misused := func(w workload) workload {
		w.Misuse = true
		return w
	}
	return []workload{
		of("one minimal block", layout{256, 256}, []allocator.Op{alloc(256), alloc(1), free(1), alloc(1), free(3), shut}),
		of("halves all the way down and up again", sixteen, []allocator.Op{alloc(1), free(1), alloc(4096), free(2),
			alloc(256), alloc(512), alloc(1024), alloc(2048), alloc(256), alloc(1), free(3), free(4), free(7), free(5), free(6),
			alloc(4096)}),
		of("sizes at the edges of the orders", layout{1 << 16, 600}, []allocator.Op{alloc(1024), alloc(1025), alloc(2048),
			alloc(2049), alloc(1), alloc(4097), alloc(32768), free(1), free(2), free(3), free(4), free(5), free(6), free(7),
			alloc(32769), free(8), alloc(65536)}),
		of("total and minimal block that are no powers of two", layout{5000, 300}, []allocator.Op{alloc(8192), free(1),
			alloc(300), alloc(513), alloc(5000), alloc(4096), free(3), free(2), free(5), alloc(8192)}),
		of("a minimal block that is raised to 256", layout{2048, 1}, append(repeat(8, alloc(1)), alloc(1), free(5),
			alloc(200))), of("all minimal blocks, freed from the first", sixteen, fillAndFree(16, func(i int) int { return i })),
		of("all minimal blocks, freed from the last", sixteen, fillAndFree(16, func(i int) int { return 15 - i })),
		of("all minimal blocks, freed crosswise", sixteen, fillAndFree(16, func(i int) int { return i * 5 % 16 })),
		of("every other block freed", sixteen, append(append(repeat(16, alloc(256)), pick(16, 2, 0)...),
			alloc(512), alloc(256), free(18), alloc(512))),
		of("many blocks, every other freed, then two far apart", layout{1 << 15, 256}, slices.Concat(repeat(128, alloc(256)),
			pick(128, 2, 0), repeat(65, alloc(1)), []allocator.Op{free(2), free(102), alloc(1), alloc(1)})),
		of("neighbours that are no buddies", sixteen, []allocator.Op{alloc(1024), alloc(1024), alloc(1024), alloc(1024),
			free(2), free(3), alloc(2048), free(1), alloc(2048), free(4), alloc(2048)}),
		of("a buddy that is itself in halves", sixteen, []allocator.Op{alloc(1024), alloc(512), alloc(512), alloc(2048),
			free(1), free(2), alloc(2048), alloc(1024), free(3), free(6), alloc(2048)}),
		of("blocks next to larger ones", sixteen, []allocator.Op{alloc(256), alloc(2048), alloc(256), alloc(1024), alloc(512),
			free(2), alloc(1024), alloc(1024), free(1), free(3), alloc(512)}),
		of("the first block, free all along", sixteen, append(repeat(16, alloc(256)), free(1), free(3), free(4), alloc(512),
			alloc(1), alloc(1), free(2), free(17))),
		of("sizes that no block has", sixteen, []allocator.Op{alloc(0), alloc(-1), alloc(4097), alloc(1 << 40), alloc(4096),
			alloc(0), alloc(4097), free(5), shut}),
		misused(of("frees that are none", sixteen, []allocator.Op{null, never, alloc(1000), free(1), free(1), alloc(1000),
			inside(2, 1), inside(2, 256), inside(2, 512), inside(2, 1024), inside(2, -256), inside(2, 4096), never, null,
			free(2), shut})),
		misused(of("freed again when it is part of a larger block", sixteen, []allocator.Op{alloc(256), alloc(256), free(1),
			free(2), free(2), free(1), alloc(4096), inside(3, 256), inside(3, 2048), free(3), free(3), shut})),
		of("after Close", sixteen, []allocator.Op{alloc(256), alloc(512), shut, alloc(256), free(1), null, alloc(0), shut}),
	}
}

// threeBlocks draws a root that has room for three blocks, hands them out and takes one back.
func threeBlocks(from sequence.Source) (w workload) {
	top := 12 + from.IntN(12)
	w.Layout = layout{total: 1<<top - from.Int64N(1000), minBlock: 1<<(top-4-from.IntN(6)) - from.Int64N(3)}
	for range 3 {
		w.Ops = append(w.Ops, alloc(1+from.Int64N(w.Layout.root()/4)))
	}
	w.Ops = append(w.Ops, free(1+from.IntN(3)), shut)
	return w
}

func repeat(n int, op allocator.Op) []allocator.Op { return slices.Repeat([]allocator.Op{op}, n) }

// fillAndFree allocates n minimal blocks and one more, frees all in an order, and asks for the root.
func fillAndFree(n int, order func(int) int) []allocator.Op {
	ops := append(repeat(n, alloc(256)), alloc(1))
	for i := range n {
		ops = append(ops, free(order(i)+1))
	}
	return append(ops, alloc(int64(n)*256))
}

// pick frees every step-th of n blocks from the given one on.
func pick(n, step, from int) (ops []allocator.Op) {
	for i := from; i < n; i += step {
		ops = append(ops, free(i+1))
	}
	return ops
}

// The large sequence: more minimal blocks than 16 bits can number, over more bytes than 32 bits can count.
const (
	largeBlocks = 1 << 17
	largeTurns  = 3000
)

// large hands out more than half of the minimal blocks, goes on with mistakes and blocks of all sizes, and gives some
// back.
func large(from sequence.Source) []workload {
	l := layout{minBlock: 1 << (16 + from.IntN(12))}
	l.total = largeBlocks * l.minBlock
	const first = largeBlocks/2 + 1000
	ops := make([]allocator.Op, 0, first+6*largeTurns)
	for range first {
		ops = append(ops, alloc(1+from.Int64N(l.minBlock)))
	}
	for range largeTurns {
		any := 1 + from.IntN(first)
		switch from.IntN(5) {
		case 0:
			ops = append(ops, free(any), free(any))
		case 1:
			ops = append(ops, inside(any, 1+from.Int64N(l.minBlock)), inside(any, 1<<16*l.minBlock), inside(any, 1<<32+1))
		case 2:
			ops = append(ops, alloc(l.minBlock<<from.IntN(17)))
		case 3:
			ops = append(ops, alloc([]int64{l.root() + 1, 1 << 32, 1<<32 + 1, 1 << 62, 1<<62 + 1, 1<<63 - 1,
				-1 << 63}[from.IntN(7)]))
		default:
			ops = append(ops, free(any))
		}
	}
	for i := range 2 * largeTurns {
		ops = append(ops, free(1+i)) // neighbours, which become whole again
	}
	return []workload{{Name: "many blocks", Layout: l, Misuse: true, Ops: append(ops, alloc(l.root()/64), alloc(1), shut,
		shut)}}
}

// The most of what far layouts have: so many bytes are all held at once, and each minimal block costs the host some.
const (
	farBytes  = 1 << 58
	farBlocks = 1 << 12
)

// farLayouts have numbers from all over their domains, where one root has not too many minimal blocks.
func farLayouts(r *rand.Rand) (ls []layout) {
	for _, total := range suite.Everywhere(r, 1, farBytes) {
		least := max(total/farBlocks, 1)
		ls = append(ls, layout{int64(total), int64(suite.Somewhere(r, least, max(total/2, least)))})
	}
	for _, minBlock := range suite.Everywhere(r, 1, farBytes) {
		least := int64(minBlock)
		ls = append(ls, layout{[]int64{least, 2 * least, alike(r, least)}[r.IntN(3)], least})
	}
	return slices.DeleteFunc(ls, func(l layout) bool { return l.least() > l.root() || l.root() > farBytes })
}

// alike is a number that is rounded up to the same power of two as another.
func alike(r *rand.Rand, n int64) int64 {
	most := powerOfTwo(n)
	return most - r.Int64N((most+1)/2)
}

// far are a few operations on each of them, and on one all sizes.
func far(from sequence.Source) (ws []workload) {
	for i, l := range farLayouts(from.Rand) {
		half := max(l.root()/2, l.least())
		some := func(most int64) allocator.Op { return alloc(allocator.Within(from.Rand, most)) }
		ops := []allocator.Op{some(l.root()), free(1), free(1), some(l.least()), alloc(half), alloc(l.root() + 1),
			alloc(l.root()), inside(2, 256), free(2), free(3), alloc(l.root()), free(6), alloc(half), shut, shut}
		if from.IntN(2) == 0 {
			ops = ops[1:]
		}
		ws = append(ws, workload{Name: fmt.Sprintf("far %d", i), Layout: l, Misuse: true, Ops: ops})
	}
	sizes := workload{Name: "all sizes", Layout: layout{farBytes, farBytes / farBlocks},
		Ops: allocator.EverySize(from.Rand)}
	return append(ws, sizes)
}

// farLives hand out a block or two of such roots, and take one back.
func farLives(from sequence.Source) (ws []workload) {
	for _, l := range farLayouts(from.Rand) {
		w := workload{Layout: l, Ops: []allocator.Op{alloc(allocator.Within(from.Rand, max(l.root()/2, 1)))}}
		if l.top() > 0 {
			w.Ops = append(w.Ops, alloc(allocator.Within(from.Rand, l.root()/2)))
		}
		ws = append(ws, workload{Layout: l, Ops: append(w.Ops, free(1), shut)})
	}
	return ws
}

// Bounds of the random sequences.
const (
	randomCount = 6
	randomOps   = 240
	randomBurst = 24 // operations of one kind in a row at most
	randomTop   = 10 // the root's order at most
)

// drawn are random sequences. In the second half of them blocks are freed wrongly, too.
func drawn(from sequence.Source) []workload {
	ws := make([]workload, randomCount)
	for i := range ws {
		l := layout{minBlock: 1 + from.Int64N(2*leastBlock)}
		top := 2 + from.IntN(randomTop-1)
		l.total = l.least()<<top - from.Int64N(l.least()<<(top-1))
		w := workload{Name: fmt.Sprintf("random %d", i), Layout: l, Misuse: i >= randomCount/2}
		w.Ops = drawOps(from.Rand, l, w.Misuse)
		ws[i] = w
	}
	return ws
}

// drawOps draws bursts of allocations and bursts of frees in turns, so that the root fills up and falls apart into
// blocks of all sizes; in the end all is freed, and the root allocated whole.
func drawOps(r *rand.Rand, l layout, misuse bool) []allocator.Op {
	var ops []allocator.Op
	var out []int // blocks that a right allocator may have handed out
	blocks := 0
	take := func(i int) int {
		block := out[i]
		out[i] = out[len(out)-1]
		out = out[:len(out)-1]
		return block
	}
	for len(ops) < randomOps {
		for range 1 + r.IntN(randomBurst) {
			order := min(r.IntN(l.top()+1), r.IntN(l.top()+1))
			size := l.least() << order
			blocks++
			out = append(out, blocks)
			ops = append(ops, alloc(size-r.Int64N(max(size/2, 1))))
			if r.IntN(24) == 0 {
				blocks++
				ops = append(ops, alloc([]int64{0, -r.Int64N(1000), l.root() + 1 + r.Int64N(100)}[r.IntN(3)]))
			}
		}
		for range min(1+r.IntN(randomBurst), len(out)) {
			if misuse && r.IntN(4) == 0 {
				any := 1 + r.IntN(blocks)
				ops = append(ops, []allocator.Op{free(any), inside(any, 1+r.Int64N(2*l.least())), inside(any, l.least()),
					inside(any, -l.least()), null, never}[r.IntN(6)])
			}
			ops = append(ops, free(take(r.IntN(len(out)))))
		}
	}
	for len(out) > 0 {
		ops = append(ops, free(take(r.IntN(len(out)))))
	}
	return append(ops, alloc(l.root()), alloc(1), shut, alloc(1), shut)
}
