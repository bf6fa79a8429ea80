package order

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/native/trace"
)

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
			by := stamp{trace.ID(random.IntN(3)), step/4 + 1}
			if random.IntN(4) == 0 {
				by = stamp{}
				s.cut(lo, hi)
			} else {
				s.set(lo, hi, by)
			}
			for i := lo; i < hi; i++ {
				bytes[i] = by
			}
			if step%100 == 0 {
				compareSpans(t, &s, bytes[:])
			}
		}
		s.reset()
		compareSpans(t, &s, make([]stamp, size))
	}
}

func compareSpans(t *testing.T, s *spans, want []stamp) {
	got := make([]stamp, len(want))
	last := int64(0)
	for x := range s.within(0, int64(len(want))) {
		require.True(t, last <= x.lo && x.lo < x.hi, "spans are in order and of at least one byte")
		last = x.hi
		for i := x.lo; i < x.hi; i++ {
			got[i] = x.by
		}
	}
	require.Equal(t, want, got)
	for _, c := range s.chunks {
		require.NotEmpty(t, c)
		require.LessOrEqual(t, len(c), chunkLimit)
	}
}

func TestSpansMerge(t *testing.T) {
	var s spans
	for lo := int64(0); lo < 1000; lo += 2 {
		s.set(lo, lo+2, stamp{1, 1})
	}
	require.Len(t, s.chunks, 1)
	require.Equal(t, []span{{0, 1000, stamp{1, 1}}}, s.chunks[0])
}
