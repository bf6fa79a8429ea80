package asyncpipeline

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"cudalab/exercises/contract"
	"cudalab/grader/suite"
	"cudalab/grader/suite/verdict"
	"cudalab/kernels/oracle"
)

// workload is one call of Run: so many streams, and the batches without their result pointers.
type workload struct {
	label   string
	streams int
	batches []contract.Batch
}

func (w workload) Label() string { return w.label }

// into are the batches with room for their results.
func (w workload) into(results *suite.Results) []contract.Batch {
	batches := make([]contract.Batch, len(w.batches))
	for i, b := range w.batches {
		b.Result = results.At(i)
		batches[i] = b
	}
	return batches
}

// want is the sum that batch i must have.
func (w workload) want(i int) uint64 {
	b := w.batches[i]
	return oracle.ReduceProcess(b.N, b.Multiplier, b.Work)
}

// firstWrong is the first batch whose sum is wrong, or missing; -1 if all are right.
func (w workload) firstWrong(sums []uint64) int {
	for i := range w.batches {
		if i >= len(sums) || sums[i] != w.want(i) {
			return i
		}
	}
	return -1
}

// ofSizes is a workload with one batch per size, all different in what they compute.
func ofSizes(streams int, sizes ...int) workload {
	w := workload{streams: streams}
	for i, n := range sizes {
		w.batches = append(w.batches, contract.Batch{N: n, Work: 5 + 3*i, Multiplier: 1.5 + float32(i)/4})
	}
	return w.named()
}

func (w workload) named() workload {
	w.label = fmt.Sprintf("%s on %s", verdict.Count(len(w.batches), "batch", "batches"), verdict.Count(w.streams, "stream",
		"streams"))
	return w
}

// manyElements need more blocks of 256 threads than a block may have threads, so that the two cannot be mixed up.
const manyElements = 300_000

// shapes are the workloads at the edges: one element, one stream, sizes around a block's, more streams than batches, no
// batch, many blocks, equal batches, many batches.
func shapes() []workload {
	return []workload{
		ofSizes(1, 1),
		ofSizes(1, 1000, 1, 777),
		ofSizes(3, 255, 256, 257, 511, 512, 513, 4096),
		withoutWork(ofSizes(5, 1023, 2049)),
		ofSizes(2),
		ofSizes(1, manyElements),
		ofSizes(3, 700, 700, 700, 700, 700), // so that nothing but the order tells one from another
		ofSizes(1, 1000, 1, 777),            // as before, so that nothing of an earlier call may do for a later one
		alike(3, 7),
		ofSizes(4, manySizes()...),
	}
}

// alike are batches that are wholly alike, but for where their results go.
func alike(streams, batches int) workload {
	w := workload{streams: streams}
	for range batches {
		w.batches = append(w.batches, contract.Batch{N: 900, Work: 7, Multiplier: 1.5})
	}
	return w.named()
}

// withoutWork is a workload whose first batch has none.
func withoutWork(w workload) workload {
	w.batches[0].Work = 0
	return w
}

// far are calls with numbers from all over their domains.
func far(r *rand.Rand) (ws []workload) {
	type number = suite.Number[contract.Batch]
	few := func() contract.Batch {
		return contract.Batch{N: 1 + r.IntN(100), Work: r.IntN(10), Multiplier: multiplier(r)}
	}
	large := suite.Farther(r, few,
		number{Least: 1, Most: math.MaxInt32, Set: func(b *contract.Batch, v int) { b.N = v }},
		number{Most: math.MaxInt32, Set: func(b *contract.Batch, v int) { b.Work = v }},
		number{Most: int(math.Float32bits(math.MaxFloat32)), Set: func(b *contract.Batch, v int) {
			b.Multiplier = math.Float32frombits(uint32(v) | r.Uint32N(2)<<31)
		}})
	for i := 0; i < len(large); i += 3 {
		ws = append(ws, workload{streams: 1 + r.IntN(4), batches: large[i:min(i+3, len(large))]})
	}
	many := func(w *workload, n int) { // of any size each
		for range n {
			b := few()
			b.N, b.Work = suite.Somewhere(r, 1, math.MaxInt32), suite.Somewhere(r, 0, math.MaxInt32)
			w.batches = append(w.batches, b)
		}
	}
	ws = append(ws, suite.Farther(r, func() workload { return workload{streams: 1 + r.IntN(4)} },
		suite.Number[workload]{Most: suite.FarCount, Set: many},
		suite.Number[workload]{Least: 1, Most: suite.FarCount, Set: func(w *workload, v int) { w.streams = v }})...)
	most := workload{streams: 3 + 2*r.IntN(3)} // no power of two, of which the rest is the same in a byte
	many(&most, suite.Many(r))
	ws = append(ws, most)
	for i, w := range ws {
		ws[i] = w.named()
	}
	return ws
}

// launches are what the call has to launch.
func (w workload) launches() (all []suite.Launch) {
	for _, b := range w.batches {
		bytes := 4 * int64(b.N)
		all = append(all, suite.Launch{Kernel: sumKernels.Fill, Bytes: bytes, First: 2, Words: processWords,
			Numbers: []uint64{uint64(math.Float32bits(b.Multiplier)), uint64(b.Work)}},
			suite.Launch{Kernel: sumKernels.Sum, Bytes: bytes, Words: reduceWords})
	}
	return all
}

func processWords(bytes int64, numbers []uint64) string {
	multiplier := math.Float32frombits(uint32(numbers[0]))
	return fmt.Sprintf("%s with multiplier %g and work %d", reduceWords(bytes, nil), multiplier, numbers[1])
}

func reduceWords(bytes int64, _ []uint64) string {
	return "over " + verdict.Count(int(bytes/4), "element", "elements")
}

// manySizes are those of more batches than any other workload has.
func manySizes() (sizes []int) {
	for i := range speedBatches + 5 {
		sizes = append(sizes, 100+37*i)
	}
	return sizes
}

// drawn are random workloads.
func drawn(r *rand.Rand) []workload {
	ws := make([]workload, 3)
	for i := range ws {
		w := workload{streams: 2 + r.IntN(4)}
		for range w.streams + 1 + r.IntN(8) {
			w.batches = append(w.batches, contract.Batch{N: 1 + r.IntN(20_000), Work: r.IntN(50), Multiplier: multiplier(r)})
		}
		ws[i] = w.named()
	}
	// As many batches of the same sizes once more, with other sums.
	again := workload{streams: ws[len(ws)-1].streams, batches: slices.Clone(ws[len(ws)-1].batches)}
	for i := range again.batches {
		again.batches[i].Multiplier += 1 + multiplier(r)
	}
	return append(ws, again.named())
}

// threeBatches is a small workload like all others that it draws, in what Run has to call for it.
func threeBatches(r *rand.Rand) workload {
	w := workload{streams: 2}
	for range 3 {
		w.batches = append(w.batches, contract.Batch{N: 300 + r.IntN(500), Work: r.IntN(20), Multiplier: multiplier(r)})
	}
	return w.named()
}

func multiplier(r *rand.Rand) float32 { return float32(1+r.IntN(1<<12)) / 16 }

// stillBusy is the workload of a call while every stream has work ahead of it.
func stillBusy() workload {
	w := ofSizes(3, 500, 600, 700, 800)
	w.label += " that are still busy"
	return w
}

// The timed workload. A batch is 16 blocks, a fraction of any GPU, and long: on one stream the batches queue, on four
// they overlap. Short kernels would measure the cost of launching them.
const (
	speedStreams = 4
	speedBatches = 32
	speedN       = 4096
	speedWork    = 20_000
)

// speedWorkload is one sample's workload, with the multiplier that makes its results fresh; no two batches have the
// same.
func speedWorkload(m float32) workload {
	w := workload{streams: speedStreams}
	for i := range speedBatches {
		w.batches = append(w.batches, contract.Batch{N: speedN, Work: speedWork, Multiplier: m + float32(i)})
	}
	return w.named()
}
