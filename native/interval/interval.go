// Package interval keeps what is known of each byte of an allocation, or of each of the device's addresses.
package interval

import (
	"iter"
	"slices"
	"sort"
)

// Span is the bytes from Lo up to, not including, Hi, with what is known of them.
type Span[K int64 | uint64, V comparable] struct {
	Lo, Hi K
	Value  V
}

// Map is a set of disjoint spans in order, in chunks of limited length: finding and replacing cost little even
// where memory is used in a hundred thousand pieces. No span has the zero Value. The zero Map is empty.
type Map[K int64 | uint64, V comparable] struct {
	chunks [][]Span[K, V] // none is empty
	spare  []Span[K, V]   // an empty chunk's memory, for the next first span
}

const chunkLimit = 128

// Empty reports whether there is no span.
func (m *Map[K, V]) Empty() bool { return len(m.chunks) == 0 }

// Reset forgets every span.
func (m *Map[K, V]) Reset() {
	if !m.Empty() {
		m.spare = m.chunks[0][:0]
		m.chunks = m.chunks[:0]
	}
}

// find is the place of the first span that ends behind offset.
func (m *Map[K, V]) find(offset K) (chunk, i int) {
	if len(m.chunks) > 1 {
		chunk = sort.Search(len(m.chunks), func(k int) bool {
			c := m.chunks[k]
			return c[len(c)-1].Hi > offset
		})
	}
	if chunk == len(m.chunks) {
		return chunk, 0
	}
	c := m.chunks[chunk]
	i = sort.Search(len(c), func(k int) bool { return c[k].Hi > offset })
	if i == len(c) {
		return chunk + 1, 0
	}
	return chunk, i
}

// From is the first span that ends behind offset: the one that holds it, or the next one.
func (m *Map[K, V]) From(offset K) (s Span[K, V], ok bool) {
	chunk, i := m.find(offset)
	if chunk == len(m.chunks) {
		return s, false
	}
	return m.chunks[chunk][i], true
}

// Within yields what lies between lo and hi, cut to that. m must not change meanwhile.
func (m *Map[K, V]) Within(lo, hi K) iter.Seq[Span[K, V]] {
	return func(yield func(Span[K, V]) bool) {
		for chunk, i := m.find(lo); chunk < len(m.chunks); chunk, i = chunk+1, 0 {
			for _, x := range m.chunks[chunk][i:] {
				if x.Lo >= hi {
					return
				}
				x.Lo, x.Hi = max(x.Lo, lo), min(x.Hi, hi)
				if !yield(x) {
					return
				}
			}
		}
	}
}

// Set gives the bytes between lo and hi a value other than zero, whatever they had.
func (m *Map[K, V]) Set(lo, hi K, value V) {
	switch {
	case lo >= hi:
	case m.only(lo, hi):
		m.chunks[0][0] = Span[K, V]{lo, hi, value}
	default:
		m.replace(lo, hi, value)
	}
}

// Cut takes the bytes between lo and hi out.
func (m *Map[K, V]) Cut(lo, hi K) {
	var none V
	switch {
	case lo >= hi, m.Empty():
	case m.only(lo, hi):
		m.Reset()
	default:
		m.replace(lo, hi, none)
	}
}

// only reports whether there is one span and it lies between lo and hi.
func (m *Map[K, V]) only(lo, hi K) bool {
	return len(m.chunks) == 1 && len(m.chunks[0]) == 1 && lo <= m.chunks[0][0].Lo && m.chunks[0][0].Hi <= hi
}

// replace puts one span of value, or none if that is zero, in the place of all between lo and hi.
func (m *Map[K, V]) replace(lo, hi K, value V) {
	var none V
	first, from := m.find(lo)
	if first == len(m.chunks) {
		if value != none {
			m.push(Span[K, V]{lo, hi, value})
		}
		return
	}
	last, to := m.find(hi - 1) // where the span is that holds the last byte, or the first behind it
	if last < len(m.chunks) && m.chunks[last][to].Lo < hi {
		to++
	}

	var fresh [3]Span[K, V]
	n := 0
	if left := m.chunks[first][from]; left.Lo < lo {
		fresh[n] = Span[K, V]{left.Lo, lo, left.Value}
		n++
	}
	if value != none {
		if n > 0 && fresh[n-1].Value == value {
			fresh[n-1].Hi = hi
		} else if c := m.chunks[first]; n == 0 && from > 0 && c[from-1].Hi == lo && c[from-1].Value == value {
			from--
			fresh[n] = Span[K, V]{c[from].Lo, hi, value}
			n++
		} else {
			fresh[n] = Span[K, V]{lo, hi, value}
			n++
		}
	}
	if to > 0 && last < len(m.chunks) {
		if right := m.chunks[last][to-1]; right.Hi > hi {
			fresh[n] = Span[K, V]{hi, right.Hi, right.Value}
			n++
		}
	}
	m.splice(first, from, last, to, fresh[:n])
}

// splice puts fresh in the place of the spans from (first, from) up to, not including, (last, to).
func (m *Map[K, V]) splice(first, from, last, to int, fresh []Span[K, V]) {
	if first == last {
		m.chunks[first] = slices.Replace(m.chunks[first], from, to, fresh...)
	} else {
		m.chunks[first] = append(m.chunks[first][:from], fresh...)
		if last < len(m.chunks) && to > 0 {
			m.chunks[last] = slices.Delete(m.chunks[last], 0, to)
			if len(m.chunks[last]) == 0 {
				last++
			}
		}
		m.chunks = slices.Delete(m.chunks, first+1, last)
	}
	switch c := m.chunks[first]; {
	case len(c) == 0:
		m.spare = c
		m.chunks = slices.Delete(m.chunks, first, first+1)
	case len(c) > chunkLimit:
		m.split(first)
	}
}

// push appends x, which lies behind all others.
func (m *Map[K, V]) push(x Span[K, V]) {
	if m.Empty() {
		m.chunks = append(m.chunks, append(m.spare, x))
		m.spare = nil
		return
	}
	end := len(m.chunks) - 1
	c := m.chunks[end]
	if before := &c[len(c)-1]; before.Hi == x.Lo && before.Value == x.Value {
		before.Hi = x.Hi
		return
	}
	m.chunks[end] = append(c, x)
	if len(m.chunks[end]) > chunkLimit {
		m.split(end)
	}
}

func (m *Map[K, V]) split(chunk int) {
	c := m.chunks[chunk]
	upper := append(make([]Span[K, V], 0, chunkLimit+2), c[len(c)/2:]...)
	m.chunks[chunk] = c[:len(c)/2]
	m.chunks = slices.Insert(m.chunks, chunk+1, upper)
}
