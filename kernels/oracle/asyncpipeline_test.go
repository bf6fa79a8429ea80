package oracle

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// naive takes every round, as the kernel does.
func naive(i int, multiplier float32, work int) float32 {
	x := uint32(i)
	for range work {
		x = x*1664525 + 1013904223
	}
	root := new(big.Float).SetPrec(24).Sqrt(new(big.Float).SetPrec(200).SetUint64(uint64(x & 0xFFFFFF)))
	f, _ := root.Float32()
	return f * multiplier
}

func TestProcessAgreesWithEveryRoundTaken(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, work := range []int{-1, 0, 1, 2, 3, 7, 64, 1000, 4097} {
		for range 20 {
			i, multiplier := random.IntN(math.MaxInt32), float32(random.NormFloat64())
			want, got := naive(i, multiplier, max(work, 0)), Process(i, multiplier, work)
			require.Equal(t, math.Float32bits(want), math.Float32bits(got), "i %d, multiplier %g, work %d", i, multiplier, work)
		}
	}
}

func TestProcessWithoutWorkIsTheSquareRootOfTheIndex(t *testing.T) {
	for i, want := range []float32{0, 2.5, 2.5 * float32(math.Sqrt2), 2.5 * float32(math.Sqrt(3)), 5} {
		require.Equal(t, want, Process(i, 2.5, 0))
	}
}

func TestReduceProcessSeesOneElement(t *testing.T) {
	sum := uint64(0)
	for n := range 1000 {
		require.Equal(t, sum, ReduceProcess(n, 1.5, 9), "n %d", n)
		sum += uint64(math.Float32bits(naive(n, 1.5, 9)))
	}
}

func BenchmarkReduceProcess(b *testing.B) {
	for b.Loop() {
		ReduceProcess(1<<20, 1.5, 1_000_000)
	}
}
