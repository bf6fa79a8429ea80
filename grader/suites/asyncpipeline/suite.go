// Package asyncpipeline is the suite of the async-pipeline lesson: its workloads, its baseline and its checks.
package asyncpipeline

import (
	"fmt"

	"cudalab/exercises/contract"
	"cudalab/grader/suite"
	"cudalab/native/cuda"
)

// Run is the function that the exercise asks for.
type Run func(streams []cuda.Stream, batches []contract.Batch) error

// The cases, in the order in which they run.
const (
	caseArguments = "arguments"
	caseShapes    = "shapes"
	caseRandom    = "random"
	casePending   = "pending"
	caseFaults    = "faults"
	caseSpeed     = "speed"
)

// New is the suite over one implementation, with the solution beside it for the clock. cudalab, which only judges,
// passes nil for both.
func New(student, solution Run) *suite.Suite {
	d := driver{student: student, solution: solution}
	return &suite.Suite{
		Exercise: "async-pipeline",
		Package:  "asyncpipeline",
		Function: "Run",
		Cases: []suite.Case{
			{ID: caseArguments, Drive: d.arguments},
			{ID: caseShapes, Drive: d.shapes},
			{ID: caseRandom, Drive: d.random},
			{ID: casePending, Drive: d.pending},
			{ID: caseFaults, Drive: d.faults},
			{ID: caseSpeed, Timed: true, Drive: d.speed},
		},
		Checks: []suite.Question{
			{ID: "arguments", Name: "refuses bad arguments before any CUDA call",
				Needs: []string{caseArguments}, Judge: judgeArguments},
			{ID: "results", Name: "every batch has the right sum",
				Needs: []string{caseShapes, caseRandom}, Judge: judgeResults, Luck: true},
			{ID: "placement", Name: "batch i runs whole on streams[i % len(streams)]",
				Needs: []string{caseShapes, caseRandom}, Judge: judgePlacement},
			{ID: "async", Name: "Run returns without waiting for the device",
				Needs: []string{caseShapes, caseRandom, casePending}, Judge: judgeAsync},
			{ID: "order", Name: "every use is ordered after its allocation and before its free",
				Needs: []string{caseShapes, caseRandom, casePending}, Judge: judgeOrder},
			{ID: "cleanup", Name: "nothing is left behind, not even when a CUDA call fails",
				Needs: []string{caseShapes, caseRandom, caseFaults}, Judge: judgeCleanup},
			{ID: "speed", Name: "as fast as overlapping batches allow",
				Needs: []string{caseSpeed}, Judge: judgeSpeed},
		},
		Benchmarks: []suite.Benchmark{{ID: "speed", Name: fmt.Sprintf("%d batches on %d streams", speedBatches, speedStreams), Operation: "run",
			Note: "The baseline takes memory from cuda.Malloc and waits for every batch, all on one stream.", Drive: d.speed}},
	}
}
