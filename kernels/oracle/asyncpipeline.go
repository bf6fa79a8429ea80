// Package oracle says in Go what the kernels compute, to the bit: what the simulator executes and what the suites
// expect. It is written from the kernels' description, for speed: it skips ahead where a kernel takes every step.
package oracle

import (
	"math"
	"sync"
)

// The linear congruential generator of kernel process: one round takes x to x*multiplier + increment, modulo 2^32.
const (
	lcgMultiplier = 1664525
	lcgIncrement  = 1013904223
)

// Processed is what kernel process writes for one multiplier and one number of rounds.
type Processed struct {
	a, c       uint32 // all rounds in one: x*a + c
	multiplier float32
}

// NewProcessed takes time in proportion to the logarithm of work; no rounds are done where work is below 1. A
// multiplier that is not finite gives NaNs whose bits are not a GPU's.
func NewProcessed(multiplier float32, work int) Processed {
	p := Processed{a: 1, multiplier: multiplier}
	a, c := uint32(lcgMultiplier), uint32(lcgIncrement) // 2^k rounds in one
	for ; work > 0; work >>= 1 {
		if work&1 != 0 {
			p.a, p.c = p.a*a, p.c*a+c
		}
		a, c = a*a, c*a+c
	}
	return p
}

// At is element i.
func (p Processed) At(i int) float32 {
	x := (uint32(i)*p.a + p.c) & 0xFFFFFF
	// A float64 has more than twice a float32's digits, so rounding twice gives what sqrt.rn.f32 gives.
	return float32(math.Sqrt(float64(x))) * p.multiplier
}

// Process is element i of what kernel process writes.
func Process(i int, multiplier float32, work int) float32 {
	return NewProcessed(multiplier, work).At(i)
}

// ReduceProcess is what kernel reduce adds to its result over n elements that kernel process wrote: the sum of their
// bit patterns. It takes time in proportion to n, once: a whole class is asked for the same few sums.
func ReduceProcess(n int, multiplier float32, work int) uint64 {
	key := sumOf{n, multiplier, work}
	sums.Lock()
	defer sums.Unlock()
	sum, ok := sums.known[key]
	if !ok {
		p := NewProcessed(multiplier, work)
		for i := range n {
			sum += uint64(math.Float32bits(p.At(i)))
		}
		if len(sums.known) >= maxSums {
			clear(sums.known)
		}
		sums.known[key] = sum
	}
	return sum
}

type sumOf struct {
	n          int
	multiplier float32
	work       int
}

const maxSums = 1 << 10

var sums = struct {
	sync.Mutex
	known map[sumOf]uint64
}{known: map[sumOf]uint64{}}
