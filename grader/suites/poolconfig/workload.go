package poolconfig

import (
	"fmt"
	"math"
	"math/rand/v2"

	"cudalab/exercises/contract"
	"cudalab/grader/suite"
	"cudalab/grader/suite/verdict"
	"cudalab/native/sim"
)

// workload is one call of Run: a configuration without its streams, and how many of those there are.
type workload struct {
	label   string
	streams int
	config  contract.PoolConfig
	// ownPool has the call find a pool of the grader's as the device's current one, in place of the default pool.
	ownPool bool
}

func (w workload) Label() string { return w.label }

const (
	kib = 1 << 10
	mib = 1 << 20
	// keepAll is a threshold above all that a pool can hold.
	keepAll = math.MaxUint64
)

func newWorkload(streams, rounds int, threshold, trimTo uint64, sizes ...int64) workload {
	keeps := "threshold " + bytesName(threshold)
	if threshold == keepAll {
		keeps = "the largest threshold"
	}
	return workload{
		label: fmt.Sprintf("%s of %s on %s with %s", verdict.Count(rounds, "round", "rounds"),
			verdict.Count(len(sizes), "block", "blocks"), verdict.Count(streams, "stream", "streams"), keeps),
		streams: streams,
		config:  contract.PoolConfig{Threshold: threshold, TrimTo: trimTo, Sizes: sizes, Rounds: rounds},
	}
}

func (w workload) withOwnPool() workload {
	w.ownPool = true
	return w
}

func (w workload) onDevice(device int) workload {
	w.config.Device = device
	return w
}

// peak is how many bytes a round has live at once.
func (w workload) peak() (sum uint64) {
	for _, size := range w.config.Sizes {
		sum += uint64(size)
	}
	return sum
}

func bytesName(n uint64) string {
	if n == keepAll {
		return "the largest number"
	}
	return suite.Bytes(n)
}

// shapes are the workloads at the edges: one byte, more streams than blocks, pools of several growth steps that keep
// all, nothing, or a part.
func shapes() []workload {
	return []workload{
		newWorkload(1, 1, keepAll, 0, 1),
		newWorkload(3, 3, keepAll, 0, 1000, 64*kib, 4097, 300_000, 12).withOwnPool(),
		newWorkload(2, 2, 0, 0, 20*mib, 20*mib, mib),
		newWorkload(2, 2, 40*mib, 33*mib, 24*mib, 9*mib, 17*mib).withOwnPool(),
		newWorkload(4, 2, keepAll, 1, 5000, 7000),
		newWorkload(2, 2, keepAll, 0, 65*mib, 12, 32*mib),
		newWorkload(4, 2, keepAll, 1, 5000, 7000), // as before, so that nothing of an earlier call may do for a later one
	}
}

// threeBlocks is a small workload like all others that it draws, in what Run has to call for it.
func threeBlocks(r *rand.Rand) workload {
	sizes := make([]int64, 3)
	for j := range sizes {
		sizes[j] = 1000 + r.Int64N(9000)
	}
	return newWorkload(2, 2, mib*(64+r.Uint64N(1000)), r.Uint64N(mib), sizes...).withOwnPool()
}

// drawn are random workloads.
func drawn(r *rand.Rand) []workload {
	ws := make([]workload, 3)
	for i := range ws {
		sizes := make([]int64, 2+r.IntN(6))
		for j := range sizes {
			sizes[j] = 1 + r.Int64N(mib)
		}
		if i == 0 {
			sizes[r.IntN(len(sizes))] = 16*mib + r.Int64N(24*mib)
		}
		thresholds := []uint64{0, keepAll, r.Uint64N(64 * mib)}
		ws[i] = newWorkload(1+r.IntN(4), 2+r.IntN(3), thresholds[i], r.Uint64N(48*mib), sizes...)
		ws[i].ownPool = r.IntN(2) == 0
	}
	return ws
}

// farBytes is the largest block of a far call, which is more than any device has memory.
const farBytes = 1 << 42

// far are calls with numbers from all over their domains.
func far(r *rand.Rand) (ws []workload) {
	few := func() workload {
		return workload{streams: 1 + r.IntN(3), ownPool: r.IntN(2) == 0,
			config: contract.PoolConfig{Threshold: keepAll, Sizes: []int64{1 + r.Int64N(mib), 1 + r.Int64N(mib)}, Rounds: 1}}
	}
	kept := func() workload { // all of it, nothing or a part
		w := few()
		w.config.Threshold = []uint64{keepAll, 0, r.Uint64N(64 * mib)}[r.IntN(3)]
		return w
	}
	blocks := func(w *workload, v int) {
		w.config.Sizes = nil
		for range v {
			w.config.Sizes = append(w.config.Sizes, 1+r.Int64N(mib))
		}
	}
	ws = append(suite.Farther(r, few,
		suite.Number[workload]{Least: 1, Most: farBytes, Set: func(w *workload, v int) {
			w.config.Sizes[r.IntN(2)] = int64(v)
		}},
		suite.Number[workload]{Most: math.MaxInt64, Set: func(w *workload, v int) { w.config.TrimTo = uint64(v) }},
		suite.Number[workload]{Most: math.MaxInt64, Set: func(w *workload, v int) {
			w.config.Threshold = uint64(v)<<1 | r.Uint64N(2)
		}}), suite.Farther(r, few,
		suite.Number[workload]{Least: 1, Most: suite.FarCount, Set: blocks},
		suite.Number[workload]{Least: 1, Most: suite.FarCount, Set: func(w *workload, v int) { w.streams = v }})...)
	rounds := func(w *workload, v int) { w.config.Rounds = v }
	ws = append(ws, suite.Farther(r, kept, suite.Number[workload]{Least: 1, Most: suite.FarCount, Set: rounds})...)
	most := kept()
	[]func(*workload, int){blocks, rounds}[r.IntN(2)](&most, suite.Many(r))
	ws = append(ws, most)
	for i, w := range ws {
		c := w.config
		ws[i] = newWorkload(w.streams, c.Rounds, c.Threshold, c.TrimTo, c.Sizes...)
		ws[i].ownPool = w.ownPool
	}
	return ws
}

// otherSteps has pools grow by other steps than any GPU's do: nobody is to know them by heart.
func otherSteps(seed uint64) sim.Options {
	r := suite.NewRand(seed, "devices steps")
	return sim.Options{PoolStep: []uint64{2 * mib, 4 * mib, 8 * mib, 64 * mib}[r.IntN(4)]}
}

// The timed workload. Its blocks are small, so that touching them takes less than what a pool that keeps nothing pays
// in every round for growing and giving back: some 80 µs on an H200 whatever the blocks' size below its growth step.
const (
	speedStreams = 2
	speedBlocks  = 4
	speedRounds  = 20
)

// speedWorkload is one sample's workload, of sizes that none had before.
func speedWorkload(r *rand.Rand) workload {
	sizes := make([]int64, speedBlocks)
	for j := range sizes {
		sizes[j] = 32*kib + r.Int64N(32*kib)
	}
	return newWorkload(speedStreams, speedRounds, keepAll, 0, sizes...)
}
