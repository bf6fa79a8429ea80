package tracker

import (
	"fmt"
	"math"

	"cudalab/grader/suite"
	"cudalab/grader/suite/allocator"
	"cudalab/grader/suite/sequence"
	"cudalab/native/cuda"
)

var free, inside, unknown = allocator.Free, allocator.FreeInside, allocator.FreeUnknown

var null, never, shut = allocator.FreeNull, allocator.FreeNever, allocator.Close

// Tags, by number.
const (
	none = iota + 1
	a
	b
	c
)

// over is a workload over so much memory, of which all may be live: it is inner that has no room.
func over(name string, in kind, bytes int64, ops ...allocator.Op) workload {
	return limited(name, in, bytes, 4*bytes, ops...)
}

// limited is one with a limit.
func limited(name string, in kind, bytes, limit int64, ops ...allocator.Op) workload {
	return workload{Name: name, Layout: layout{inner: in, bytes: bytes, limit: limit}, Ops: append(ops, shut)}
}

// calls are the sequences that a tracker gets through before it has a Report.
func calls() []workload {
	all := []workload{
		over("one block", firstFit, 4096, alloc(300, a), free(1), free(1)),
		limited("sizes that cannot be", firstFit, 4096, 4096, alloc(0, a), alloc(-1, a), alloc(math.MinInt64, a),
			alloc(4097, a), alloc(1<<62+1, a), alloc(math.MaxInt64, a), alloc(4096, a), alloc(1, b), free(7), free(8)),
		over("frees that are none", firstFit, 4096, null, never, alloc(300, a), inside(1, 1), inside(1, 256), free(1),
			free(1), null, unknown(1<<40), alloc(500, b), alloc(500, c), inside(2, 512), unknown(-256), free(2), free(3),
			free(3)),
		limited("up to the limit", firstFit, 4096, 1000, alloc(600, a), alloc(400, b), alloc(1, c), free(1), alloc(601, a),
			alloc(600, a), alloc(1001, a)), over("one chance", firstFit, 1024, alloc(512, a), alloc(512, b), alloc(256, c),
			onFull(freeOldest), alloc(256, c), alloc(512, a), onFull(noFunction), alloc(512, a)),
	}
	for i := range all {
		all[i].Layout.silent = true
	}
	return all
}

// examples are the sequences at the edges of what is reported.
func examples() []workload {
	return []workload{
		over("nothing", firstFit, 4096, null),
		over("three blocks", firstFit, 1024, alloc(300, a), alloc(200, b), alloc(100, a), free(1), free(3), free(2)),
		over("the middle one stays", firstFit, 768, alloc(256, a), alloc(256, b), alloc(256, a), free(1), free(3),
			alloc(512, c), free(2)), over("all of it", firstFit, 1024, alloc(1024, a), free(1), alloc(256, a), alloc(256, a),
			alloc(256, a), alloc(256, a), free(3), free(4), free(5), free(2)),
		over("sizes at powers of two", firstFit, 1<<14, alloc(1, a), alloc(2, a), alloc(3, a), alloc(4, a), alloc(255, a),
			alloc(256, a), alloc(257, a), alloc(512, a), alloc(513, a), alloc(1024, a), alloc(1025, a), free(6), free(7),
			alloc(256, b)),
		over("tags in order", firstFit, 1<<14, alloc(100, c), alloc(100, a), alloc(100, b), alloc(100, none), alloc(50, b),
			free(1), alloc(300, none), free(3), free(5), free(2), alloc(400, c)),
		over("an address twice", firstFit, 1024, alloc(300, a), free(1), alloc(200, b), free(2), alloc(100, a), alloc(100, a),
			free(3), alloc(100, c)), over("high and low", firstFit, 4096, alloc(1000, a), free(1), alloc(100, b), alloc(100, b),
			alloc(100, b), free(2), free(3), free(4), alloc(999, a)),
		limited("a limit below the memory", firstFit, 4096, 512, alloc(300, a), alloc(212, a), alloc(1, b), free(1),
			alloc(301, b), alloc(300, b)), limited("a limit above the memory", firstFit, 1024, 1<<40, alloc(1024, a),
			alloc(1, b), free(1), alloc(1025, b), alloc(1<<40+1, b), alloc(700, b)),
	}
}

// callbacks are the sequences in which there is no room, with every function of OnFull.
func callbacks() (all []workload) {
	for does := freeOldest; does <= noFunction; does++ {
		all = append(all,
			over(fmt.Sprintf("inner is full: %v", does), firstFit, 1024, onFull(does), alloc(256, a), alloc(512, b),
				alloc(256, c), alloc(256, a), alloc(512, b), alloc(1024, c), alloc(0, a), alloc(1025, a), free(1), free(2)),
			limited(fmt.Sprintf("limit is reached: %v", does), firstFit, 4096, 1000, onFull(does), alloc(300, a), alloc(600, b),
				alloc(200, c), alloc(150, a), alloc(1000, b), alloc(1001, c), free(1), free(2)))
	}
	return append(all,
		limited("first limit, then inner", firstFit, 1024, 1000, onFull(freeOldest), alloc(100, a), alloc(500, b),
			alloc(400, c), alloc(300, a), alloc(600, b)), over("set anew", firstFit, 1024, onFull(sayNo), alloc(1024, a),
			alloc(1, b), onFull(freeOldest), alloc(1, b), alloc(1024, b),
			onFull(noFunction), alloc(1, c)))
}

// refusing are the sequences over allocators that refuse in other ways.
func refusing() []workload {
	return []workload{
		over("errors of CUDA's", failing, 4096, onFull(freeOldest), alloc(300, a), alloc(300, b), alloc(300, c),
			alloc(300, c), free(1), free(1), free(2), free(2), alloc(300, a), alloc(300, b), alloc(4096, c), free(4), free(4)),
		over("blocks that inner disowns", disowning, 4096, onFull(freeOldest), alloc(300, a), alloc(300, b), alloc(300, c),
			alloc(300, c), free(1), free(1), free(2), free(2), alloc(300, a), alloc(300, b), alloc(4096, c), free(4), free(4)),
		over("wrapped errors", wrapping, 1024, alloc(1024, a), alloc(1, b), onFull(freeOldest), alloc(1, b), alloc(1024, c),
			onFull(sayYes), alloc(1024, c), onFull(sayNo), alloc(1024, c), onFull(noFunction), alloc(1024, c)),
		over("sizes that inner refuses", sizing, 4096, onFull(freeOldest), alloc(1024, a), alloc(1025, b), alloc(4096, b),
			alloc(1000, c), free(1)),
	}
}

// Bounds of the random sequences.
const (
	randomCount = 6
	randomOps   = 120
)

// drawn are random sequences.
func drawn(from sequence.Source) []workload {
	ws := make([]workload, randomCount)
	for i := range ws {
		l := layout{inner: []kind{firstFit, firstFit, wrapping, failing}[i%4], bytes: 256 * (8 + from.Int64N(1000))}
		l.limit = l.bytes - l.bytes/3 + from.Int64N(l.bytes)
		ws[i] = workload{Name: fmt.Sprintf("random %d", i), Layout: l, Ops: drawOps(from, l)}
	}
	return ws
}

// drawOps draws operations that fill the memory and empty it again in turns, with every mistake in between.
func drawOps(from sequence.Source, l layout) (ops []allocator.Op) {
	tags := 2 + from.IntN(5)
	blocks, filling := 0, true
	for len(ops) < randomOps {
		any := 1 + from.IntN(max(blocks, 1))
		if from.IntN(12) == 0 {
			filling = !filling
		}
		switch k := from.IntN(20); {
		case k == 0:
			ops = append(ops, inside(any, 1+from.Int64N(512)))
		case k == 1:
			ops = append(ops, []allocator.Op{null, never, unknown(-256), unknown(1 << 40)}[from.IntN(4)])
		case k == 2:
			ops = append(ops, alloc([]int64{0, -from.Int64N(1000), l.limit + 1 + from.Int64N(100)}[from.IntN(3)],
				1+from.IntN(tags)))
			blocks++
		case k == 3:
			// A function shows where there is no room, and of an inner that fails now and then the second Alloc says so.
			does, tag := full(from.Int64N(int64(noFunction)+1)), 1+from.IntN(tags)
			ops = append(ops, onFull(does), alloc(l.limit, tag), alloc(l.limit, tag))
			blocks += 2
		case filling == (k < 15) || blocks == 0:
			ops = append(ops, alloc(1+from.Int64N(l.bytes/8), 1+from.IntN(tags)))
			blocks++
		default:
			ops = append(ops, free(any))
		}
	}
	return append(ops, shut)
}

// far are a few operations on trackers of memory and with limits from all over their domains, and on others all sizes,
// and tags of all lengths.
func far(from sequence.Source) (ws []workload) {
	layouts := suite.Farther(from.Rand, func() layout { return layout{inner: bumping} },
		suite.Number[layout]{Least: 1, Most: math.MaxInt64, Set: func(l *layout, v int) {
			l.bytes = int64(v)
			l.memory = cuda.DevicePtr(1 + from.Uint64N(1<<63-uint64(v)))
		}},
		suite.Number[layout]{Least: 1, Most: math.MaxInt64, Set: func(l *layout, v int) { l.limit = int64(v) }})
	for i, l := range layouts {
		some := func(tag int) allocator.Op {
			return alloc(int64(suite.Somewhere(from.Rand, 1, int(min(l.bytes, l.limit)))), tag)
		}
		does := full(from.Int64N(int64(noFunction) + 1))
		ops := []allocator.Op{some(a), some(b), free(1), free(1), some(a), onFull(does), alloc(l.limit, c), alloc(l.bytes, a),
			some(b), inside(2, 1), free(2), free(3), alloc(-l.limit, a), some(c), shut}
		ws = append(ws, workload{Name: fmt.Sprintf("far %d", i), Layout: l, Ops: ops[from.IntN(2):]})
	}
	all := layout{inner: bumping, memory: 1, bytes: math.MaxInt64, limit: math.MaxInt64}
	sizes := workload{Name: "all sizes", Layout: all}
	for i, size := range suite.Everywhere(from.Rand, 0, math.MaxInt64) {
		sizes.Ops = append(sizes.Ops, alloc(int64(size), a), free(1+2*i), alloc(-1-int64(size), b))
	}
	tags := workload{Name: "tags of all lengths", Layout: all}
	for _, length := range suite.Everywhere(from.Rand, 2, mostLong) {
		tags.Ops = append(tags.Ops, alloc(256, longTags+length))
	}
	return append(ws, sizes, tags)
}

// The large sequences: more blocks and tags than 16 bits can number, and sizes and sums beyond what 32 bits can count.
const (
	largeBlocks = 70_000
	largeTurns  = 1000
)

// away is where the memory of large sequences begins.
const away = 1<<41 + 4096

// large are a sequence of many blocks, each under a tag of its own, and one of few blocks that are huge.
func large(from sequence.Source) []workload {
	most := int64(math.MaxInt64) - away
	ops := make([]allocator.Op, 0, largeBlocks+4*largeTurns+1)
	for i := range largeBlocks {
		ops = append(ops, alloc(1+from.Int64N(1<<20), 1+i))
	}
	for range largeTurns {
		any := 1 + from.IntN(largeBlocks)
		ops = append(ops, free(any), free(any), inside(any, 1+from.Int64N(1000)), alloc(1<<20+from.Int64N(1<<20),
			1+from.IntN(largeBlocks)))
	}
	many := workload{Name: "many blocks", Ops: append(ops, shut),
		Layout: layout{inner: bumping, memory: away, bytes: most, limit: most, rarely: true}}

	sizes := []int64{1 << 31, 1<<31 + 1, 1 << 32, 1<<32 + 1, 1 << 40, 1<<33 - 1}
	huge := []allocator.Op{alloc(sizes[from.IntN(6)], a), alloc(1<<32+1, b), alloc(1<<31, c), alloc(1<<40, a), free(1),
		alloc(1<<62, b), alloc(1<<62+1, c), alloc(1<<62, b), alloc(1<<61, c), alloc(math.MaxInt64, a), free(3),
		onFull(freeOldest), alloc(1<<62, a), alloc(1<<61, a), onFull(sayNo), alloc(1<<62, a),
		free(5), alloc(1<<61, a), free(2), free(4), shut}
	return []workload{many,
		{Name: "huge blocks", Layout: layout{inner: bumping, memory: away, bytes: most, limit: math.MaxInt64}, Ops: huge},
		{Name: "huge blocks and a limit", Layout: layout{inner: bumping, memory: 1, bytes: math.MaxInt64,
			limit: 1<<62 + 1<<40}, Ops: huge}}
}
