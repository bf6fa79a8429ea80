package vmmarena

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"cudalab/grader/suite"
	"cudalab/grader/suite/allocator"
	"cudalab/grader/suite/mapping"
	"cudalab/grader/suite/sequence"
	"cudalab/native/sim"
)

// alignment is what blocks begin at multiples of, in bytes.
const alignment = 256

// layout is an arena and the device it is on, in bytes.
type layout struct {
	device      int
	reserve     int64
	granularity int64
	memory      int64 // the device's, a multiple of the granularity; 0 where there is plenty
}

// String is the call that makes the arena.
func (l layout) String() string {
	return fmt.Sprintf("vmmarena.New(%d, %s)", l.device, suite.Literal(l.reserve))
}

// reserved is how many bytes of addresses the arena has.
func (l layout) reserved() int64 { return mapping.RoundUp(l.reserve, l.granularity) }

// workload is one arena and what is done with it.
type workload = allocator.Workload[layout]

var (
	alloc       = allocator.Alloc
	reset, shut = allocator.Reset, allocator.Close
)

// examples are the sequences at the edges, on a device of granularity g. The first calls the methods in the order of
// the skeleton's gaps.
func examples(from sequence.Source) []workload {
	g := from.Granularity
	of := func(name string, reserve int64, ops ...allocator.Op) workload {
		return workload{Name: name, Layout: layout{reserve: reserve, granularity: g}, Ops: ops}
	}
	return []workload{
		of("small blocks", 8*g, alloc(1), alloc(256), alloc(257), alloc(1000), alloc(1), reset, alloc(5), alloc(300), shut),
		of("sizes that no block has", 2*g, alloc(0), alloc(100), alloc(-1), alloc(1<<62), alloc(2*g+1), alloc(100), alloc(0),
			shut), of("a range of one granule", 1, alloc(1), alloc(g-256), alloc(1), reset, alloc(g+1), alloc(g), alloc(1),
			shut),
		of("to the last byte", 3*g-100, alloc(g), alloc(2*g-256), alloc(256), alloc(1), reset, alloc(3*g), alloc(1), shut),
		of("more than is left", 4*g, alloc(g), alloc(3*g+1), alloc(3*g-1), alloc(1), reset, alloc(4*g+1), alloc(2*g),
			alloc(2*g+1), alloc(2*g), shut),
		of("blocks across granules", 64*g, alloc(g-256), alloc(512), alloc(3*g), alloc(g/2), alloc(10*g+1), alloc(1),
			alloc(g), shut), of("a granule at a time", 64*g, append(slices.Repeat([]allocator.Op{alloc(g)}, 48), shut)...),
		of("the same memory again", 32*g, alloc(3*g), reset, alloc(g), alloc(g), alloc(g), alloc(g), reset, reset, alloc(4*g),
			reset, alloc(100), alloc(8*g), reset, alloc(8*g), shut),
		of("never used", 8*g, shut),
		of("after Close", 4*g, alloc(256), shut, alloc(256), alloc(0), reset, shut),
	}
}

// largeBlocks are more than 16 bits can number.
const largeBlocks = 1<<16 + 1000

// large hands out many small blocks and then such as 32 bits cannot measure, twice over.
func large(from sequence.Source) []workload {
	l := layout{reserve: 3<<32 + from.Int64N(1<<30), granularity: from.Granularity}
	ops := make([]allocator.Op, 0, largeBlocks+largeBlocks>>8+50)
	for round := range 2 {
		for range largeBlocks >> (8 * round) {
			ops = append(ops, alloc(1+from.Int64N(1<<16)))
		}
		for _, size := range []int64{1 << 31, 1<<32 - 255, 1<<32 + 1, 1 << 36, 1<<63 - 1, 1<<63 - 256, 1 << 62, -1 << 63,
			l.reserve} {
			ops = append(ops, alloc(size), alloc(1+from.Int64N(1<<20)))
		}
		ops = append(ops, reset)
	}
	return []workload{{Name: "many blocks", Layout: l, Ops: append(ops, alloc(l.reserve), shut, shut)}}
}

// The most of what far arenas have: there are addresses for all of them at once, and memory may come by the granule.
const (
	farReserve    = 1 << 44
	farMemory     = 1 << 34
	farLifeMemory = 1 << 27
)

// far are a few operations on arenas of reserves from all over their domain, and on one all sizes.
func far(from sequence.Source) (ws []workload) {
	for i, reserve := range suite.Everywhere(from.Rand, 1, farReserve) {
		l := layout{reserve: int64(reserve), granularity: from.Granularity}
		some := func() allocator.Op { return alloc(allocator.Within(from.Rand, min(l.reserved(), farMemory))) }
		ops := []allocator.Op{reset, some(), some(), alloc(l.reserved() + 1), reset, some(), some(), alloc(1), shut, shut}
		ws = append(ws, workload{Name: fmt.Sprintf("far %d", i), Layout: l, Ops: ops[from.IntN(2):]})
	}
	sizes := workload{Name: "all sizes", Layout: layout{reserve: farMemory, granularity: from.Granularity}}
	for _, size := range suite.Everywhere(from.Rand, 0, math.MaxInt64) {
		sizes.Ops = append(sizes.Ops, alloc(int64(size)), alloc(-1-int64(size)), reset)
	}
	return append(ws, sizes)
}

// farLives are such arenas that grow, are reset, and closed with blocks handed out.
func farLives(from sequence.Source) (ws []workload) {
	for _, reserve := range suite.Everywhere(from.Rand, 1, farReserve) {
		l := layout{reserve: int64(reserve), granularity: from.Granularity}
		some := func() allocator.Op {
			return alloc(allocator.Within(from.Rand, max(min(l.reserved(), farLifeMemory)/4, 1)))
		}
		ws = append(ws, workload{Layout: l, Ops: []allocator.Op{reset, some(), some(), some(), reset, some(), some(), shut}})
	}
	return ws
}

// Bounds of the random sequences.
const (
	randomCount = 4
	randomOps   = 60
	randomTop   = 64 // granules reserved at most
)

// drawn are random sequences.
func drawn(from sequence.Source) []workload {
	ws, g := make([]workload, randomCount), from.Granularity
	for i := range ws {
		l := layout{reserve: g*(2+from.Int64N(randomTop-1)) - from.Int64N(g), granularity: g}
		ws[i] = workload{Name: fmt.Sprintf("random %d", i), Layout: l, Ops: drawOps(from.Rand, g, l.reserved())}
	}
	return ws
}

// both are the examples and random sequences.
func both(from sequence.Source) []workload { return append(examples(from), drawn(from)...) }

// drawOps draws operations that fill so many bytes a few times over, with every mistake in between.
func drawOps(r *rand.Rand, g, room int64) []allocator.Op {
	var ops []allocator.Op
	used := int64(0)
	for len(ops) < randomOps {
		size := drawSize(r, g)
		switch k := r.IntN(30); {
		case k == 0:
			ops = append(ops, alloc([]int64{0, -1 - r.Int64N(1000), room + 1, 1 << 62}[r.IntN(4)]))
			continue
		case k == 1:
			size = room - used // to the last byte, or nothing
		case k == 2 || used > room:
			ops = append(ops, reset)
			used = 0
			continue
		}
		ops = append(ops, alloc(size))
		used += mapping.RoundUp(size, alignment)
	}
	return append(ops, shut, alloc(1), shut)
}

// drawSize draws small sizes as often as sizes of some granules.
func drawSize(r *rand.Rand, g int64) int64 {
	top := []int64{1000, g / 8, g, 4 * g}[r.IntN(4)]
	return 1 + r.Int64N(top)
}

// The devices that no GPU is: the seed draws how they differ.

func fine(seed uint64) sim.Options {
	r := suite.NewRand(seed, "devices fine")
	return sim.Options{Granularity: 64 << 10 << r.IntN(4)} // 64 KiB to 512 KiB
}

func coarse(seed uint64) sim.Options {
	r := suite.NewRand(seed, "devices coarse")
	return sim.Options{Granularity: 4 << 20 << r.IntN(3)} // 4 MiB to 16 MiB
}

// scarce has room for some granules only.
func scarce(seed uint64) sim.Options {
	r := suite.NewRand(seed, "devices memory")
	g := uint64(1<<20) << r.IntN(3)
	return sim.Options{Granularity: g, Memory: g * (24 + r.Uint64N(24))}
}

// nearlyFull are the sequences on a device that runs out of memory.
func nearlyFull(from sequence.Source) []workload {
	o := scarce(from.Seed)
	g, m := int64(o.Granularity), int64(o.Memory)
	half := m / g / 2 * g
	of := func(name string, ops ...allocator.Op) workload {
		return workload{Name: name, Layout: layout{reserve: 8 * m, granularity: g, memory: m}, Ops: ops}
	}
	ws := []workload{
		of("more than half of the memory", alloc(half+g), alloc(m-half-2*g), alloc(g), alloc(1), shut),
		of("all but a granule", alloc(m-g), alloc(g+1), alloc(100), alloc(g), alloc(100), reset, alloc(m), shut),
		of("much too large", alloc(2*m), alloc(g), alloc(4*m), alloc(g), alloc(m), alloc(m-2*g), alloc(1), shut),
		of("again and again", alloc(half), alloc(m), alloc(m), alloc(m), alloc(half), reset, alloc(m+1), alloc(m), shut),
	}
	for i := range 2 {
		ws = append(ws, of(fmt.Sprintf("random %d", i), drawOps(from.Rand, 2*g, m+4*g)...))
	}
	return ws
}
