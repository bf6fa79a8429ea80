package crossstreamevents

import (
	"fmt"

	"cudalab/grader/suite"
	"cudalab/kernels/oracle"
)

// workload is one call of Share, or of FanOut with so many consumers.
type workload struct {
	consumers int // 0: a call of Share
	n         int
	// late are the streams that are kept busy before the call: 0 is the source, i+1 is consumer i.
	late []int
}

// outs is how many results the call has, and how many streams read the buffer.
func (w *workload) outs() int { return max(w.consumers, 1) }

func (w *workload) function() string {
	if w.consumers == 0 {
		return "Share"
	}
	return "FanOut"
}

// streamName is the student's parameter for a stream: 0 is the source, i+1 is consumer i.
func (w *workload) streamName(i int) string {
	switch {
	case w.consumers == 0:
		return []string{"a", "b"}[i]
	case i == 0:
		return "source"
	}
	return fmt.Sprintf("consumers[%d]", i-1)
}

func (w *workload) outName(i int) string {
	if w.consumers == 0 {
		return "out"
	}
	return fmt.Sprintf("outs[%d]", i)
}

// want is the sum that every result must have.
func (w *workload) want() uint64 { return oracle.ReduceProcess(w.n, 1, 0) }

// label says what is called for: "257 elements for 3 consumers, while source is busy".
func (w *workload) label() string {
	label := suite.Count(w.n, "element", "elements")
	if w.consumers > 0 {
		label += " for " + suite.Count(w.consumers, "consumer", "consumers")
	}
	for i, s := range w.late {
		if i == 0 {
			label += ", while "
		} else {
			label += " and "
		}
		label += w.streamName(s)
	}
	switch len(w.late) {
	case 0:
		return label
	case 1:
		return label + " is busy"
	}
	return label + " are busy"
}

// maxElements bounds the sizes that are drawn. manyElements need more blocks of 256 threads than a block may have threads,
// so that the two cannot be mixed up.
const (
	maxElements  = 20_000
	manyElements = 300_000
)

// shareWorkloads are the calls of Share on idle streams: sizes around a block's, a large one, then random ones.
func shareWorkloads(seed uint64) []workload {
	r := suite.NewRand(seed, caseShare)
	var ws []workload
	for _, n := range []int{1, 255, 256, 257, 1000, manyElements, 1 + r.IntN(maxElements), 1 + r.IntN(maxElements)} {
		ws = append(ws, workload{n: n})
	}
	return ws
}

// shareDelayed are the calls of Share on streams of which one or both are late.
func shareDelayed(seed uint64) []workload {
	r := suite.NewRand(seed, caseShareDelays)
	var ws []workload
	for _, late := range [][]int{{0}, {1}, {0, 1}} {
		ws = append(ws, workload{n: 1 + r.IntN(maxElements), late: late})
	}
	return ws
}

// fanOutWorkloads are the calls of FanOut on idle streams.
func fanOutWorkloads(seed uint64) []workload {
	r := suite.NewRand(seed, caseFanOut)
	return []workload{
		{consumers: 1, n: 1},
		{consumers: 2, n: 513},
		{consumers: 5, n: 1023},
		{consumers: 1, n: manyElements},
		{consumers: 2 + r.IntN(5), n: 1 + r.IntN(maxElements)},
		{consumers: 2 + r.IntN(5), n: 1 + r.IntN(maxElements)},
	}
}

// fanOutDelayed are the calls of FanOut on streams of which each in turn is late, and then all of them are.
func fanOutDelayed(seed uint64) []workload {
	r := suite.NewRand(seed, caseFanOutDelays)
	var ws []workload
	for _, late := range [][]int{{0}, {1}, {2}, {3}, {0, 1, 2, 3}} {
		ws = append(ws, workload{consumers: 3, n: 1 + r.IntN(maxElements), late: late})
	}
	return ws
}

// The calls under which CUDA calls are made to fail.
var (
	faultyShare  = workload{n: 300}
	faultyFanOut = workload{consumers: 3, n: 700}
)
