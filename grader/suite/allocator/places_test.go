package allocator_test

import (
	"maps"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/grader/suite/allocator"
)

func TestPlacesAreAMap(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		places, want := allocator.NewPlaces[int](300), map[uint64]int{}
		far := uint64(300) << (3 * r.IntN(17)) // what lies side by side, and what does not
		for i := range 400 {
			key := r.Uint64N(100)*far + 7
			switch r.IntN(3) {
			case 0:
				places.Delete(key)
				delete(want, key)
			default:
				places.Put(key, i)
				want[key] = i
			}
			probe := r.Uint64N(100)*far + []uint64{7, 7, 8}[r.IntN(3)]
			v, ok := places.Get(probe)
			known, there := want[probe]
			require.Equal(t, there, ok)
			require.Equal(t, known, v)
			require.Equal(t, len(want), places.Len())
		}
		require.Equal(t, want, maps.Collect(places.All()))
	}
}

func BenchmarkPlaces(b *testing.B) {
	const blocks = 100_000
	b.Run("Places", func(b *testing.B) {
		for b.Loop() {
			places := allocator.NewPlaces[uint64](256)
			for i := range uint64(blocks) {
				places.Put(1<<40+256*i, i)
			}
			for i := range uint64(blocks) {
				places.Get(1<<40 + 256*(i*7919%blocks))
			}
		}
	})
	b.Run("map", func(b *testing.B) {
		for b.Loop() {
			m := map[uint64]uint64{}
			for i := range uint64(blocks) {
				m[1<<40+256*i] = i
			}
			for i := range uint64(blocks) {
				_ = m[1<<40+256*(i*7919%blocks)]
			}
		}
	})
}
