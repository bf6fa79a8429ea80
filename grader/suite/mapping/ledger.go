// Package mapping is what lessons on virtual memory judge by: which memory is mapped behind which addresses, as the
// trace shows it, how much of it there may be, and in how many steps, and how its time is taken.
package mapping

import (
	"cmp"
	"slices"

	"cudalab/native/device"
	"cudalab/native/trace"
)

// Ledger is the memory that the student's code has mapped, as the trace shows it, whatever the code says.
type Ledger struct {
	Pieces []Piece // by address
	memory map[trace.ID]*physical
}

// Piece is one mapping.
type Piece struct {
	From, To uint64
	Mapped   int  // the record of its MemMap
	Access   int  // the record of the last MemSetAccess that covered it; -1 where there was none
	Usable   bool // for reading and writing
	of       trace.ID
}

// physical is memory that MemCreate has made.
type physical struct {
	size     int64
	mappings int
	released bool
}

// See takes a record in; at is its index in the trace.
func (l *Ledger) See(at int, r *trace.Record) {
	if r.Code != int32(device.Success) || r.Phase == trace.Enter {
		return
	}
	from, to := r.Addr, r.Addr+uint64(r.Size)
	switch r.Op {
	case trace.OpMemCreate:
		if l.memory == nil {
			l.memory = map[trace.ID]*physical{}
		}
		l.memory[r.Alloc] = &physical{size: r.Size}
	case trace.OpMemRelease:
		if x := l.memory[r.Alloc]; x != nil {
			x.released = true
			l.drop(r.Alloc)
		}
	case trace.OpMemMap:
		if x := l.memory[r.Alloc]; x != nil {
			x.mappings++
		}
		l.Pieces = append(l.Pieces, Piece{From: from, To: to, of: r.Alloc, Mapped: at, Access: -1})
		slices.SortFunc(l.Pieces, func(a, b Piece) int { return cmp.Compare(a.From, b.From) })
	case trace.OpMemUnmap:
		l.Pieces = slices.DeleteFunc(l.Pieces, func(p Piece) bool {
			out := p.From >= from && p.To <= to
			if x := l.memory[p.of]; out && x != nil {
				x.mappings--
				l.drop(p.of)
			}
			return out
		})
	case trace.OpMemSetAccess:
		for i := range l.Pieces {
			p := &l.Pieces[i]
			if p.From > from {
				break // behind a hole CUDA has changed nothing
			}
			if p.From == from && p.To <= to {
				p.Access, p.Usable = at, r.Flags == uint32(device.MemAccessReadWrite)
				from = p.To
			}
		}
	}
}

// drop forgets memory that nothing holds any more.
func (l *Ledger) drop(id trace.ID) {
	if x := l.memory[id]; x.released && x.mappings == 0 {
		delete(l.memory, id)
	}
}

// Held is how many bytes of physical memory there are, mapped or not.
func (l *Ledger) Held() int64 {
	total := int64(0)
	for _, x := range l.memory {
		total += x.size
	}
	return total
}

// Reach is how many bytes from an address on are mapped without a hole.
func (l *Ledger) Reach(base uint64) int64 {
	end := base
	for _, p := range l.Pieces {
		if p.From <= end && end < p.To {
			end = p.To
		}
	}
	return int64(end - base)
}

// Unusable is the first mapping behind size bytes from at on that may not be read and written. It answers nil where
// there is none, and whole is false where some of the bytes have no mapping at all.
func (l *Ledger) Unusable(at, size uint64) (p *Piece, whole bool) {
	end := at + size
	for i := range l.Pieces {
		p := &l.Pieces[i]
		if p.From > at || at >= p.To {
			continue
		}
		if !p.Usable {
			return p, true
		}
		if at = p.To; at >= end {
			return nil, true
		}
	}
	return nil, false
}
