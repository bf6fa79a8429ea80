// Package crossstreamevents is the suite of the cross-stream-events lesson: its workloads, its baseline and its checks.
package crossstreamevents

import (
	"cudalab/grader/suite"
	"cudalab/native/cuda"
)

// Code is the functions that the exercise asks for.
type Code struct {
	Share  func(a, b cuda.Stream, n int, out cuda.DevicePtr, independent func(cuda.Stream) error) error
	FanOut func(source cuda.Stream, consumers []cuda.Stream, n int, outs []cuda.DevicePtr) error
}

// The cases, in the order in which they run: all of Share before FanOut, as the skeleton's gaps are numbered.
const (
	caseShareArguments  = "share-arguments"
	caseShare           = "share"
	caseShareDelays     = "share-delays"
	caseShareError      = "share-error"
	caseShareFaults     = "share-faults"
	caseFanOutArguments = "fan-out-arguments"
	caseFanOut          = "fan-out"
	caseFanOutDelays    = "fan-out-delays"
	caseFanOutFaults    = "fan-out-faults"
	caseSpeed           = "speed"
)

// New is the suite over one implementation, with the solution beside it for the clock. cudalab, which only judges,
// passes the zero Code for both.
func New(student, solution Code) *suite.Suite {
	d := driver{student: student, solution: solution}
	good := []string{caseShare, caseShareDelays, caseFanOut, caseFanOutDelays}
	return &suite.Suite{
		Exercise: "cross-stream-events",
		Package:  "crossstreamevents",
		Function: "Share",
		Cases: []suite.Case{
			{ID: caseShareArguments, Drive: d.shareArguments},
			{ID: caseShare, Drive: d.share},
			{ID: caseShareDelays, Drive: d.shareDelays},
			{ID: caseShareError, Drive: d.shareError},
			{ID: caseShareFaults, Drive: d.shareFaults},
			{ID: caseFanOutArguments, Drive: d.fanOutArguments},
			{ID: caseFanOut, Drive: d.fanOut},
			{ID: caseFanOutDelays, Drive: d.fanOutDelays},
			{ID: caseFanOutFaults, Drive: d.fanOutFaults},
			{ID: caseSpeed, Timed: true, Drive: d.speed},
		},
		Checks: []suite.Question{
			{ID: "arguments", Name: "refuses bad arguments before any CUDA call",
				Needs: []string{caseShareArguments, caseFanOutArguments}, Judge: judgeArguments},
			{ID: "results", Name: "every sum is right, whichever stream is late",
				Needs: good, Judge: judgeResults, Luck: true},
			{ID: "placement", Name: "every step is done, in the stream that it belongs to",
				Needs: good, Judge: judgePlacement},
			{ID: "order", Name: "every use is ordered after its allocation and before its free",
				Needs: append([]string{caseShareError}, good...), Judge: judgeOrder},
			{ID: "events", Name: "events alone make the order: the host never waits",
				Needs: good, Judge: judgeEvents},
			{ID: "overlap", Name: "streams that need not wait for each other do not",
				Needs: good, Judge: judgeOverlap},
			{ID: "cleanup", Name: "nothing is left behind, not even when a call fails",
				Needs: append([]string{caseShareError, caseShareFaults, caseFanOutFaults}, good...), Judge: judgeCleanup},
			{ID: "speed", Name: "as fast as overlapping streams allow",
				Needs: []string{caseSpeed}, Judge: judgeSpeed},
		},
		Benchmarks: []suite.Benchmark{{ID: "speed", Name: "two streams that each have 1 ms of work of their own", Operation: "call",
			Note: "The baseline has the host wait wherever one stream has to come after another.", Drive: d.speed}},
	}
}
