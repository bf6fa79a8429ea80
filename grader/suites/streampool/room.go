package streampool

import "math/rand/v2"

// room is the free bytes of chunks: stretches of them, as long as can be within a chunk, in the order of their addresses. It is a tree of which
// each part knows its longest.
type room struct {
	root *stretch
	r    *rand.Rand
}

// stretch is free bytes of a chunk, and what is below it in the tree.
type stretch struct {
	lo, hi  uint64
	chunk   uint64
	longest uint64
	weight  uint64
	left    *stretch
	right   *stretch
}

func newRoom() *room { return &room{r: rand.New(rand.NewPCG(1, 2))} }

// longest is the length of the longest stretch.
func (m *room) longest() uint64 { return m.root.most() }

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
	from, to, chunk := s.lo, s.hi, s.chunk
	m.remove(from)
	if from < lo {
		m.insert(from, lo, chunk)
	}
	if hi < to {
		m.insert(hi, to, chunk)
	}
	return chunk, true
}

// give adds bytes of a chunk, none of which are there.
func (m *room) give(lo, hi, chunk uint64) {
	if s := m.at(lo); s != nil && s.hi == lo && s.chunk == chunk {
		lo = s.lo
		m.remove(lo)
	}
	if s := m.at(hi); s != nil && s.lo == hi && s.chunk == chunk {
		to := s.hi
		m.remove(hi)
		hi = to
	}
	m.insert(lo, hi, chunk)
}

func (m *room) insert(lo, hi, chunk uint64) {
	below, above := m.root.cut(lo)
	n := &stretch{lo: lo, hi: hi, chunk: chunk, weight: m.r.Uint64()}
	m.root = glue(glue(below, n.sum()), above)
}

func (m *room) remove(lo uint64) {
	below, rest := m.root.cut(lo)
	_, above := rest.cut(lo + 1)
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
