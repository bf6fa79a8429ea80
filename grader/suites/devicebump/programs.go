package devicebump

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"cudalab/exercises/contract"
	"cudalab/grader/suite"
	"cudalab/grader/suite/verdict"
	"cudalab/grader/suites/devicebump/interleave"
	"cudalab/kernels/oracle"
)

// budget is how many states are looked at in a case. Right code comes to some ten thousand.
const budget = 200_000

type (
	program = interleave.Program
	request = interleave.Request
)

var one, warp = interleave.One, interleave.Warp

// thread is the requests of a thread.
func thread(requests ...request) []request { return requests }

// lonely is a program of one thread: what is wrong there is no matter of order.
var lonely = &interleave.Case[Code]{ID: "lonely", After: "1b", Of: ofCode, Budget: budget,
	Draw: func(*rand.Rand) []program {
		return []program{{Capacity: 64, Threads: [][]request{thread(one(10), one(80), one(0), one(40))}}}
	}}

// threads are programs of two and three threads: those that show the usual mistakes soonest first, then drawn ones.
var threads = &interleave.Case[Code]{ID: "threads", After: "1b", Of: ofCode, Budget: budget,
	Draw: func(r *rand.Rand) []program {
		all := []program{
			{Capacity: 64, Threads: [][]request{thread(one(16)), thread(one(32))}},
			{Capacity: 64, Taken: 48, Threads: [][]request{thread(one(16)), thread(one(16))}},
			{Capacity: 64, Taken: 16, Threads: [][]request{thread(one(64)), thread(one(16))}},
			{Capacity: 64, Taken: 16, Threads: [][]request{thread(one(64), one(16)), thread(one(16), one(16))}},
			{Capacity: 64, Threads: [][]request{thread(one(80), one(16)), thread(one(16), one(16))}},
			{Capacity: 96, Threads: [][]request{thread(one(16), one(16)), thread(one(32), one(16)), thread(one(48), one(16))}},
		}
		for i := range 12 {
			p := program{Capacity: 16 * (1 + r.Uint64N(8))}
			p.Taken = 16 * r.Uint64N(p.Capacity/16)
			shape := []int{2, 2}
			switch {
			case i >= 10:
				shape = []int{2, 2, 2}
			case i%2 == 1:
				shape = []int{1, 1, 1}
			}
			for _, n := range shape {
				var t []request
				for range n {
					t = append(t, one(draw(r, p.Capacity)))
				}
				p.Threads = append(p.Threads, t)
			}
			all = append(all, p)
		}
		return all
	}}

// draw is a size that fits into so many bytes, as a rule.
func draw(r *rand.Rand, capacity uint64) uint64 {
	if r.IntN(8) == 0 {
		return []uint64{0, capacity + 1, capacity + 16}[r.IntN(3)]
	}
	return 1 + r.Uint64N(min(capacity, 48))
}

// ofWarps has threads that are no warps call the grader's own Alloc: what is wrong with the code's other programs tell.
func ofWarps(c Code) interleave.Code { return interleave.Code{Alloc: alloc, AllocWarp: c.AllocWarp} }

// lonelyWarp are programs of one warp.
var lonelyWarp = &interleave.Case[Code]{ID: "lonely-warp", After: "2b", Function: "AllocWarp", Of: ofWarps,
	Budget: budget, Draw: func(r *rand.Rand) []program {
		full := make([]uint64, 32)
		for i := range full {
			full[i] = 1 + r.Uint64N(200)
		}
		return []program{
			{Capacity: 4096, Threads: [][]request{thread(warp())}},
			{Capacity: 64, Taken: 16, Threads: [][]request{thread(warp(20), warp(32))}},
			{Capacity: 64, Threads: [][]request{thread(warp(16, 10, 0, 16))}},
			{Capacity: 64, Threads: [][]request{thread(warp(16, 80, 16), warp(48, 32))}},
			{Capacity: 64, Taken: 32, Threads: [][]request{thread(warp(16, 48, 16, 1))}},
			{Capacity: 64, Taken: 48, Threads: [][]request{thread(warp(17, 18))}},
			{Capacity: 4096, Threads: [][]request{thread(warp(full...))}},
			{Capacity: 1024, Threads: [][]request{thread(warp(full...), warp(full[:5]...))}},
		}
	}}

// warps are programs of warps, and of single threads beside them.
var warps = &interleave.Case[Code]{ID: "warps", After: "2b", Function: "AllocWarp", Of: ofWarps, Budget: budget,
	Draw: func(r *rand.Rand) []program {
		all := []program{
			{Capacity: 128, Threads: [][]request{thread(warp(16, 32)), thread(warp(16, 16))}},
			{Capacity: 96, Threads: [][]request{thread(warp(16, 32)), thread(one(64))}},
			{Capacity: 144, Threads: [][]request{thread(warp(16, 32, 48, 10)), thread(warp(16, 200, 16, 16)), thread(one(16))}},
		}
		for range 3 {
			p := program{Capacity: 16 * (4 + r.Uint64N(8))}
			for range 2 {
				var sizes []uint64
				for range 4 {
					sizes = append(sizes, draw(r, p.Capacity))
				}
				p.Threads = append(p.Threads, thread(warp(sizes...)))
			}
			all = append(all, append1(p, one(draw(r, p.Capacity))))
		}
		return all
	}}

// alloc takes memory as it has to be done.
func alloc(w contract.Word, capacity, size uint64) (uint64, bool) {
	for taken := w.Load(); oracle.BumpFits(taken, capacity, size); {
		found := w.CompareAndSwap(taken, taken+oracle.BumpRounded(size))
		if found == taken {
			return taken, true
		}
		taken = found
	}
	return 0, false
}

// append1 is a program with one thread more.
func append1(p program, r request) program {
	p.Threads = append(p.Threads, thread(r))
	return p
}

// limits are single requests at the edges of what 64 bits count, by how large their largest number is: where only those
// of a range go wrong, that says how numbers are kept.
var limits = []limit{
	{Case: numbered("limits", 0, 1<<31-1)},
	{Case: numbered("limits-32", 1<<31, 1<<63-1),
		why: "With numbers below 2^31 all came out right. What is kept in 32 bits loses its upper half from 2^32 on, 2^32 " +
			"becomes 0, and an int32 is negative from 2^31 on.",
		fix: "Keep sizes, capacity and what is taken in uint64 from the beginning to the end, without a conversion to " +
			"anything smaller, and refuse nothing for being large alone."},
	{Case: numbered("limits-64", 1<<63, math.MaxUint64),
		why: "With numbers below 2^63 all came out right. As an int64 a number is negative from 2^63 on, so it comes " +
			"out as less than any size.",
		fix: "Keep sizes, capacity and what is taken in uint64 from the beginning to the end, without a conversion to " +
			"int64 or int, and compare the rounded size with capacity-taken, which cannot run over."},
}

// limit is the requests of a range.
type limit struct {
	*interleave.Case[Code]
	why, fix string // of what goes wrong in this range, but not below it; "" for the lowest
}

// numbered are the requests whose largest number is one of a range.
func numbered(id string, from, to uint64) *interleave.Case[Code] {
	return &interleave.Case[Code]{ID: id, After: "2b", Of: ofCode, Budget: budget, Draw: func(*rand.Rand) (all []program) {
		within := func(numbers ...uint64) (kept []uint64) {
			for _, n := range numbers {
				if n <= to {
					kept = append(kept, n)
				}
			}
			return kept
		}
		sizes := within(math.MaxUint64, math.MaxUint64-14, math.MaxUint64-15, 1<<63+16, 1<<63, 1<<32+1, 1<<32, 1<<32-1, 1<<31,
			47, 32, 17, 16, 1, 0)
		if large := max(from, 1<<32); from > 0 { // in each lane of a whole warp
			for odd := range 2 {
				lanes := make([]uint64, 32)
				for lane := range lanes {
					if lanes[lane] = uint64(16 + lane); lane%2 == odd {
						lanes[lane] += large
					}
				}
				all = append(all, program{Capacity: 4096, Threads: [][]request{{warp(lanes...)}}})
			}
		}
		for _, capacity := range within(96, 16, 0, 1<<31, 1<<32+16, 1<<63, math.MaxUint64-15) {
			for _, below := range []uint64{0, 16, 32, capacity / 16 / 2 * 16, capacity} {
				if below > capacity {
					continue
				}
				add := func(r request) {
					if max(capacity, slices.Max(r.Sizes)) >= from {
						all = append(all, program{Capacity: capacity, Taken: capacity - below, Threads: [][]request{{r}}})
					}
				}
				for _, size := range sizes {
					add(one(size))
				}
				for first := range 3 { // some of each kind
					var lanes []uint64
					for lane := range 5 {
						lanes = append(lanes, sizes[first+lane*(len(sizes)-3)/4])
					}
					add(warp(lanes...))
				}
			}
		}
		return all
	}}
}

// many is the case in which one thread calls Alloc and AllocWarp more often than 16 bits count.
var many = &suite.Trial[Code]{ID: "many", After: "2b", Drive: func(b *suite.Bench, sides suite.Sides[Code]) {
	requests := manyRequests(b.Seed)
	_ = b.Call(fmt.Sprintf("%d calls one behind the other", len(requests)), func() error {
		return interleave.Unfinished(func() {
			taken := uint64(0)
			word := interleave.Plain(&taken)
			for i, r := range requests {
				before := taken
				offsets := make([]uint64, len(r.Sizes))
				if r.Warp {
					sizes := slices.Clone(r.Sizes)
					if sides.Student.AllocWarp(word, manyBytes, sizes, offsets); !slices.Equal(sizes, r.Sizes) {
						b.Value(noteChanged, uint64(i))
						return
					}
				} else if offset, ok := sides.Student.Alloc(word, manyBytes, r.Sizes[0]); ok {
					offsets[0] = offset
				} else {
					offsets[0] = contract.NoRoom
				}
				if want, next := after(r, before, manyBytes); taken != next || fmt.Sprint(want) != fmt.Sprint(offsets) {
					b.Value(noteStrayed, uint64(i))
					return
				}
			}
			b.Value(noteStrayed, uint64(len(requests)))
		})
	})
}}

// noteStrayed is the number of the first call of many that answered another thing than it should have.
const noteStrayed = "strayed"

const (
	manyCalls = 100_000
	manyBytes = 6 << 30
)

// manyRequests fill more than 4 GiB.
func manyRequests(seed uint64) []request {
	r := suite.NewRand(seed, "many")
	all := make([]request, manyCalls)
	for i := range all {
		if all[i] = one(1 + r.Uint64N(1<<17)); i%1000 == 999 {
			all[i] = warp(1+r.Uint64N(1<<20), 0, 1+r.Uint64N(1<<20))
		}
	}
	return all
}

// after is what a request should be answered, and how many bytes are taken then.
func after(r request, taken, capacity uint64) (offsets []uint64, next uint64) {
	for _, size := range r.Sizes {
		if !oracle.BumpFits(taken, capacity, size) {
			offsets = append(offsets, contract.NoRoom)
			continue
		}
		offsets = append(offsets, taken)
		taken += oracle.BumpRounded(size)
	}
	return offsets, taken
}

// noteChanged is the number of the first call of many that changed the sizes that it was given.
const noteChanged = "changed"

// strayed finds a call of many that was wrong.
func strayed(e *suite.Evidence) []verdict.Finding {
	requests := manyRequests(e.Seed)
	for _, i := range e.Cases[many.ID].Values[noteChanged] {
		if i >= uint64(len(requests)) {
			continue
		}
		return []verdict.Finding{{Rule: "argument-changed", Severity: verdict.Error, Record: -1, Function: "AllocWarp",
			Message: fmt.Sprintf("AllocWarp should leave sizes as it is, but it was given %s and left others there.",
				requests[i]),
			Why: "A slice is a view of its caller's memory: a lane that asks again would ask for what was written there.",
			Fix: "Keep what you work out from a size in a variable of your own."}}
	}
	for _, i := range e.Cases[many.ID].Values[noteStrayed] {
		if i >= uint64(len(requests)) {
			continue
		}
		function := "Alloc"
		if requests[i].Warp {
			function = "AllocWarp"
		}
		return []verdict.Finding{{Rule: "strayed", Severity: verdict.Error, Record: -1, Function: function,
			Message: fmt.Sprintf("%d calls come one behind the other, with nobody between, and call %d, for %s bytes, should "+
				"have got the place behind those before, but did not.",
				len(requests), i+1, requests[i]),
			Why: "What is right for a few calls has to be right for a hundred thousand, and beyond 4 GiB.",
			Fix: "Count bytes in 64 bits, and keep nothing from one call to the next."}}
	}
	return nil
}
