package vmmarena

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"cudalab/grader/suite"
	"cudalab/grader/suite/sequence"
	"cudalab/native/sim"
)

// alignment is what blocks begin at multiples of, in bytes.
const alignment = 256

// layout is an arena and the device it is on, in bytes.
type layout struct {
	reserve     int64
	granularity int64
	memory      int64 // the device's, a multiple of the granularity; 0 where there is plenty
}

// String is the call that makes the arena.
func (l layout) String() string { return fmt.Sprintf("vmmarena.New(0, %d)", l.reserve) }

// reserved is how many bytes of addresses the arena has.
func (l layout) reserved() int64 { return roundUp(l.reserve, l.granularity) }

// most is how many bytes the arena may hold when at most so many have been used at a time.
func (l layout) most(peak int64) int64 { return roundUp(max(2*peak, l.granularity), l.granularity) }

func roundUp(n, unit int64) int64 { return (n + unit - 1) / unit * unit }

// workload is one arena and what is done with it.
type workload struct {
	name   string // under which its answers are noted
	layout layout
	ops    []sequence.Op
}

func alloc(size int64) sequence.Op { return sequence.Op{Kind: sequence.Alloc, Size: size} }

var (
	reset = sequence.Op{Kind: sequence.Reset}
	shut  = sequence.Op{Kind: sequence.Close}
)

// examples are the sequences at the edges, on a device of granularity g. The first calls the methods in the order of the
// skeleton's gaps.
func examples(g int64) []workload {
	of := func(name string, reserve int64, ops ...sequence.Op) workload {
		return workload{name, layout{reserve: reserve, granularity: g}, ops}
	}
	return []workload{
		of("small blocks", 8*g, alloc(1), alloc(256), alloc(257), alloc(1000), alloc(1), reset, alloc(5), alloc(300), shut),
		of("sizes that no block has", 2*g, alloc(0), alloc(100), alloc(-1), alloc(1<<62), alloc(2*g+1), alloc(100), alloc(0), shut),
		of("a range of one granule", 1, alloc(1), alloc(g-256), alloc(1), reset, alloc(g+1), alloc(g), alloc(1), shut),
		of("to the last byte", 3*g-100, alloc(g), alloc(2*g-256), alloc(256), alloc(1), reset, alloc(3*g), alloc(1), shut),
		of("more than is left", 4*g, alloc(g), alloc(3*g+1), alloc(3*g-1), alloc(1), reset, alloc(4*g+1), alloc(2*g), alloc(2*g+1),
			alloc(2*g), shut),
		of("blocks across granules", 64*g, alloc(g-256), alloc(512), alloc(3*g), alloc(g/2), alloc(10*g+1), alloc(1), alloc(g), shut),
		of("a granule at a time", 64*g, append(slices.Repeat([]sequence.Op{alloc(g)}, 48), shut)...),
		of("the same memory again", 32*g, alloc(3*g), reset, alloc(g), alloc(g), alloc(g), alloc(g), reset, reset, alloc(4*g), reset,
			alloc(100), alloc(8*g), reset, alloc(8*g), shut),
		of("never used", 8*g, shut),
		of("after Close", 4*g, alloc(256), shut, alloc(256), alloc(0), reset, shut),
	}
}

// Bounds of the random sequences.
const (
	randomCount = 4
	randomOps   = 60
	randomTop   = 64 // granules reserved at most
)

// drawn are the random sequences of a case.
func drawn(seed uint64, caseID string, g int64) []workload {
	r := suite.NewRand(seed, caseID)
	ws := make([]workload, randomCount)
	for i := range ws {
		l := layout{reserve: g*(2+r.Int64N(randomTop-1)) - r.Int64N(g), granularity: g}
		ws[i] = workload{fmt.Sprintf("random %d", i), l, drawOps(r, l.granularity, l.reserved())}
	}
	return ws
}

// drawOps draws operations that fill so many bytes a few times over, with every mistake in between.
func drawOps(r *rand.Rand, g, room int64) []sequence.Op {
	var ops []sequence.Op
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
		used += roundUp(size, alignment)
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
	r := suite.NewRand(seed, "devices "+caseFine)
	return sim.Options{Granularity: 64 << 10 << r.IntN(4)} // 64 KiB to 512 KiB
}

func coarse(seed uint64) sim.Options {
	r := suite.NewRand(seed, "devices "+caseCoarse)
	return sim.Options{Granularity: 4 << 20 << r.IntN(3)} // 4 MiB to 16 MiB
}

// scarce has room for some granules only.
func scarce(seed uint64) sim.Options {
	r := suite.NewRand(seed, "devices "+caseMemory)
	g := uint64(1<<20) << r.IntN(3)
	return sim.Options{Granularity: g, Memory: g * (24 + r.Uint64N(24))}
}

// nearlyFull are the sequences on a device that runs out of memory.
func nearlyFull(seed uint64) []workload {
	o := scarce(seed)
	g, m := int64(o.Granularity), int64(o.Memory)
	plenty := layout{reserve: 8 * m, granularity: g, memory: m}
	half := m / g / 2 * g
	ws := []workload{
		{"more than half of the memory", plenty, []sequence.Op{alloc(half + g), alloc(m - half - 2*g), alloc(g), alloc(1), shut}},
		{"all but a granule", plenty, []sequence.Op{alloc(m - g), alloc(g + 1), alloc(100), alloc(g), alloc(100), reset, alloc(m), shut}},
		{"much too large", plenty, []sequence.Op{alloc(2 * m), alloc(g), alloc(4 * m), alloc(g), alloc(m), alloc(m - 2*g), alloc(1), shut}},
		{"again and again", plenty, []sequence.Op{alloc(half), alloc(m), alloc(m), alloc(m), alloc(half), reset, alloc(m + 1), alloc(m), shut}},
	}
	r := suite.NewRand(seed, caseMemory)
	for i := range 2 {
		ws = append(ws, workload{fmt.Sprintf("random %d", i), plenty, drawOps(r, 2*g, m+4*g)})
	}
	return ws
}
