package interleave

import (
	"slices"

	"cudalab/exercises/contract"
	"cudalab/kernels/oracle"
)

// The rules of findings.
const (
	Overlap        = "overlap"          // two blocks share bytes
	BeyondEnd      = "beyond-end"       // a block reaches beyond capacity
	wrapped        = "wrapped"          // a size or a sum ran over 2^64
	Unaligned      = "unaligned"        // a block begins at no multiple of 16
	EmptyBlock     = "empty-block"      // a request of 0 bytes was granted
	OffsetMissing  = "offset-missing"   // AllocWarp left an offset as it was
	RoomLost       = "room-lost"        // a request that fits was refused
	LeftBehind     = "left-behind"      // the word counts bytes that nobody has
	NotInARow      = "not-in-a-row"     // no order of whole calls gives these answers
	WaitsForThread = "waits-for-thread" // a call that is left alone does not end
	NotRepeatable  = "not-repeatable"   // the same answers, other operations
	TooMany        = "too-many-atomics" // more operations, or changes, than allowed
)

// Rules are all of them but TooMany.
var Rules = []string{Overlap, BeyondEnd, wrapped, Unaligned, EmptyBlock, OffsetMissing, RoomLost, LeftBehind, NotInARow,
	WaitsForThread, NotRepeatable}

// Failure is an order that is wrong.
type Failure struct {
	Rule    string // WrongEnd until it is looked into
	Thread  int    // whose call is wrong; -1: no single one's
	Steps   []Step
	Results [][]uint64 // of each request, where all of them are over
	Others  int        // of TooMany: how often others changed the word during the call
}

// WrongEnd is the Rule of a failure that shows in what the calls have answered, or in the word.
const WrongEnd = "wrong-end"

// granted is one block that was handed out.
type granted struct {
	request, lane int
	size          uint64
	offset        uint64
}

// end is where the block ends; over reports that this is beyond 2^64.
func (g granted) end() (end uint64, over bool) {
	rounded := oracle.BumpRounded(g.size)
	return g.offset + rounded, rounded < g.size || g.offset+rounded < g.offset
}

// fault is what is wrong in the end, and with which blocks.
type fault struct {
	rule  string
	first granted // at fault, or the one that was refused
	other granted // of Overlap: the other block
	taken uint64  // bytes that somebody has
	start bool    // of Overlap: first lies in what was taken before
}

// faultOf says what is wrong with answers that no order of the requests gives.
func (p *Program) faultOf(f *Failure, h *followed) fault {
	requests, _ := p.requests()
	var blocks, refused []granted
	for i, r := range requests {
		for lane, size := range r.Sizes {
			g := granted{i, lane, size, f.Results[i][lane]}
			switch {
			case r.Warp && g.offset == poison:
				return fault{rule: OffsetMissing, first: g}
			case g.offset == contract.NoRoom:
				refused = append(refused, g)
			default:
				blocks = append(blocks, g)
			}
		}
	}
	taken := p.Taken
	for i, g := range blocks {
		end, over := g.end()
		switch {
		case g.size == 0:
			return fault{rule: EmptyBlock, first: g}
		case over:
			return fault{rule: wrapped, first: g}
		case g.offset%16 != 0:
			return fault{rule: Unaligned, first: g}
		case end > p.Capacity:
			return fault{rule: BeyondEnd, first: g}
		case g.offset < p.Taken:
			return fault{rule: Overlap, first: g, start: true}
		}
		for _, b := range blocks[:i] {
			if e, _ := b.end(); b.offset < end && g.offset < e {
				return fault{rule: Overlap, first: b, other: g}
			}
		}
		taken += oracle.BumpRounded(g.size)
	}
	for _, g := range refused {
		if oracle.BumpFits(taken, p.Capacity, g.size) {
			return fault{rule: RoomLost, first: g, taken: taken}
		}
	}
	gapless := !slices.ContainsFunc(blocks, func(g granted) bool { return g.offset >= taken })
	if h.word != taken || !gapless {
		return fault{rule: LeftBehind, taken: taken}
	}
	for _, g := range refused { // it does not fit in the end, but did for as long as it was looked at
		if oracle.BumpFits(p.Taken, p.Capacity, g.size) && !requests[g.request].Warp {
			return fault{rule: RoomLost, first: g, taken: taken}
		}
	}
	return fault{rule: NotInARow, taken: taken}
}
