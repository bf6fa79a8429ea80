package slab

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
	classes []int64
	blocks  int // in each class
}

func (l layout) String() string { return fmt.Sprintf("slab.New(%v, %d)", l.classes, l.blocks) }

// room is how many bytes all blocks have together.
func (l layout) room() (bytes int64) {
	for _, size := range l.classes {
		bytes += size * int64(l.blocks)
	}
	return bytes
}

// workload is one allocator and what is done with it.
type workload = allocator.Workload[layout]

var alloc, free, inside, unknown = allocator.Alloc, allocator.Free, allocator.FreeInside, allocator.FreeUnknown

var null, never, shut = allocator.FreeNull, allocator.FreeNever, allocator.Close

// examples are the sequences at the edges.
func examples() []workload {
	of := func(name string, classes []int64, blocks int, ops ...allocator.Op) workload {
		return workload{Name: name, Layout: layout{classes, blocks}, Ops: ops}
	}
	return []workload{
		of("one block", []int64{256}, 1,
			alloc(1), alloc(2), free(1), alloc(256), alloc(256), free(3), shut, shut),
		of("sizes at the edges of the classes", []int64{256, 512, 2048}, 4,
			alloc(256), alloc(257), alloc(512), alloc(513), alloc(2048), alloc(1), alloc(2049), alloc(0), alloc(-1),
			alloc(1<<62), free(1), free(2), free(3), free(4), free(5), free(6), shut),
		of("spilling upward through every class", []int64{256, 768, 1024, 4096}, 2,
			alloc(100), alloc(100), alloc(100), alloc(100), alloc(100), alloc(100), alloc(100), alloc(100), alloc(100),
			alloc(4096), free(3), alloc(900), alloc(700), alloc(200), free(8), alloc(4000), free(1), alloc(300), alloc(256),
			shut),
		of("no spilling downward", []int64{256, 512}, 1,
			alloc(512), alloc(400), alloc(300), alloc(256), free(1), alloc(300), shut),
		of("frees that are none", []int64{512, 1024}, 3,
			null, never, alloc(300), free(1), free(1), alloc(1000), inside(2, 1), inside(2, 256), inside(2, 512),
			inside(2, 1024), never, unknown(-256), null, free(2), free(2), alloc(512), alloc(512), alloc(512), inside(5, 256),
			inside(5, 511), free(4), free(4), alloc(512), free(3), shut),
		of("everything out and back, and again", []int64{256, 512}, 3,
			alloc(256), alloc(256), alloc(256), alloc(512), alloc(512), alloc(512), free(2), free(5), free(1), free(6), free(3),
			free(4), alloc(512), alloc(256), alloc(512), alloc(256), alloc(256), alloc(512), alloc(2), shut),
		of("classes as before", []int64{256, 512, 2048}, 4, // nothing of an earlier allocator may do for a later one
			alloc(2000), alloc(300), alloc(200), free(2), alloc(400), shut),
		of("after Close", []int64{256}, 2,
			alloc(256), alloc(256), shut, alloc(256), free(1), null, alloc(0), shut),
	}
}

// The large sequence: more blocks than 16 bits can number, in classes that lie more bytes apart than 32 bits can count.
const (
	largeBlocks = 1<<16 + 1000
	largeSpills = 1<<16 + 100
	largeTurns  = 4000
)

// large fills a class and spills out of it, goes on with mistakes while all that is handed out, gives some of it back,
// and spills more often than 16 bits count.
func large(from sequence.Source) []workload {
	l := layout{classes: []int64{256 * (1 + from.Int64N(4)), 1<<26 + 256*from.Int64N(1000)}, blocks: largeBlocks}
	ops := make([]allocator.Op, 0, largeBlocks+largeSpills+6*largeTurns)
	for range largeBlocks + 100 {
		ops = append(ops, alloc(1+from.Int64N(l.classes[0])))
	}
	for range largeTurns {
		any := 1 + from.IntN(largeBlocks)
		switch from.IntN(6) {
		case 0:
			ops = append(ops, free(any), free(any), alloc(l.classes[0]))
		case 1:
			ops = append(ops, inside(any, 1+from.Int64N(l.classes[0])), inside(any, 1<<16*l.classes[0]), inside(any, 1<<32))
		case 2:
			ops = append(ops, alloc(l.classes[1]-from.Int64N(1<<25)))
		case 3:
			ops = append(ops, alloc([]int64{l.classes[1] + 1, 1 << 32, 1<<32 + 1, 1 << 62, 1<<63 - 1, -1 << 63,
				0}[from.IntN(7)]))
		case 4:
			ops = append(ops, free(largeBlocks+1+from.IntN(100)))
		default:
			ops = append(ops, free(any))
		}
	}
	for i := range largeTurns {
		ops = append(ops, free(1+(i*7919)%(largeBlocks+100)))
	}
	for range 2*largeTurns + largeSpills { // what is free of the class, and then the spills
		ops = append(ops, alloc(1+from.Int64N(l.classes[0])))
	}
	return []workload{{Name: "many blocks", Layout: l, Ops: append(ops, alloc(l.classes[1]), shut, shut)}}
}

// threeBlocks draws an allocator of three classes that hands out a block of each, and takes one back.
func threeBlocks(from sequence.Source) workload {
	w := workload{Layout: layout{blocks: 2 + from.IntN(7)}}
	size := int64(0)
	for range 3 {
		w.Ops = append(w.Ops, alloc(size+1+from.Int64N(256)))
		size += 256 * (1 + from.Int64N(5))
		w.Layout.classes = append(w.Layout.classes, size)
	}
	w.Ops = append(w.Ops, free(1+from.IntN(3)), shut)
	return w
}

// The most of what far layouts have.
const (
	farBytes   = 1 << 57 // a class: all of them are held at once
	farBlocks  = 1 << 17
	farClasses = 1 << 7
)

// farLayouts have numbers from all over their domains.
func farLayouts(r *rand.Rand) []layout {
	few := func() layout { return layout{rising(r, 1+r.IntN(3)), 1 + r.IntN(2)} }
	return slices.Concat(
		suite.Farther(r, few, suite.Number[layout]{Least: 1, Most: farBlocks, Set: func(l *layout, v int) { l.blocks = v }}),
		suite.Farther(r, few, suite.Number[layout]{Least: 1, Most: farBytes / 256,
			Set: func(l *layout, v int) {
				l.classes = append(slices.DeleteFunc(l.classes[:1], func(size int64) bool {
					return size >= 256*int64(v)
				}), 256*int64(v))
			}}),
		suite.Farther(r, few, suite.Number[layout]{Least: 1, Most: farClasses,
			Set: func(l *layout, v int) { l.classes = rising(r, v) }}))
}

// rising are so many classes, each a little larger than the one before.
func rising(r *rand.Rand, count int) (classes []int64) {
	last := int64(0)
	for range count {
		last += 256 * (1 + r.Int64N(9))
		classes = append(classes, last)
	}
	return classes
}

// far are a few operations on each of them, and on one all sizes.
func far(from sequence.Source) []workload {
	var ws []workload
	for i, l := range farLayouts(from.Rand) {
		least, most := l.classes[0], l.classes[len(l.classes)-1]
		some := func(most int64) allocator.Op { return alloc(allocator.Within(from.Rand, most)) }
		ops := []allocator.Op{some(most), alloc(least), free(2), free(2), alloc(most), inside(3, 256), some(least),
			alloc(most + 1), free(1), free(3), alloc(most), shut, shut}
		ws = append(ws, workload{Name: fmt.Sprintf("far %d", i), Layout: l, Ops: ops[from.IntN(2):]})
	}
	sizes := workload{Name: "all sizes", Layout: layout{[]int64{256, farBytes}, 2},
		Ops: allocator.EverySize(from.Rand)}
	return append(ws, sizes)
}

// farLives hand out some blocks of such layouts, and take one back.
func farLives(from sequence.Source) (ws []workload) {
	for _, l := range farLayouts(from.Rand) {
		w := workload{Layout: l, Ops: []allocator.Op{alloc(allocator.Within(from.Rand, l.classes[0]))}}
		if blocks := len(l.classes) * l.blocks; blocks > 1 {
			w.Ops = append(w.Ops, alloc(allocator.Within(from.Rand, l.classes[0])))
		}
		ws = append(ws, workload{Layout: l, Ops: append(w.Ops, free(1), shut)})
	}
	return ws
}

// Bounds of the random sequences.
const (
	randomCount = 6
	randomOps   = 160
)

// drawn are random sequences.
func drawn(from sequence.Source) []workload {
	ws := make([]workload, randomCount)
	for i := range ws {
		l := layout{blocks: 1 + from.IntN(8)}
		size := int64(0)
		for range 1 + from.IntN(4) {
			size += 256 * (1 + from.Int64N(5))
			l.classes = append(l.classes, size)
		}
		ws[i] = workload{Name: fmt.Sprintf("random %d", i), Layout: l, Ops: drawOps(from.Rand, l)}
	}
	return ws
}

// drawOps draws operations that fill the classes and empty them again in turns, with every mistake in between.
func drawOps(r *rand.Rand, l layout) []allocator.Op {
	largest := l.classes[len(l.classes)-1]
	var ops []allocator.Op
	var out []int // blocks that a right allocator has most likely handed out
	blocks, filling := 0, true
	capacity := len(l.classes) * l.blocks
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
			ops = append(ops, inside(any, 1+r.Int64N(largest)))
		case k == 1:
			ops = append(ops, free(any))
		case k == 2:
			ops = append(ops, []allocator.Op{null, never, unknown(-256), unknown(1 << 40)}[r.IntN(4)])
		case k == 3:
			ops = append(ops, alloc([]int64{0, -r.Int64N(1000), largest + 1 + r.Int64N(100)}[r.IntN(3)]))
			blocks++
		case filling == (k < 15) || len(out) == 0:
			c := l.classes[r.IntN(len(l.classes))]
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
