package allocator

import "iter"

// Places is a map of blocks by the address at which they begin, for models that follow a hundred thousand of them: most
// lie side by side, and are found in less than half the time that a map takes, in a third of the memory.
type Places[V any] struct {
	step  uint64
	pages map[uint64]*page[V]
	at    uint64 // of the page that was used last
	last  *page[V]
	n     int
}

// pageBits is the cells of a page, as a power of two: few, since blocks may also lie far from each other.
const pageBits = 4

type page[V any] struct {
	used  uint16 // by cell
	cells [1 << pageBits]placed[V]
}

type placed[V any] struct {
	begins uint64
	v      V
}

// NewPlaces is one for blocks of which no two begin within a step's bytes, counted from address 0: that is a cell.
func NewPlaces[V any](step int64) Places[V] {
	return Places[V]{step: uint64(max(step, 1)), pages: map[uint64]*page[V]{}}
}

func (p *Places[V]) page(cell uint64) *page[V] {
	if at := cell >> pageBits; p.last == nil || p.at != at {
		p.at, p.last = at, p.pages[at]
	}
	return p.last
}

// Cell is the block that begins in a cell, and where.
func (p *Places[V]) Cell(cell uint64) (begins uint64, v V, ok bool) {
	slot := cell % (1 << pageBits)
	if page := p.page(cell); page != nil && page.used>>slot&1 == 1 {
		return page.cells[slot].begins, page.cells[slot].v, true
	}
	return 0, v, false
}

// Get is the block that begins at an address.
func (p *Places[V]) Get(address uint64) (v V, ok bool) {
	begins, v, ok := p.Cell(address / p.step)
	if begins != address {
		var none V
		return none, false
	}
	return v, ok
}

// Put has a block begin at an address.
func (p *Places[V]) Put(address uint64, v V) {
	cell := address / p.step
	at, slot := p.page(cell), cell%(1<<pageBits)
	if at == nil {
		at = &page[V]{}
		p.pages[p.at], p.last = at, at
	}
	if at.used>>slot&1 == 0 {
		at.used |= 1 << slot
		p.n++
	}
	at.cells[slot] = placed[V]{address, v}
}

// Delete has none begin at an address.
func (p *Places[V]) Delete(address uint64) {
	if _, ok := p.Get(address); !ok {
		return
	}
	at, slot := p.last, address/p.step%(1<<pageBits)
	at.used &^= 1 << slot
	at.cells[slot] = placed[V]{}
	p.n--
	if at.used == 0 {
		delete(p.pages, p.at)
		p.last = nil
	}
}

// Len is how many there are.
func (p *Places[V]) Len() int { return p.n }

// All are the blocks by where they begin, in no order.
func (p *Places[V]) All() iter.Seq2[uint64, V] {
	return func(yield func(uint64, V) bool) {
		for _, page := range p.pages {
			for slot, b := range page.cells {
				if page.used>>slot&1 == 1 && !yield(b.begins, b.v) {
					return
				}
			}
		}
	}
}
