package slab

import (
	"fmt"
	"math/rand/v2"

	"cudalab/grader/suite"
	"cudalab/grader/suite/sequence"
)

// workload is one allocator and what is done with it.
type workload struct {
	name    string // under which its answers are noted
	classes []int64
	blocks  int // in each class
	ops     []sequence.Op
}

// label is the call that makes the allocator.
func (w *workload) label() string { return fmt.Sprintf("slab.New(%v, %d)", w.classes, w.blocks) }

func alloc(size int64) sequence.Op { return sequence.Op{Kind: sequence.Alloc, Size: size} }
func free(block int) sequence.Op   { return sequence.Op{Kind: sequence.Free, Block: block} }
func inside(block int, offset int64) sequence.Op {
	return sequence.Op{Kind: sequence.FreeInside, Block: block, Size: offset}
}
func unknown(address int64) sequence.Op {
	return sequence.Op{Kind: sequence.FreeUnknown, Size: address}
}

var (
	null  = sequence.Op{Kind: sequence.FreeNull}
	shut  = sequence.Op{Kind: sequence.Close}
	never = unknown(0x1234) // no address that anyone hands out: it is not even aligned
)

// examples are the sequences at the edges.
func examples() []workload {
	return []workload{
		{"one block", []int64{256}, 1, []sequence.Op{
			alloc(1), alloc(1), free(1), alloc(256), alloc(256), free(3), shut, shut}},
		{"sizes at the edges of the classes", []int64{256, 512, 2048}, 4, []sequence.Op{
			alloc(256), alloc(257), alloc(512), alloc(513), alloc(2048), alloc(1), alloc(2049), alloc(0), alloc(-1), alloc(1 << 62),
			free(1), free(2), free(3), free(4), free(5), free(6), shut}},
		{"spilling upward through every class", []int64{256, 768, 1024, 4096}, 2, []sequence.Op{
			alloc(100), alloc(100), alloc(100), alloc(100), alloc(100), alloc(100), alloc(100), alloc(100), alloc(100),
			alloc(4096), free(3), alloc(900), alloc(700), alloc(200), free(8), alloc(4000), free(1), alloc(300), alloc(256), shut}},
		{"no spilling downward", []int64{256, 512}, 1, []sequence.Op{
			alloc(512), alloc(400), alloc(300), alloc(256), free(1), alloc(300), shut}},
		{"frees that are none", []int64{512, 1024}, 3, []sequence.Op{
			null, never, alloc(300), free(1), free(1), alloc(1000), inside(2, 1), inside(2, 256), inside(2, 512), inside(2, 1024), never,
			unknown(-256), null, free(2), free(2), alloc(512), alloc(512), alloc(512), inside(5, 256), inside(5, 511), free(4), free(4),
			alloc(512), free(3), shut}},
		{"everything out and back, and again", []int64{256, 512}, 3, []sequence.Op{
			alloc(256), alloc(256), alloc(256), alloc(512), alloc(512), alloc(512), free(2), free(5), free(1), free(6), free(3), free(4),
			alloc(512), alloc(256), alloc(512), alloc(256), alloc(256), alloc(512), alloc(1), shut}},
		{"after Close", []int64{256}, 2, []sequence.Op{
			alloc(256), alloc(256), shut, alloc(256), free(1), null, alloc(0), shut}},
	}
}

// Bounds of the random sequences.
const (
	randomCount = 6
	randomOps   = 160
)

// drawn are the random sequences of a seed.
func drawn(seed uint64) []workload {
	r := suite.NewRand(seed, caseRandom)
	ws := make([]workload, randomCount)
	for i := range ws {
		w := workload{name: fmt.Sprintf("random %d", i), blocks: 1 + r.IntN(8)}
		size := int64(0)
		for range 1 + r.IntN(4) {
			size += 256 * (1 + r.Int64N(5))
			w.classes = append(w.classes, size)
		}
		w.ops = drawOps(r, w.classes, w.blocks)
		ws[i] = w
	}
	return ws
}

// drawOps draws operations that fill the classes and empty them again in turns, with every mistake in between.
func drawOps(r *rand.Rand, classes []int64, blocksPerClass int) []sequence.Op {
	var ops []sequence.Op
	var out []int // blocks that a right allocator has most likely handed out
	blocks, filling := 0, true
	capacity := len(classes) * blocksPerClass
	for len(ops) < randomOps {
		switch {
		case len(out) > capacity:
			filling = false
		case len(out) == 0:
			filling = true
		}
		any := 1 + r.IntN(max(blocks, 1))
		switch k := r.IntN(20); {
		case k == 0:
			ops = append(ops, inside(any, 1+r.Int64N(classes[len(classes)-1])))
		case k == 1:
			ops = append(ops, free(any))
		case k == 2:
			ops = append(ops, []sequence.Op{null, never, unknown(-256), unknown(1 << 40)}[r.IntN(4)])
		case k == 3:
			ops = append(ops, alloc([]int64{0, -r.Int64N(1000), classes[len(classes)-1] + 1 + r.Int64N(100)}[r.IntN(3)]))
			blocks++
		case filling == (k < 15) || len(out) == 0:
			c := classes[r.IntN(len(classes))]
			ops = append(ops, alloc(max(c-r.Int64N(300), 1)))
			blocks++
			out = append(out, blocks)
		default:
			i := r.IntN(len(out))
			ops = append(ops, free(out[i]))
			out[i] = out[len(out)-1]
			out = out[:len(out)-1]
		}
	}
	return append(ops, shut, shut)
}
