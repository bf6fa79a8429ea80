package streampool

import (
	"fmt"
	"math"

	"cudalab/grader/suite"
	"cudalab/grader/suite/allocator"
)

// layout is what New is called with.
type layout struct {
	step  int64
	limit int64 // of the upstream
	side  bool  // whose memory lies side by side
	quiet bool  // nobody asks for Stats, which may put right what was put off
	// ordered: the upstream's memory is there in stream order, and not at once
	ordered bool
}

func (l layout) String() string {
	words := fmt.Sprintf("streampool.New(up, %s)", suite.Literal(l.step))
	if l.limit > 0 {
		words += fmt.Sprintf(", where up has %d bytes", l.limit)
	}
	if l.ordered {
		words += ", which it hands out in stream order"
	}
	if l.quiet {
		words += " and nobody asks for Stats"
	}
	return words
}

// workload is one pool and what is done with it.
type workload = allocator.Workload[layout]

const (
	a = allocator.Stream(1 + iota)
	b
	c
	d
	legacy = allocator.Legacy
)

// The operations, each with its stream.
func alloc(size int64, s allocator.Stream) allocator.Op { return allocator.Alloc(size).In(s) }
func free(block int, s allocator.Stream) allocator.Op   { return allocator.Free(block).In(s) }
func inside(block int, at int64, s allocator.Stream) allocator.Op {
	return allocator.FreeInside(block, at).In(s)
}
func unknown(address int64, s allocator.Stream) allocator.Op {
	return allocator.FreeUnknown(address).In(s)
}
func null(s allocator.Stream) allocator.Op { return allocator.FreeNull.In(s) }

var busy, wait, destroy, idle, shut = allocator.Busy, allocator.Wait, allocator.Destroy, allocator.Idle, allocator.Close
var forget, trim = allocator.Forget, allocator.Trim

// of is a sequence on a pool with such a step and limit.
func of(name string, step, limit int64, ops ...allocator.Op) workload {
	return workload{Name: name, Layout: layout{step: step, limit: limit}, Ops: append(ops, shut, shut)}
}

// beside is a sequence whose upstream hands out chunks side by side.
func beside(name string, step, limit int64, ops ...allocator.Op) workload {
	w := of(name, step, limit, ops...)
	w.Layout.side = true
	return w
}

// quiet is a sequence in which nobody asks for Stats.
func quiet(name string, step, limit int64, ops ...allocator.Op) workload {
	w := of(name, step, limit, ops...)
	w.Layout.quiet = true
	return w
}

// examples are the sequences at the edges.
func examples() []workload {
	return []workload{
		of("one block", 4096, 4096, alloc(4096, a), free(1, a), alloc(4096, a), free(2, a)),
		of("cut and joined", 4096, 4096, alloc(256, a), alloc(257, a), alloc(1, a), free(2, a), alloc(300, a), free(1, a),
			free(3, a), free(4, a), alloc(4096, a), free(5, a)), of("joined from the right", 1024, 1024, alloc(256, a),
			alloc(256, a), alloc(256, a), alloc(256, a), free(4, a), free(3, a), free(2, a), free(1, a), alloc(1024, a)),
		of("joined in the middle", 1024, 1024, alloc(256, a), alloc(256, a), alloc(256, a), alloc(256, a), free(1, a),
			free(3, a), free(2, a), alloc(768, a), free(5, a), alloc(513, a)),
		of("the better of two holes", 4096, 4096, alloc(1024, a), alloc(256, a), alloc(512, a), alloc(256, a), alloc(2048, a),
			free(1, a), free(3, a), alloc(512, a), alloc(1024, a)), of("two streams, one chunk", 4096, 4096, busy(a),
			alloc(4096, a), free(1, a), alloc(4096, b), free(2, b), alloc(4096, a), free(3, a)),
		of("the rest of what was taken", 4096, 4096, busy(a), alloc(4096, a), free(1, a), alloc(1024, b), alloc(1024, c),
			alloc(2048, c), free(2, b), free(3, c), free(4, c), alloc(4096, d)),
		of("the rest, behind the taker", 4096, 4096, busy(a), alloc(4096, a), free(1, a), busy(b), alloc(1024, b), free(2, b),
			alloc(3072, b), alloc(1024, c), free(3, b), free(4, c)), of("several owners", 4096, 4096, busy(a), busy(b),
			alloc(2048, a), alloc(2048, a), free(1, a), free(2, b), alloc(4096, c), free(3, c), alloc(1024, b), alloc(3072, a)),
		of("several owners, and a rest", 4096, 4096, busy(a), alloc(1024, a), alloc(1024, a), alloc(2048, a), free(1, a),
			free(2, b), free(3, c), alloc(1536, d), alloc(512, legacy), alloc(2048, a), free(4, d), free(5, legacy), free(6, a),
			alloc(4096, b)),
		of("the rest of a chunk that came for another", 4096, 8192, alloc(4096, a), busy(b), alloc(1024, b), alloc(1024, c),
			free(3, c), free(2, b), alloc(4096, d)),
		of("a chunk that came behind a free", 2048, 6144, alloc(2048, a), alloc(1024, b), free(2, b), busy(b), alloc(2048, b),
			alloc(1024, b), alloc(1024, c), free(5, c)),
		of("several owners, one of which has given nothing back", 4096, 8192, alloc(4096, a), alloc(1024, b), busy(c),
			free(2, c), alloc(4096, d)), of("one's pieces among another's", 2048, 2048, busy(a), busy(b), alloc(256, a),
			alloc(256, a), alloc(256, a), alloc(256, a), alloc(256, a), alloc(256, a), alloc(256, a),
			alloc(256, a), free(1, a), free(2, b), free(3, a), free(4, b), free(5, a), free(6, b), free(7, a), free(8, b),
			alloc(2048, c)),
		of("several owners, then a third", 4096, 4096, busy(a), busy(b), alloc(2048, a), alloc(2048, a), free(1, a),
			free(2, b), alloc(3072, c), alloc(1024, d), free(3, c), free(4, d)),
		of("one's own part of several", 4096, 4096, busy(a), alloc(1024, a), alloc(1024, a), alloc(2048, a), free(1, b),
			free(2, a), free(3, b), alloc(4096, b), free(4, b)), of("the second stream comes with a free", 2048, 2048, busy(a),
			alloc(1024, a), alloc(1024, a), free(1, a), free(2, b), alloc(1024, c), alloc(1024, c), free(3, a)),
		of("refused, and then served", 1024, 1024, alloc(1024, a), alloc(1, a), alloc(1, b), free(1, a), busy(a),
			alloc(1, b)), of("new memory rather than a wait", 1024, 4096, busy(a), alloc(1024, a), free(1, a), alloc(1024, b),
			free(2, b), busy(b), alloc(1024, c), alloc(1024, a), alloc(1024, b)),
		of("one's own rather than new memory", 1024, 8192, busy(b), alloc(1024, a), alloc(1024, b), free(1, a), free(2, b),
			alloc(512, a), alloc(512, a), alloc(1024, b), alloc(1024, b), free(3, a), alloc(256, a)),
		of("what is done rather than new memory", 1024, 8192, alloc(1024, a), alloc(1024, b), free(1, a), free(2, b), idle,
			alloc(1024, c), idle, alloc(1024, c), idle, alloc(256, a)), of("one that is busy, and one that is through", 1024,
			8192, busy(a), alloc(1024, a), alloc(1024, b), free(1, a), free(2, b), wait(b), alloc(1024, c), free(3, c), wait(c),
			alloc(512, b)),
		of("work behind a free", 1024, 1024, alloc(1024, a), free(1, a), alloc(512, b), busy(b), alloc(512, a), free(2, b),
			busy(b), alloc(512, c), free(3, a), busy(a), alloc(512, c)),
		of("forgotten and destroyed", 4096, 4096, busy(a), alloc(4096, a), free(1, a), forget(a), destroy(a), alloc(4096, b),
			free(2, b), alloc(1024, c)), of("forgotten with a block out", 4096, 4096, busy(a), alloc(2048, a), alloc(1024, b),
			wait(a), forget(a), destroy(a), free(1, b), free(2, b), alloc(4096, b), free(3, b)),
		of("forgotten among others", 2048, 4096, busy(a), alloc(1024, a), alloc(1024, b), free(1, a), free(2, b), forget(a),
			destroy(a), forget(b), destroy(b), alloc(4096, c), alloc(2048, c), alloc(2048, d)),
		of("forgotten with work behind its free", 1024, 1024, alloc(512, a), alloc(512, b), free(1, a), busy(a), forget(a),
			destroy(a), alloc(512, c)), of("forgotten, and back", 2048, 2048, busy(a), alloc(1024, a), free(1, a), forget(a),
			alloc(2048, a), free(2, a), forget(a), forget(a), alloc(1024, b), alloc(1024, a), free(3, a), free(4, a)),
		of("forgotten with all out, and back", 1024, 8192, alloc(1024, a), alloc(1024, b), forget(a), free(1, a), idle,
			alloc(1024, c), free(2, b), free(3, c)), of("forgotten before it came", 2048, 2048, forget(a), alloc(1024, b),
			forget(a), forget(c), free(1, b), alloc(2048, a), forget(b), destroy(b), free(2, a)),
		beside("chunks side by side", 1024, 4096, alloc(1024, a), alloc(1024, a), free(1, a), free(2, a), alloc(2048, a),
			free(3, a), alloc(1025, a), alloc(1024, a), alloc(1024, a), alloc(256, a)),
		beside("chunks side by side, of two streams", 1024, 3072, alloc(1024, a), alloc(1024, b), free(1, a), free(2, b),
			alloc(2048, c), alloc(1024, c), alloc(1024, c)), of("less than a step left", 2048, 3072, alloc(2048, a),
			alloc(2048, a), alloc(1024, a), alloc(1, a), free(1, a), free(2, a), alloc(1024, b), alloc(2048, b), free(3, b),
			free(4, b)),
		of("limit reached, given back, and again", 2048, 4096, alloc(2048, a), alloc(2048, a), alloc(1, a), free(1, a),
			free(2, a), alloc(4096, a), trim(0), alloc(4096, a), free(5, a), alloc(4097, a)),
		of("more than a step", 256, 1<<20, alloc(100_000, a), alloc(256, a), alloc(70_000, b), free(1, a), free(3, b),
			alloc(100_000, a), alloc(70_000, b)), of("sizes that are none", 1024, 2048, alloc(0, a), alloc(-1, a),
			alloc(math.MinInt64, a), alloc(1<<62+1, a), alloc(math.MaxInt64, a), alloc(1, a), alloc(0, a), free(6, a)),
		of("sizes that nobody has", 1024, 2048, alloc(1<<31, a), alloc(1<<32, a), alloc(1<<32+1, a), alloc(1<<62, a),
			alloc(1<<62-1, a), alloc(2048, a), alloc(1<<62, a), free(6, a), alloc(1<<31, a)),
		of("frees that are none", 2048, 4096, null(a), unknown(0x1234, a), alloc(512, a), alloc(512, a), free(1, a),
			free(1, a), inside(2, 1, a), inside(2, 256, a), inside(2, 512, a), unknown(-256, a),
			null(a), free(2, a), free(2, a), alloc(1024, a), inside(3, 512, a), free(3, b), free(3, a), free(3, b)),
		quiet("the rest, and more", 4096, 4096, alloc(1024, a), alloc(4096, b), alloc(3072, b)),
		quiet("given back at once", 1024, 1024, alloc(1024, a), free(1, a), alloc(1024, a), alloc(256, b)),
		quiet("given back behind its neighbour", 1024, 1024, alloc(512, a), alloc(512, a), free(1, a), alloc(512, a),
			free(2, b), free(3, a), alloc(1024, c)), comingAndGoing(),
		of("after Close", 1024, 4096, alloc(1024, a), alloc(1024, b), shut, alloc(256, a), alloc(0, a), free(1, a), null(b),
			forget(a), trim(0), trim(-1)), of("closed as it was made", 1024, 4096),
		of("closed while a stream works", 1024, 4096, busy(a), alloc(1024, a), free(1, a)),
		of("closed while several work", 1024, 4096, busy(a), busy(b), alloc(1024, a), alloc(512, b), alloc(256, b),
			free(1, a), free(2, b), free(3, a)),
	}
}

// comingAndGoing is a block that goes from one stream to the next. Each is forgotten when it owns nothing any more.
func comingAndGoing() workload {
	const streams = 24 // many more than fewEvents
	ops := []allocator.Op{alloc(1024, a)}
	for i := 1; i < streams; i++ {
		last, next := allocator.Stream(i), allocator.Stream(i+1)
		ops = append(ops, free(i, last), alloc(1024, next), forget(last), destroy(last))
	}
	return of("streams that come and go", 1024, 1024, ops...)
}

// trims are sequences about Trim.
func trims() []workload {
	return []workload{
		of("nothing to trim", 1024, 4096, trim(0), trim(1<<40), trim(-1), trim(math.MinInt64)),
		of("all of it", 1024, 4096, alloc(1024, a), alloc(1024, a), free(1, a), free(2, a), trim(0), trim(0), alloc(1024, a),
			trim(0), free(3, a), trim(0)), of("while a stream works", 1024, 4096, busy(a), alloc(1024, a), free(1, a), trim(0),
			alloc(1024, a)),
		of("while several work", 1024, 4096, busy(a), busy(b), alloc(512, a), alloc(512, a), alloc(1024, b), free(1, a),
			free(2, b), free(3, a), trim(0), alloc(1024, b), free(4, b), trim(1024), trim(0)),
		of("behind what was taken", 2048, 2048, busy(a), alloc(2048, a), free(1, a), alloc(1024, b), free(2, b), trim(0),
			alloc(1, a)), of("with a block in the way", 1024, 4096, alloc(512, a), alloc(512, a), alloc(1024, a), free(1, a),
			free(3, a), trim(0), free(2, a), trim(0)),
		of("to keep some", 1024, 8192, alloc(1024, a), alloc(1024, a), alloc(1024, a), alloc(1024, a), free(1, a), free(2, a),
			free(3, a), trim(3000), trim(2048), trim(2047), free(4, a), trim(1024), trim(1), trim(0)),
		of("chunks of several sizes", 1024, 1<<20, alloc(1024, a), alloc(8192, a), alloc(2048, b), alloc(4096, b), free(1, b),
			free(2, b), free(3, a), free(4, a), trim(14_000), trim(9000), trim(8192), trim(2048), trim(0)),
		of("already below", 1024, 4096, alloc(1024, a), free(1, a), trim(1025), trim(1024), trim(math.MaxInt64),
			alloc(1024, a), free(2, a), trim(1)), of("of forgotten streams", 1024, 4096, busy(a), busy(b), alloc(1024, a),
			alloc(1024, b), free(1, a), free(2, b), forget(a), destroy(a), trim(1024), forget(b), destroy(b), trim(0),
			alloc(1024, c)),
		of("of the only one, forgotten", 1024, 4096, busy(a), alloc(1024, a), free(1, a), forget(a), destroy(a), trim(0),
			alloc(1024, b)), beside("side by side", 1024, 4096, busy(a), alloc(1024, a), alloc(1024, a), alloc(1024, a),
			free(2, a), trim(0), free(1, a), free(3, a), trim(1024), alloc(2048, a), free(4, a), trim(0)),
	}
}
