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

// DigestOfItem is what kernel digest adds to its result over n elements that kernel fillItem wrote, with the rounds of each.
func DigestOfItem(n int, item uint32, filled, work int) (sum uint64) {
	all := RoundsOf(filled + work)
	for i := range n {
		sum += uint64(all.Of(Item(item, i)))
	}
	return sum
}
