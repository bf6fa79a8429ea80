package buddy

import (
	"fmt"
	"math/bits"

	"cudalab/grader/suite"
)

const (
	kib = 1 << 10
	mib = 1 << 20
)

// layout is what New is called with.
type layout struct{ total, minBlock int64 }

func (l layout) String() string {
	return fmt.Sprintf("buddy.New(%s, %s)", suite.Literal(l.total), suite.Literal(l.minBlock))
}

// leastBlock is what a minimal block is rounded up to at least.
const leastBlock = 256

// powerOfTwo is the smallest power of two that is not below n, which is at least 1.
func powerOfTwo(n int64) int64 { return 1 << bits.Len64(uint64(n-1)) }

// root is the root block's size in bytes, and least a minimal block's.
func (l layout) root() int64  { return powerOfTwo(l.total) }
func (l layout) least() int64 { return max(powerOfTwo(l.minBlock), leastBlock) }

// top is the root's order: it has 2^top minimal blocks.
func (l layout) top() int { return bits.TrailingZeros64(uint64(l.root() / l.least())) }

// block is the size of the block that an allocation gets.
func (l layout) block(size int64) int64 { return max(powerOfTwo(size), l.least()) }
