package guarded

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"cudalab/grader/proof/sample"
	"cudalab/grader/suites/course"
)

// domain is what the contract says of a number, from its least to its most. Why says why less is asked for, where it
// says more.
type domain struct {
	least, most int64
	why         string
}

// Why a number is not asked for up to the end.
const (
	calls   = "each takes calls of CUDA"
	held    = "the simulated device has to find room for all of it at once"
	blocks  = "the code keeps something of each"
	lanes   = "a warp has 32, and of them few or all are asked for"
	edges   = "open: of larger ones those about 2^32 and at the end alone"
	words   = "the caller's memory has to be there"
	product = "all elements have to find room, so that the larger they are, the fewer there are"
	tenths  = "open: of few words the chunks are a tenth at least"
	tags    = "open: tags begin with a million"
	devices = "there is one device; others are asked for in vain"
)

var (
	upFrom1   = domain{1, math.MaxInt64, ""}
	upFrom0   = domain{0, math.MaxInt64, ""}
	int32s    = domain{1, math.MaxInt32, ""}
	work32    = domain{0, math.MaxInt32, ""}
	fewFrom1  = domain{1, 1 << 7, calls}
	fewFrom0  = domain{0, 1 << 7, calls}
	index     = domain{0, 1<<7 - 1, calls}
	oneDevice = domain{0, 0, devices}
)

// domains are all numbers that functions are given, by package. What is said of the elements of a slice is said of the
// first and the last together.
var domains = map[string]map[string]domain{
	"asyncpipeline": {
		"Run: len(streams)": fewFrom1, "Run: len(batches)": fewFrom0, "Run: batches.N": int32s,
		"Run: batches.Work": work32, "Sums: n": fewFrom1, "Sums: len(batches)": fewFrom0, "Sums: batches.N": int32s,
		"Sums: batches.Work": work32,
	},
	"poolconfig": {
		"Run: config.Device": oneDevice, "Run: config.Threshold": upFrom0, "Run: config.TrimTo": upFrom0,
		"Run: len(config.Streams)": fewFrom1, "Run: len(config.Sizes)": fewFrom1,
		"Run: config.Sizes": {1, 1 << 42, held}, "Run: config.Rounds": fewFrom1,
		"Keep: device": oneDevice, "Keep: threshold": upFrom0, "Lend: device": oneDevice,
	},
	"crossstreamevents": {
		"Share: n": int32s, "FanOut: len(consumers)": fewFrom1, "FanOut: n": int32s, "FanOut: len(outs)": fewFrom1,
		"NewBuffer: bytes": {1, 1 << 58, held},
	},
	"slab": {
		"New: len(classes)": {1, 1 << 7, blocks}, "New: classes": {256, 1 << 57, held},
		"New: blocksPerClass": {1, 1 << 17, blocks}, "Allocator.Alloc: size": upFrom0,
	},
	"buddy": {
		"New: total": {256, 1 << 58, held}, "New: minBlock": {1, 1 << 58, held}, "Allocator.Alloc: size": upFrom0,
	},
	"vmmarena": {
		"New: device": oneDevice, "New: reserve": {1, 1 << 44, held}, "Arena.Alloc: size": upFrom0,
	},
	"measure": {
		"Time: warm": fewFrom0, "Time: rounds": fewFrom1, "Compare: n": int32s, "Compare: rounds": fewFrom1,
	},
	"overlap": {
		"Run: len(streams)": fewFrom1, "Run: in.Len()": {4, 1 << 20, words}, "Run: out.Len()": {4, 1 << 20, words},
		"Run: n": {1, 1 << 18, words}, "Run: chunk": {8, math.MaxInt64, tenths}, "Run: work": work32,
		"Efficiency: len(streams)": fewFrom1, "Efficiency: in.Len()": {64, 1 << 11, words},
		"Efficiency: out.Len()": {64, 1 << 11, words}, "Efficiency: n": {16, 1 << 9, words},
		"Efficiency: chunk": {2, 64, words}, "Efficiency: work": work32,
	},
	"ring": {
		"Run: len(slots)": fewFrom1, "Run: n": int32s, "Run: work": work32, "Run: items": fewFrom0,
	},
	"bugclinic": {
		"Upload: staging.Len()": {64, 1 << 14, words}, "Upload: len(parts)": fewFrom1,
		"Upload: len(parts s)": {1, 1 << 5, words}, "Weights: len(weights)": {4, 1 << 20, words},
		"PingPong: n": int32s, "PingPong: work": work32, "PingPong: steps": fewFrom0, "Merge: n": int32s,
		"Merge: work": work32, "Replace: n": int32s, "Replace: work": work32, "Allocate: n": int32s,
		"Snapshot: n": int32s, "Snapshot: item": {1, math.MaxUint32, ""}, "Scratch: n": int32s,
		"Scratch: work": work32,
	},
	"blockpool": {
		"New: blockSize": {256, 1 << 58, held}, "New: blocks": {1, 1 << 13, blocks},
	},
	"growable": {
		"New: device": oneDevice, "New: elem": {1, 1 << 40, held}, "New: max": {1, 1 << 40, product},
		"Vector.Append: n": upFrom1, "Vector.Shrink: n": {0, 1 << 22, held}, "Vector.Shrink: len(users)": fewFrom0,
	},
	"devicebump": {
		"Alloc: capacity": {16, 1 << 8, edges}, "Alloc: size": {0, 1 << 17, edges},
		"AllocWarp: capacity": {16, 1 << 16, edges}, "AllocWarp: len(sizes)": {0, 4, lanes},
		"AllocWarp: sizes": {8, 127, edges}, "AllocWarp: len(offsets)": {0, 4, lanes},
		"AllocWarp: offsets": {0, 0, "what is there before is of no use"}, "New: len(streams)": fewFrom1,
		"New: bytes": {16, 1 << 42, held}, "Pools.Memory: i": index, "Pools.Launch: i": index,
		"Pools.Launch: n": work32, "Pools.Launch: tag": {1 << 21, math.MaxUint32, tags}, "Pools.Reset: i": index,
	},
	"streampool": {
		"New: step": {256, math.MaxInt64, ""}, "Pool.Alloc: size": upFrom0, "Pool.Trim: keep": upFrom0,
	},
	"tracker": {
		"Wrap: bytes": upFrom1, "Wrap: limit": upFrom1, "Tracker.Alloc: size": upFrom0,
		"Tracker.Alloc: len(tag)": {0, 1 << 16, "a tag is kept"},
	},
}

// domainSeeds are how many seeds have numbers drawn for the test.
const domainSeeds = 2

// TestDomainsAreDrawn reads which numbers come in over some seeds: between any two powers of two of its domain some of
// each, and the least where it is a small one. Of the elements of slices few are seen, and of a product not every
// factor, so three of four will do.
func TestDomainsAreDrawn(t *testing.T) {
	c, err := course.Open("../../..")
	require.NoError(t, err)
	require.Len(t, domains, len(c.Exercises))
	if *lesson == "" {
		drawnOf(t, c, c.Exercises[sample.Few("domains", len(c.Exercises), 1)[0]])
		return
	}
	eachAsked(t, c, func(t *testing.T, e course.Exercise) { drawnOf(t, c, e) })
}

func drawnOf(t *testing.T, c *course.Course, e course.Exercise) {
	p, _, err := Spoilt(c.Root, e.Package)
	require.NoError(t, err)
	b := build(t, c, e, precompile(c, e), p)
	watching, err := observing(b.file)
	require.NoError(t, err)
	all := []Seen{b.seen}
	for b.draws = seed + 1; b.draws < seed+domainSeeds; b.draws++ {
		all = append(all, seenIn(b.check(t, watching, true).Report.Output))
	}
	seen, elements := map[string][]int64{}, map[string]bool{}
	for _, f := range b.functions {
		for i, o := range f.observed {
			if o.kind != number {
				continue
			}
			name := f.name + ": " + strings.ReplaceAll(strings.ReplaceAll(o.name, "the last of ", ""), "[0]", "")
			if strings.Contains(o.name, "len(the last of ") || strings.Contains(o.name, "[0])") {
				name = strings.TrimSuffix(name, ")") + " s)" // of the slices in a slice
			}
			elements[name] = strings.Contains(o.name, "[0]") || strings.Contains(o.name, "the last of ")
			for _, s := range all {
				seen[name] = append(seen[name], s[[2]int{f.index, i}]...)
			}
		}
	}
	known := domains[e.Package]
	for name := range known {
		require.Contains(t, seen, name, "a domain of what no function is given")
	}
	for name, values := range seen {
		d, ok := known[name]
		if !assert.True(t, ok, "%s: domains has to say how far it goes", name) {
			continue
		}
		var missing []string
		from, to := bits.Len64(uint64(d.least)), bits.Len64(uint64(d.most))
		for power := from; power <= to; power++ {
			if !slices.ContainsFunc(values, func(v int64) bool { return v >= 0 && bits.Len64(uint64(v)) == power }) {
				missing = append(missing, fmt.Sprintf("from 2^%d on", power-1))
			}
		}
		few := 0
		if elements[name] || d.why == product {
			few = (to - from + 1) / 4
		}
		assert.LessOrEqual(t, len(missing), few, "%s, by the contract from %d to %d, is never drawn %s", name, d.least,
			d.most, strings.Join(missing, ", "))
		if d.least <= 4 {
			assert.Contains(t, values, d.least, "%s is never its least", name)
		}
	}
}
