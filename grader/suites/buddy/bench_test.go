package buddy

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/native/session"
	"cudalab/native/sim"
	"cudalab/solutions/buddy"
)

// BenchmarkPair times an Alloc and a Free of the solution: the same size each time, which is halved off the root and
// united with it again, and sizes of all kinds among few and many blocks.
func BenchmarkPair(b *testing.B) {
	session.New(sim.New(sim.Options{})).Use() // no call of CUDA is timed
	b.Run("64KiB-of-1GiB", func(b *testing.B) {
		a, err := buddy.New(1<<30, leastBlock)
		require.NoError(b, err)
		b.ReportAllocs()
		for b.Loop() {
			p, err := a.Alloc(64 * kib)
			if err != nil {
				b.Fatal(err)
			}
			if err := a.Free(p); err != nil {
				b.Fatal(err)
			}
		}
		require.NoError(b, a.Close())
	})
	for name, blocks := range map[string]int{"few": fewBlocks, "many": manyBlocks} {
		b.Run(name, func(b *testing.B) {
			l := newLoad(Of(buddy.New), blocks, rand.New(rand.NewPCG(1, 2)))
			require.NoError(b, l.Make())
			require.NoError(b, l.Fill(blocks))
			b.ReportAllocs()
			for b.Loop() {
				if err := l.Work(1); err != nil {
					b.Fatal(err)
				}
			}
			require.Zero(b, l.Misses())
			require.NoError(b, l.Close())
		})
	}
}
