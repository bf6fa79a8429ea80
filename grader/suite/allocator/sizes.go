package allocator

import (
	"math"
	"math/rand/v2"

	"cudalab/grader/suite"
)

// Within is a size up to the most, with any power of two as likely as another.
func Within(r *rand.Rand, most int64) int64 { return int64(suite.Somewhere(r, 1, int(most))) }

// EverySize asks for sizes from all over the numbers, each below 0 as well, and frees what was handed out.
func EverySize(r *rand.Rand) (ops []Op) {
	for i, size := range suite.Everywhere(r, 0, math.MaxInt64) {
		ops = append(ops, Alloc(int64(size)), Free(1+2*i), Alloc(-1-int64(size)))
	}
	return ops
}
