package interleave

import (
	"slices"

	"cudalab/exercises/contract"
	"cudalab/kernels/oracle"
)

// Contention is a call beside somebody who takes Bytes ahead of each CompareAndSwap, in all so many times, and never
// beyond Capacity. Bytes is a multiple of 16.
type Contention struct {
	Request  Request
	Capacity uint64
	Bytes    uint64
	Times    int
}

// Contended is what came of it.
type Contended struct {
	Offsets []uint64
	Word    uint64 // in the end
	Changes int    // how often the other one has changed it
	Ops     int    // that the call took
	Endless bool   // it was ended, since it would have gone on
}

// Run makes the call.
func (c Contention) Run(code Code) (result Contended) {
	w := lend(func(o Op) (old uint64) {
		if result.Ops > c.most(c.Times)+endless {
			result.Endless = true
			panic(stop{})
		}
		result.Ops++
		if o.Kind == CompareAndSwap && result.Changes < c.Times && c.Bytes <= c.Capacity-result.Word {
			result.Word += c.Bytes
			result.Changes++
		}
		old = result.Word
		result.Word = o.after(old)
		return old
	})
	result.Offsets = run(code, &call{request: c.Request, capacity: c.Capacity}, w, &result.Endless)
	return result
}

// most is how many operations a call may take beside so many changes.
func (c Contention) most(changes int) int { return free + each*changes }

// TooMany reports whether the call took more operations than it may, and how many that is.
func (c Contention) TooMany(r Contended) (most int, over bool) {
	most = c.most(r.Changes)
	return most, r.Ops > most
}

// Right reports whether the call has answered what it would have alone at some time, and taken that.
func (c Contention) Right(r Contended) bool {
	for changes := r.Changes; changes >= 0; changes-- {
		offsets, taken := c.Alone(changes)
		if slices.Equal(offsets, r.Offsets) && r.Word == c.Bytes*uint64(r.Changes)+taken {
			return true
		}
	}
	return false
}

// Alone is what the call answers alone behind so many changes, and how many bytes it takes.
func (c Contention) Alone(changes int) (offsets []uint64, bytes uint64) {
	at := c.Bytes * uint64(changes)
	for _, size := range c.Request.Sizes {
		if !oracle.BumpFits(at+bytes, c.Capacity, size) {
			offsets = append(offsets, contract.NoRoom)
			continue
		}
		offsets = append(offsets, at+bytes)
		bytes += oracle.BumpRounded(size)
	}
	return offsets, bytes
}
