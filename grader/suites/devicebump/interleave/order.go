package interleave

import (
	"slices"

	"cudalab/exercises/contract"
	"cudalab/kernels/oracle"
)

// carryOut is what a request is answered behind so many bytes that are taken, when nobody comes in between, and how
// many are taken then.
func carryOut(r Request, taken, capacity uint64) (offsets []uint64, next uint64) {
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

// inSomeOrder reports whether there is an order of the requests, one behind the other, in which they are answered as
// they were, and which leaves the word as it is, where that matters. before are of each request those that were over
// when it began.
func inSomeOrder(taken, capacity uint64, requests []Request, results [][]uint64, before []uint32, word *uint64) bool {
	all := uint32(1)<<len(requests) - 1
	hopeless := map[uint32]bool{} // where these were first, and what was answered is right: that says how much is taken
	var from func(done uint32, taken uint64) bool
	from = func(done uint32, taken uint64) bool {
		if done == all {
			return word == nil || *word == taken
		}
		if hopeless[done] {
			return false
		}
		for i, r := range requests {
			if done>>i&1 != 0 || before[i]&^done != 0 {
				continue
			}
			if offsets, next := carryOut(r, taken, capacity); slices.Equal(offsets, results[i]) && from(done|1<<i, next) {
				return true
			}
		}
		hopeless[done] = true
		return false
	}
	return from(0, taken)
}

// followed is an order as it went.
type followed struct {
	word   uint64   // in the end
	before []uint32 // of each request, those that were over when it began
	begun  []int    // of each request, its first step; -1 where it did not begin
	over   []int    // of each request, its last step; -1 where it was not over
	words  []uint64 // behind each step
}

// follow goes through an order. It is not ok where the steps could not come of the program.
func (p *Program) follow(steps []Step) (h followed, ok bool) {
	requests, first := p.requests()
	h.word, h.before = p.Taken, make([]uint32, len(requests))
	h.begun, h.over = slices.Repeat([]int{-1}, len(requests)), slices.Repeat([]int{-1}, len(requests))
	at, done := slices.Clone(first), uint32(0)
	for i, s := range steps {
		if s.Thread < 0 || s.Thread >= len(first) || s.Request != at[s.Thread] ||
			s.Request >= first[s.Thread]+len(p.Threads[s.Thread]) ||
			s.Op.Kind > CompareAndSwap || s.Op.Kind != 0 && s.Answer != h.word {
			return h, false
		}
		if h.begun[s.Request] < 0 {
			h.begun[s.Request], h.before[s.Request] = i, done
		}
		h.word = s.Op.after(h.word)
		h.words = append(h.words, h.word)
		if s.Last {
			h.over[s.Request] = i
			done |= 1 << s.Request
			at[s.Thread]++
		}
	}
	return h, true
}
