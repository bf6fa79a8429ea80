package bugclinic

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"

	"cudalab/grader/suite"
	"cudalab/grader/suite/verdict"
	"cudalab/kernels/oracle"
)

// workload is one call of one of the functions.
type workload struct {
	of       *function
	n        int   // words
	work     int   // rounds
	steps    int   // of PingPong
	sizes    []int // of Upload's parts, or of the weights, in bytes
	contents uint64
	item     uint32     // of Snapshot: what src holds before; it is filled with the next
	late     suite.Late // the streams that are kept busy before the call
}

// Label says what is called for: "257 words, while a is busy".
func (w workload) Label() string {
	var label string
	switch w.of.name {
	case "Upload":
		label = verdict.Count(len(w.sizes), "part", "parts") + " of " + suite.Bytes(uint64(w.total()))
	case "Weights":
		label = suite.Bytes(uint64(w.total())) + " of weights"
	case "PingPong":
		label = verdict.Count(w.steps, "step", "steps") + " with "
		fallthrough
	default:
		label += verdict.Count(w.n, "word", "words")
	}
	return label + w.late.While(suite.Names(w.of.streams...))
}

// total is how many bytes the parts or the weights have together.
func (w workload) total() (bytes int) {
	for _, size := range w.sizes {
		bytes += size
	}
	return bytes
}

// parts are the bytes of Upload's parts, or of the weights.
func (w workload) parts() (all [][]byte) {
	r := rand.New(rand.NewPCG(w.contents, 0))
	for _, size := range w.sizes {
		part := make([]byte, size+8)
		for at := 0; at < size; at += 8 {
			binary.LittleEndian.PutUint64(part[at:], r.Uint64())
		}
		all = append(all, part[:size:size])
	}
	return all
}

// hashed is a number that stands for some bytes.
func hashed(bytes []byte) uint64 {
	h := fnv.New64a()
	h.Write(bytes)
	return h.Sum64()
}

// result is one of the numbers that a call leaves behind: a digest, or at how many places the caller has found other
// words than there should be.
type result struct {
	what string // where it is: "out+8*3"; of a count of places, the memory
	want uint64
	of   string // of a count of places, what should be there: "the words of item 1"
}

// results are what a call should leave behind, in order.
func (w workload) results() (all []result) {
	digest := func(item uint32, filled int) result {
		return result{what: "out", want: oracle.DigestOfItem(w.n, item, filled, w.work)}
	}
	switch w.of.name {
	case "Weights":
		sum := uint64(0)
		words := w.parts()[0]
		for at := 0; at < len(words); at += 4 {
			sum += uint64(binary.LittleEndian.Uint32(words[at:]))
		}
		return []result{{what: "out", want: sum}}
	case "PingPong":
		for i := range w.steps {
			r := digest(uint32(i), w.work)
			r.what = fmt.Sprintf("out+8*%d", i)
			all = append(all, r)
		}
		return all
	case "Merge":
		return []result{digest(0, 0), {what: "other", of: "the words of item 1"}, {what: "data", of: "the words of item 2"}}
	case "Replace":
		return []result{digest(0, 0), {what: "data", of: "the words of item 1"}}
	case "Allocate":
		return []result{{what: "the memory that it answered", of: "zeros"}}
	case "Snapshot":
		return []result{{what: "dst", of: "the words that src held before"},
			{what: "src", of: fmt.Sprintf("the words of item %d", w.item+1)}}
	case "Scratch":
		return []result{digest(7, w.work)}
	}
	return nil
}

// launches are what a far call has to launch.
func (w workload) launches() (all []suite.Launch) {
	bytes, work := 4*int64(w.n), uint64(w.work)
	fill := func(item uint32, work uint64) {
		all = append(all, suite.Launch{Kernel: fills, Bytes: bytes, First: 2, Numbers: []uint64{uint64(item), work},
			Words: fillWords})
	}
	digest := func() {
		all = append(all, suite.Launch{Kernel: digests, Bytes: bytes, First: 2, Numbers: []uint64{work}, Words: digestWords})
	}
	switch w.of.name {
	case "PingPong":
		for i := range w.steps {
			fill(uint32(i), work)
			digest()
		}
	case "Merge":
		digest()
		fill(1, work)
		fill(2, work)
	case "Replace":
		digest()
		fill(1, work)
	case "Snapshot":
		fill(w.item+1, 0)
	case "Scratch":
		fill(7, work)
		digest()
	}
	return all
}

func fillWords(bytes int64, numbers []uint64) string {
	return fmt.Sprintf("over %s with item %d and work %d", verdict.Count(int(bytes/4), "word", "words"), numbers[0],
		numbers[1])
}

func digestWords(bytes int64, numbers []uint64) string {
	return fmt.Sprintf("over %s with work %d", verdict.Count(int(bytes/4), "word", "words"), numbers[0])
}

// maxWords bounds the numbers that are drawn. manyWords need more blocks of 256 threads than a block may have threads,
// so that the two cannot be mixed up.
const (
	maxWords  = 20_000
	manyWords = 300_001
	maxPart   = 200_000 // bytes
	maxWork   = 300
)

// drawn are calls of a function: on idle streams, then with each stream late in turn, then with all.
func drawn(of *function, idle int, one func(*rand.Rand, int) workload) func(*rand.Rand) []workload {
	return func(r *rand.Rand) (ws []workload) {
		add := func(late ...int) {
			w := one(r, len(ws))
			w.of, w.contents, w.late = of, r.Uint64(), late
			ws = append(ws, w)
		}
		for range idle {
			add()
		}
		var all []int
		for i := range of.streams {
			if !of.made(i) {
				all = append(all, i)
				add(i)
			}
		}
		if len(all) > 1 {
			add(all...)
		}
		return ws
	}
}

// reaching are the function's calls with numbers from all over their domains.
func (f *function) reaching(r *rand.Rand) []workload {
	ws := f.far(r)
	for i := range ws {
		ws[i].of, ws[i].contents = f, r.Uint64()
	}
	return ws
}

// alike is a small call like all others that it draws, in what the function has to call for it.
func (f *function) alike(r *rand.Rand) workload {
	w := f.small
	w.of, w.contents, w.item = f, r.Uint64(), r.Uint32N(1<<30)
	if w.n > 0 {
		w.n += 2 * r.IntN(200)
	}
	w.sizes = nil
	for _, size := range f.small.sizes {
		w.sizes = append(w.sizes, size+4*r.IntN(100))
	}
	return w
}

// words are calls over an odd number of words: many, one, then others.
func words(r *rand.Rand, i int) workload {
	n := 1 + 2*r.IntN(maxWords/2)
	switch i {
	case 0:
		n = manyWords
	case 1:
		n = 1
	}
	return workload{n: n, work: r.IntN(maxWork), item: r.Uint32N(1 << 30)}
}

// partsOf are calls of Upload: one part, one that is empty at the end, one that is empty between two, then others.
func partsOf(r *rand.Rand, i int) (w workload) {
	for range min(i, 5) + 1 {
		w.sizes = append(w.sizes, 1+r.IntN(maxPart))
	}
	switch i {
	case 1:
		w.sizes = append(w.sizes, 0)
	case 2:
		w.sizes[1] = 0
	}
	return w
}

// weightsOf are calls of Weights: 64 KiB, 4 bytes, and more than a driver takes in with the call.
func weightsOf(_ *rand.Rand, i int) workload {
	return workload{sizes: []int{[]int{64 << 10, 4, 300_000, 4 * manyWords}[i%4]}}
}

// stepsOf are calls of PingPong: no steps, one, as many as there are blocks, and more.
func stepsOf(r *rand.Rand, i int) workload {
	w := words(r, i+2)
	w.steps = 9
	switch {
	case i == 2:
		w.n = manyWords
		fallthrough
	case i < 3:
		w.steps = i
	}
	return w
}

// wordsFar are far calls over words.
func wordsFar(r *rand.Rand) []workload {
	few := func() workload { return workload{n: 1 + r.IntN(100), work: r.IntN(10)} }
	return suite.Farther(r, few,
		suite.Number[workload]{Least: 1, Most: math.MaxInt32, Set: func(w *workload, v int) { w.n = v }},
		suite.Number[workload]{Most: math.MaxInt32, Set: func(w *workload, v int) { w.work = v }},
		suite.Number[workload]{Most: math.MaxUint32 - 1, Set: func(w *workload, v int) { w.item = uint32(v) }})
}

// stepsFar are far calls of PingPong.
func stepsFar(r *rand.Rand) []workload {
	few := func() workload { return workload{n: 1 + r.IntN(100), work: r.IntN(10), steps: 2} }
	most := few()
	most.steps = suite.Many(r)
	return append(suite.Farther(r, few,
		suite.Number[workload]{Least: 1, Most: math.MaxInt32, Set: func(w *workload, v int) { w.n = v }},
		suite.Number[workload]{Most: math.MaxInt32, Set: func(w *workload, v int) { w.work = v }},
		suite.Number[workload]{Most: suite.FarCount, Set: func(w *workload, v int) { w.steps = v }}), most)
}

// farBytes is the most that a far call of Upload or Weights copies.
const farBytes = 1 << 19

// partsFar are calls of Upload with parts of any number and size, and with nothing to copy.
func partsFar(r *rand.Rand) []workload {
	many := func(w *workload, v int) {
		for len(w.sizes) < v {
			w.sizes = append(w.sizes, r.IntN(40))
		}
		w.sizes[r.IntN(v)] = 1
	}
	var most workload
	many(&most, suite.Many(r))
	return append(suite.Farther(r, func() workload { return workload{} },
		suite.Number[workload]{Least: 1, Most: farBytes, Set: func(w *workload, v int) { w.sizes = []int{v} }},
		suite.Number[workload]{Least: 1, Most: suite.FarCount, Set: many}), most, workload{sizes: []int{0, 0}})
}

// weightsFar are calls of Weights of any size.
func weightsFar(r *rand.Rand) []workload {
	return suite.Farther(r, func() workload { return workload{} },
		suite.Number[workload]{Least: 1, Most: farBytes / 4, Set: func(w *workload, v int) { w.sizes = []int{4 * v} }})
}
