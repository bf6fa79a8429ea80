package interval

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

type spans = Map[int64, stamp]

type stamp struct{ stream, pos int32 }

// Spans in many chunks hold what an array of single bytes holds.
func TestSpansAgainstBytes(t *testing.T) {
	const size = 3000
	for seed := range uint64(30) {
		random := rand.New(rand.NewPCG(seed, 3))
		var s spans
		var bytes [size]stamp
		longest := []int64{3, 30, size}[seed%3]
		for step := range int32(3000) {
			lo := random.Int64N(size)
			hi := min(size, lo+1+random.Int64N(longest))
			by := stamp{random.Int32N(3), step/4 + 1}
			if random.IntN(4) == 0 {
				by = stamp{}
				s.Cut(lo, hi)
			} else {
				s.Set(lo, hi, by)
			}
			for i := lo; i < hi; i++ {
				bytes[i] = by
			}
			if step%100 == 0 {
				compareSpans(t, &s, bytes[:])
			}
		}
		s.Reset()
		compareSpans(t, &s, make([]stamp, size))
	}
}

func compareSpans(t *testing.T, s *spans, want []stamp) {
	got := make([]stamp, len(want))
	last := int64(0)
	next, found := s.From(0)
	for x := range s.Within(0, int64(len(want))) {
		require.True(t, last <= x.Lo && x.Lo < x.Hi, "spans are in order and of at least one byte")
		require.True(t, found)
		require.Equal(t, next, x)
		next, found = s.From(x.Hi)
		last = x.Hi
		for i := x.Lo; i < x.Hi; i++ {
			got[i] = x.Value
		}
	}
	require.False(t, found)
	require.Equal(t, want, got)
	for _, c := range s.chunks {
		require.NotEmpty(t, c)
		require.LessOrEqual(t, len(c), chunkLimit)
	}
}

func TestSpansMerge(t *testing.T) {
	var s spans
	for lo := int64(0); lo < 1000; lo += 2 {
		s.Set(lo, lo+2, stamp{1, 1})
	}
	require.Len(t, s.chunks, 1)
	require.Equal(t, []Span[int64, stamp]{{0, 1000, stamp{1, 1}}}, s.chunks[0])
}

// Addresses end with the greatest number, where what lies behind has none. Nothing is known of no bytes at all.
func TestTheLastAddresses(t *testing.T) {
	const end = math.MaxUint64
	var m Map[uint64, string]
	m.Set(end-4, end, "a")
	m.Set(end-2, end, "b")
	m.Set(7, 7, "none")
	m.Set(end-1, 1, "around")
	m.Cut(end-3, end-3)
	require.Equal(t, []Span[uint64, string]{{end - 4, end - 2, "a"}, {end - 2, end, "b"}},
		slices.Collect(m.Within(0, end)))
	_, found := m.From(end)
	require.False(t, found)
}
