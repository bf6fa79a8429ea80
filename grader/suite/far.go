package suite

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"strconv"

	"cudalab/native/sim"
)

// farLongest is how long work of any size takes in far calls, in nanoseconds: longer than to enqueue it, but not long
// for who waits.
const farLongest = 20_000

// Unlimited is more memory than any call asks for, in bytes: what nobody touches costs a simulated device nothing.
const Unlimited = 1 << 62

// Far has the trial run on a simulated device with memory for anything on which no kernel and no copy does its work, so
// that numbers may be as large as their domains allow: what was called is there to be judged, results are not.
func (r *Runs[Code, W]) Far() *Runs[Code, W] {
	drive := r.Drive
	r.Drive = func(b *Bench, sides Sides[Code]) {
		b.NothingComputed()
		b.uncomputed, b.Quota = true, 0
		drive(b, sides)
	}
	r.far = true
	return r.On(func(seed uint64) sim.Options { return sim.Options{Seed: seed, Memory: Unlimited, Longest: farLongest} })
}

// NothingComputed has no kernel and no copy do its work any more, on a simulated device.
func (b *Bench) NothingComputed() { b.Session.Device().(interface{ TimeOnly(bool) }).TimeOnly(true) }

// Number is one of a workload's, with its domain.
type Number[W any] struct {
	Least, Most int
	Set         func(*W, int)
}

// Farther are workloads that are like few but for some numbers, which come from all over their domains: of each all
// that spread draws, in an order of its own.
func Farther[W any](r *rand.Rand, few func() W, numbers ...Number[W]) []W {
	var ws []W
	for _, n := range numbers {
		for i, v := range Everywhere(r, n.Least, n.Most) {
			if i == len(ws) {
				ws = append(ws, few())
			}
			n.Set(&ws[i], v)
		}
	}
	return ws
}

// FarCount is how many things a far call has at most of which each takes calls of CUDA: batches, items, streams.
const FarCount = 1 << 7

// Many is how many one far call may have: more than FarCount, and as likely between any two powers of two as between
// the next.
func Many(r *rand.Rand) int {
	n := FarCount << r.IntN(3)
	return n + r.IntN(n)
}

// Everywhere are numbers from all over a domain, all that spread draws, in an order of their own.
func Everywhere(r *rand.Rand, least, most int) []int {
	all := spread(r, least, most)
	r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all
}

// Somewhere is one of them.
func Somewhere(r *rand.Rand, least, most int) int {
	all := spread(r, least, most)
	return all[r.IntN(len(all))]
}

// Overflowing are pairs of factors whose product is more than an int64 holds. What 64 bits keep of it is below 0, 0,
// less than a factor, or more than both: the last looks like any other product. The first factor is a multiple of unit,
// which is below 1<<60.
func Overflowing(unit int64) [][2]int64 {
	return [][2]int64{{1 << 62, 2}, {1 << 62, 4}, {1<<62 + unit, 4}, {1<<62 + unit, 5}}
}

// Literal is a number as one writes it in Go: one of more than 32 bits by the power of two that it is near to.
func Literal(n int64) string {
	const near = 1 << 16
	power := bits.Len64(uint64(n)) - 1
	if n < 1<<32 {
		return strconv.FormatInt(n, 10)
	}
	switch over, under := n-1<<power, uint64(2)<<power-uint64(n); {
	case over == 0:
		return fmt.Sprintf("1<<%d", power)
	case over < near:
		return fmt.Sprintf("1<<%d+%d", power, over)
	case under <= near:
		return fmt.Sprintf("1<<%d-%d", power+1, under)
	}
	return strconv.FormatInt(n, 10)
}

// spread are numbers from all over a domain: its ends, and between any two powers of two one that is drawn, which may
// well be the first or the last there.
func spread(r *rand.Rand, least, most int) []int {
	all := []int{least, most}
	for from := 1; from > 0 && from < most; from *= 2 {
		low, high := max(from, least+1), min(from+from-1, most-1)
		if low > high {
			continue
		}
		all = append(all, []int{low, high, low + r.IntN(high-low+1)}[r.IntN(3)])
	}
	return all
}
