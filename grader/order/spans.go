package order

import (
	"iter"
	"slices"
	"sort"
)

// span is the bytes from lo up to, not including, hi, with the last access to them.
type span struct {
	lo, hi int64
	by     stamp
}

// spans is a set of disjoint spans in order, in chunks of limited length: finding and replacing cost little even
// where memory is used in a hundred thousand pieces.
type spans struct {
	chunks [][]span // none is empty
	spare  []span   // an empty chunk's memory, for the next first span
}

const chunkLimit = 128

func (s *spans) empty() bool { return len(s.chunks) == 0 }

// reset forgets every span.
func (s *spans) reset() {
	if !s.empty() {
		s.spare = s.chunks[0][:0]
		s.chunks = s.chunks[:0]
	}
}

// find is the place of the first span that ends behind offset.
func (s *spans) find(offset int64) (chunk, i int) {
	if len(s.chunks) > 1 {
		chunk = sort.Search(len(s.chunks), func(k int) bool {
			c := s.chunks[k]
			return c[len(c)-1].hi > offset
		})
	}
	if chunk == len(s.chunks) {
		return chunk, 0
	}
	c := s.chunks[chunk]
	i = sort.Search(len(c), func(k int) bool { return c[k].hi > offset })
	if i == len(c) {
		return chunk + 1, 0
	}
	return chunk, i
}

// within yields what lies between lo and hi, cut to that. s must not change meanwhile.
func (s *spans) within(lo, hi int64) iter.Seq[span] {
	return func(yield func(span) bool) {
		for chunk, i := s.find(lo); chunk < len(s.chunks); chunk, i = chunk+1, 0 {
			for _, x := range s.chunks[chunk][i:] {
				if x.lo >= hi {
					return
				}
				x.lo, x.hi = max(x.lo, lo), min(x.hi, hi)
				if !yield(x) {
					return
				}
			}
		}
	}
}

// set makes by the last access to the bytes between lo and hi.
func (s *spans) set(lo, hi int64, by stamp) {
	if s.only(lo, hi) {
		s.chunks[0][0] = span{lo, hi, by}
		return
	}
	s.replace(lo, hi, by)
}

// cut takes the bytes between lo and hi out.
func (s *spans) cut(lo, hi int64) {
	switch {
	case s.empty():
	case s.only(lo, hi):
		s.reset()
	default:
		s.replace(lo, hi, stamp{})
	}
}

// only reports whether there is one span and it lies between lo and hi.
func (s *spans) only(lo, hi int64) bool {
	return len(s.chunks) == 1 && len(s.chunks[0]) == 1 && lo <= s.chunks[0][0].lo && s.chunks[0][0].hi <= hi
}

// replace puts one span of by, or none if by is the zero stamp, in the place of all between lo and hi.
func (s *spans) replace(lo, hi int64, by stamp) {
	first, from := s.find(lo)
	if first == len(s.chunks) {
		if by != (stamp{}) {
			s.push(span{lo, hi, by})
		}
		return
	}
	last, to := s.find(hi - 1) // where the span is that holds the last byte, or the first behind it
	if last < len(s.chunks) && s.chunks[last][to].lo < hi {
		to++
	}

	var fresh [3]span
	n := 0
	if left := s.chunks[first][from]; left.lo < lo {
		fresh[n] = span{left.lo, lo, left.by}
		n++
	}
	if by != (stamp{}) {
		if n > 0 && fresh[n-1].by == by {
			fresh[n-1].hi = hi
		} else if c := s.chunks[first]; n == 0 && from > 0 && c[from-1].hi == lo && c[from-1].by == by {
			from--
			fresh[n] = span{c[from].lo, hi, by}
			n++
		} else {
			fresh[n] = span{lo, hi, by}
			n++
		}
	}
	if to > 0 && last < len(s.chunks) {
		if right := s.chunks[last][to-1]; right.hi > hi {
			fresh[n] = span{hi, right.hi, right.by}
			n++
		}
	}
	s.splice(first, from, last, to, fresh[:n])
}

// splice puts fresh in the place of the spans from (first, from) up to, not including, (last, to).
func (s *spans) splice(first, from, last, to int, fresh []span) {
	if first == last {
		s.chunks[first] = slices.Replace(s.chunks[first], from, to, fresh...)
	} else {
		s.chunks[first] = append(s.chunks[first][:from], fresh...)
		if last < len(s.chunks) && to > 0 {
			s.chunks[last] = slices.Delete(s.chunks[last], 0, to)
			if len(s.chunks[last]) == 0 {
				last++
			}
		}
		s.chunks = slices.Delete(s.chunks, first+1, last)
	}
	switch c := s.chunks[first]; {
	case len(c) == 0:
		s.spare = c
		s.chunks = slices.Delete(s.chunks, first, first+1)
	case len(c) > chunkLimit:
		s.split(first)
	}
}

// push appends x, which lies behind all others.
func (s *spans) push(x span) {
	if s.empty() {
		s.chunks = append(s.chunks, append(s.spare, x))
		s.spare = nil
		return
	}
	end := len(s.chunks) - 1
	c := s.chunks[end]
	if before := &c[len(c)-1]; before.hi == x.lo && before.by == x.by {
		before.hi = x.hi
		return
	}
	s.chunks[end] = append(c, x)
	if len(s.chunks[end]) > chunkLimit {
		s.split(end)
	}
}

func (s *spans) split(chunk int) {
	c := s.chunks[chunk]
	upper := append(make([]span, 0, chunkLimit+2), c[len(c)/2:]...)
	s.chunks[chunk] = c[:len(c)/2]
	s.chunks = slices.Insert(s.chunks, chunk+1, upper)
}
