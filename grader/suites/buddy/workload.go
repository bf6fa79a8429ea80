package buddy

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"cudalab/grader/suite"
	"cudalab/grader/suite/sequence"
)

// workload is one allocator and what is done with it.
type workload struct {
	name   string // under which its answers are noted
	layout layout
	ops    []sequence.Op
	// misuse: among the operations are frees that have to be refused. Code that does not refuse them is right about
	// nothing that follows.
	misuse bool
}

func alloc(size int64) sequence.Op { return sequence.Op{Kind: sequence.Alloc, Size: size} }
func free(block int) sequence.Op   { return sequence.Op{Kind: sequence.Free, Block: block} }
func inside(block int, offset int64) sequence.Op {
	return sequence.Op{Kind: sequence.FreeInside, Block: block, Size: offset}
}

var (
	null  = sequence.Op{Kind: sequence.FreeNull}
	shut  = sequence.Op{Kind: sequence.Close}
	never = sequence.Op{Kind: sequence.FreeUnknown, Size: 0x1234} // no address that anyone hands out: it is not even aligned
)

// sixteen is a root of sixteen minimal blocks, in numbers that are easy to follow.
var sixteen = layout{4096, 256}

// examples are the sequences at the edges.
func examples() []workload {
	return []workload{
		{"one minimal block", layout{256, 256}, []sequence.Op{alloc(256), alloc(1), free(1), alloc(1), free(3), shut}, false},
		{"halves all the way down and up again", sixteen, []sequence.Op{alloc(1), free(1), alloc(4096), free(2), alloc(256), alloc(512),
			alloc(1024), alloc(2048), alloc(256), alloc(1), free(3), free(4), free(7), free(5), free(6), alloc(4096)}, false},
		{"sizes at the edges of the orders", layout{1 << 16, 1000}, []sequence.Op{alloc(1024), alloc(1025), alloc(2048), alloc(2049),
			alloc(1), alloc(4097), alloc(32768), free(1), free(2), free(3), free(4), free(5), free(6), free(7), alloc(32769), free(8),
			alloc(65536)}, false},
		{"total and minimal block that are no powers of two", layout{5000, 300}, []sequence.Op{alloc(8192), free(1), alloc(300),
			alloc(513), alloc(5000), alloc(4096), free(3), free(2), free(5), alloc(8192)}, false},
		{"a minimal block that is raised to 256", layout{2048, 1}, append(repeat(8, alloc(1)), alloc(1), free(5), alloc(200)), false},
		{"all minimal blocks, freed from the first", sixteen, fillAndFree(16, func(i int) int { return i }), false},
		{"all minimal blocks, freed from the last", sixteen, fillAndFree(16, func(i int) int { return 15 - i }), false},
		{"all minimal blocks, freed crosswise", sixteen, fillAndFree(16, func(i int) int { return i * 5 % 16 }), false},
		{"every other block freed", sixteen, append(append(repeat(16, alloc(256)), pick(16, 2, 0)...),
			alloc(512), alloc(256), free(18), alloc(512)), false},
		{"many blocks, every other freed, then two far apart", layout{1 << 15, 256}, slices.Concat(repeat(128, alloc(256)), pick(128, 2, 0),
			repeat(65, alloc(1)), []sequence.Op{free(2), free(102), alloc(1), alloc(1)}), false},
		{"neighbours that are no buddies", sixteen, []sequence.Op{alloc(1024), alloc(1024), alloc(1024), alloc(1024), free(2), free(3),
			alloc(2048), free(1), alloc(2048), free(4), alloc(2048)}, false},
		{"a buddy that is itself in halves", sixteen, []sequence.Op{alloc(1024), alloc(512), alloc(512), alloc(2048), free(1), free(2),
			alloc(2048), alloc(1024), free(3), free(6), alloc(2048)}, false},
		{"blocks next to larger ones", sixteen, []sequence.Op{alloc(256), alloc(2048), alloc(256), alloc(1024), alloc(512), free(2),
			alloc(1024), alloc(1024), free(1), free(3), alloc(512)}, false},
		{"the first block, free all along", sixteen, append(repeat(16, alloc(256)), free(1), free(3), free(4), alloc(512), alloc(1),
			alloc(1), free(2), free(17)), false},
		{"sizes that no block has", sixteen, []sequence.Op{alloc(0), alloc(-1), alloc(4097), alloc(1 << 40), alloc(4096), alloc(0),
			alloc(4097), free(5), shut}, false},
		{"frees that are none", sixteen, []sequence.Op{null, never, alloc(1000), free(1), free(1), alloc(1000), inside(2, 1),
			inside(2, 256), inside(2, 512), inside(2, 1024), inside(2, -256), inside(2, 4096), never, null, free(2), shut}, true},
		{"freed again when it is part of a larger block", sixteen, []sequence.Op{alloc(256), alloc(256), free(1), free(2), free(2),
			free(1), alloc(4096), inside(3, 256), inside(3, 2048), free(3), free(3), shut}, true},
		{"after Close", sixteen, []sequence.Op{alloc(256), alloc(512), shut, alloc(256), free(1), null, alloc(0), shut}, false},
	}
}

func repeat(n int, op sequence.Op) []sequence.Op {
	ops := make([]sequence.Op, n)
	for i := range ops {
		ops[i] = op
	}
	return ops
}

// fillAndFree allocates n minimal blocks and one more, frees all in an order, and asks for the root.
func fillAndFree(n int, order func(int) int) []sequence.Op {
	ops := append(repeat(n, alloc(256)), alloc(1))
	for i := range n {
		ops = append(ops, free(order(i)+1))
	}
	return append(ops, alloc(int64(n)*256))
}

// pick frees every step-th of n blocks from the given one on.
func pick(n, step, from int) (ops []sequence.Op) {
	for i := from; i < n; i += step {
		ops = append(ops, free(i+1))
	}
	return ops
}

// Bounds of the random sequences.
const (
	randomCount = 6
	randomOps   = 240
	randomBurst = 24 // operations of one kind in a row at most
	randomTop   = 10 // the root's order at most
)

// drawn are the random sequences of a seed. In the second half of them blocks are freed wrongly, too.
func drawn(seed uint64) []workload {
	r := suite.NewRand(seed, caseRandom)
	ws := make([]workload, randomCount)
	for i := range ws {
		l := layout{minBlock: 1 + r.Int64N(2*leastBlock)}
		top := 2 + r.IntN(randomTop-1)
		l.total = l.least()<<top - r.Int64N(l.least()<<(top-1))
		w := workload{name: fmt.Sprintf("random %d", i), layout: l, misuse: i >= randomCount/2}
		w.ops = drawOps(r, l, w.misuse)
		ws[i] = w
	}
	return ws
}

// drawOps draws bursts of allocations and bursts of frees in turns, so that the root fills up and falls apart into
// blocks of all sizes; in the end all is freed, and the root allocated whole.
func drawOps(r *rand.Rand, l layout, misuse bool) []sequence.Op {
	var ops []sequence.Op
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
				ops = append(ops, []sequence.Op{free(any), inside(any, 1+r.Int64N(2*l.least())), inside(any, l.least()),
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
