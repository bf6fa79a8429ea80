package oracle

import "encoding/binary"

// Rounds are any number of the rounds of kernels fillItem, digest and mix, x to 1664525*x + 1013904223, folded into one
// multiplication and one addition.
type Rounds struct{ factor, summand uint32 }

// RoundsOf are so many rounds.
func RoundsOf(work int) Rounds {
	all, some := Rounds{1, 0}, Rounds{1664525, 1013904223} // some: 1, 2, 4, … rounds
	for left := max(work, 0); left > 0; left >>= 1 {
		if left&1 == 1 {
			all = Rounds{some.factor * all.factor, some.factor*all.summand + some.summand}
		}
		some = Rounds{some.factor * some.factor, some.factor*some.summand + some.summand}
	}
	return all
}

// Of is what the rounds make of a number.
func (r Rounds) Of(x uint32) uint32 { return r.factor*x + r.summand }

// Each writes to one array what the rounds make of each element of another, as far as the first has room.
func (r Rounds) Each(to, from []byte) {
	const block = 64 // bytes, within which no index is checked: that takes half the time
	for from = from[:len(to)]; len(to) >= block; to, from = to[block:], from[block:] {
		t, f := (*[block]byte)(to), (*[block]byte)(from)
		for i := 0; i < block; i += 4 {
			binary.LittleEndian.PutUint32(t[i:], r.Of(binary.LittleEndian.Uint32(f[i:])))
		}
	}
	for ; len(to) >= 4; to, from = to[4:], from[4:] {
		binary.LittleEndian.PutUint32(to, r.Of(binary.LittleEndian.Uint32(from)))
	}
}

// Item is element i of what kernel fillItem writes for an item, before any round.
func Item(item uint32, i int) uint32 { return 2654435761*item + uint32(i) }

// DigestOfItem is what kernel digest adds to its result over n elements that kernel fillItem wrote, with the rounds of
// each.
func DigestOfItem(n int, item uint32, filled, work int) (sum uint64) {
	return RoundsOf(filled+work).SumOf(item, 0, n)
}

// SumOf is the sum of what the rounds make of elements from to to of an item. These are an arithmetic sequence of
// numbers of 32 bits, which is summed up without going through it.
func (r Rounds) SumOf(item uint32, from, to int) uint64 {
	n, first := uint64(max(to-from, 0)), uint64(r.Of(Item(item, from)))
	return n*first + triangle(n)*uint64(r.factor) - floorSum(n, 1<<32, uint64(r.factor), first)<<32
}

// triangle is 0 + 1 + ... + n-1.
func triangle(n uint64) uint64 {
	if n%2 == 0 {
		return n / 2 * (n - 1)
	}
	return (n - 1) / 2 * n
}

// floorSum is the sum of floor((a*i + b) / m) over i from 0 up to and without n, modulo 1<<64, for n, a and b below
// 1<<32 and m up to that. It exchanges a and m as Euclid's algorithm does: the points below a line are counted by rows
// instead of columns.
func floorSum(n, m, a, b uint64) (sum uint64) {
	for {
		sum += triangle(n)*(a/m) + n*(b/m)
		a, b = a%m, b%m
		top := a*n + b
		if top < m {
			return sum
		}
		n, b = top/m, top%m
		m, a = a, m
	}
}
