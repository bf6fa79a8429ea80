package streampool

import (
	"fmt"
	"math/rand/v2"

	"cudalab/grader/suite/allocator"
)

// room is the free bytes of chunks: stretches of them, as long as can be within a chunk, in the order of their
// addresses. It is a tree of which each part knows its longest.
type room struct {
	root  *stretch
	r     *rand.Rand
	spare *stretch // one that is no more: its memory serves the next
}

// origin is how bytes came to be free.
type origin struct {
	in     allocator.Stream // that they were given back in, or that made the pool grow; nobody: several
	fresh  bool             // nobody has had them
	joined bool             // they did not come free at once
}

// and is how bytes and those beside them came to be free.
func (o origin) and(other origin) origin {
	if o.in != other.in {
		o.in = nobody
	}
	return origin{o.in, o.fresh && other.fresh, true}
}

// String says how: "were given back in A".
func (o origin) String() string {
	switch {
	case o.in == nobody:
		return "are not all one stream's"
	case o.joined:
		return fmt.Sprintf("are %v's", o.in)
	case o.fresh:
		return fmt.Sprintf("nobody has had since %v made the pool grow", o.in)
	}
	return fmt.Sprintf("were given back in %v", o.in)
}

// stretch is free bytes of a chunk, and what is below it in the tree.
type stretch struct {
	lo, hi  uint64
	chunk   uint64
	origin  origin
	longest uint64
	weight  uint64
	left    *stretch
	right   *stretch
}

func newRoom() *room { return &room{r: rand.New(rand.NewPCG(1, 2))} }

// longest is the length of the longest stretch.
func (m *room) longest() uint64 { return m.root.most() }

// longestOrigin is how the longest stretch came to be free.
func (m *room) longestOrigin() (o origin) {
	for s, longest := m.root, m.longest(); s != nil; {
		switch {
		case s.hi-s.lo == longest:
			return s.origin
		case s.left.most() == longest:
			s = s.left
		default:
			s = s.right
		}
	}
	return o
}

func (s *stretch) most() uint64 {
	if s == nil {
		return 0
	}
	return s.longest
}

// sum brings a part up to date with what is below it.
func (s *stretch) sum() *stretch {
	s.longest = max(s.hi-s.lo, s.left.most(), s.right.most())
	return s
}

// at is the last stretch that begins at an address or below; nil: there is none.
func (m *room) at(address uint64) (found *stretch) {
	for s := m.root; s != nil; {
		if s.lo <= address {
			found, s = s, s.right
		} else {
			s = s.left
		}
	}
	return found
}

// take takes bytes out of the stretch that they lie in; it answers the chunk, and is not ok if they do not lie in one.
func (m *room) take(lo, hi uint64) (chunk uint64, ok bool) {
	s := m.at(lo)
	if s == nil || hi > s.hi || hi <= lo {
		return 0, false
	}
	from, to, chunk, how := s.lo, s.hi, s.chunk, s.origin
	switch {
	case from == lo && hi == to:
		m.remove(from)
	case from == lo:
		m.root.change(from, func(s *stretch) { s.lo = hi })
	default:
		m.root.change(from, func(s *stretch) { s.hi = lo })
		if hi < to {
			m.insert(hi, to, chunk, how)
		}
	}
	return chunk, true
}

// give adds bytes of a chunk, none of which are there.
func (m *room) give(lo, hi, chunk uint64, how origin) {
	before, behind := m.at(lo), m.at(hi)
	joinsBefore := before != nil && before.hi == lo && before.chunk == chunk
	joinsBehind := behind != nil && behind.lo == hi && behind.chunk == chunk
	if joinsBefore {
		how = how.and(before.origin)
	}
	if joinsBehind {
		how = how.and(behind.origin)
	}
	switch {
	case joinsBefore:
		to := hi
		if joinsBehind {
			to = behind.hi
			m.remove(hi)
		}
		m.root.change(before.lo, func(s *stretch) { s.hi, s.origin = to, how })
	case joinsBehind:
		m.root.change(hi, func(s *stretch) { s.lo, s.origin = lo, how })
	default:
		m.insert(lo, hi, chunk, how)
	}
}

// change has f change the stretch that begins at an address, in its place in the tree: it lies between the same others
// afterwards, which takes a fraction of removing it and inserting another.
func (s *stretch) change(lo uint64, f func(*stretch)) {
	switch {
	case lo < s.lo:
		s.left.change(lo, f)
	case lo > s.lo:
		s.right.change(lo, f)
	default:
		f(s)
	}
	s.sum()
}

func (m *room) insert(lo, hi, chunk uint64, how origin) {
	below, above := m.root.cut(lo)
	n := m.spare
	if m.spare = nil; n == nil {
		n = &stretch{}
	}
	*n = stretch{lo: lo, hi: hi, chunk: chunk, origin: how, weight: m.r.Uint64()}
	m.root = glue(glue(below, n.sum()), above)
}

func (m *room) remove(lo uint64) {
	below, rest := m.root.cut(lo)
	gone, above := rest.cut(lo + 1)
	m.spare = gone
	m.root = glue(below, above)
}

// cut cuts a tree in what begins below an address and the rest.
func (s *stretch) cut(address uint64) (below, rest *stretch) {
	switch {
	case s == nil:
		return nil, nil
	case s.lo < address:
		s.right, rest = s.right.cut(address)
		return s.sum(), rest
	}
	below, s.left = s.left.cut(address)
	return below, s.sum()
}

// glue makes one tree of two, of which one lies below the other.
func glue(below, above *stretch) *stretch {
	switch {
	case below == nil:
		return above
	case above == nil:
		return below
	case below.weight >= above.weight:
		below.right = glue(below.right, above)
		return below.sum()
	}
	above.left = glue(below, above.left)
	return above.sum()
}
