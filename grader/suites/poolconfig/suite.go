// Package poolconfig is the suite of the pool-config lesson: its workloads, its baseline and its checks.
package poolconfig

import (
	"fmt"

	"cudalab/exercises/contract"
	"cudalab/grader/suite"
)

// Run is the function that the exercise asks for.
type Run func(contract.PoolConfig) (contract.PoolReport, error)

// The cases, in the order in which they run.
const (
	caseArguments = "arguments"
	caseShapes    = "shapes"
	caseRandom    = "random"
	caseFaults    = "faults"
	caseSpeed     = "speed"
)

// New is the suite over one implementation, with the solution beside it for the clock. cudalab, which only judges,
// passes nil for both.
func New(student, solution Run) *suite.Suite {
	d := driver{student: student, solution: solution}
	good := []string{caseShapes, caseRandom}
	return &suite.Suite{
		Exercise: "pool-config",
		Package:  "poolconfig",
		Function: "Run",
		Cases: []suite.Case{
			{ID: caseArguments, Drive: d.arguments},
			{ID: caseShapes, Drive: d.shapes},
			{ID: caseRandom, Drive: d.random},
			{ID: caseFaults, Drive: d.faults},
			{ID: caseSpeed, Timed: true, Drive: d.speed},
		},
		Checks: []suite.Question{
			{ID: "arguments", Name: "refuses bad arguments before anything is made",
				Needs: []string{caseArguments}, Judge: judgeArguments},
			{ID: "pool", Name: "all memory comes from one pool of its own with the right threshold, and no other pool is changed",
				Needs: good, Judge: judgePool},
			{ID: "work", Name: "block j is allocated, touched and freed on Streams[j % len(Streams)], every round",
				Needs: good, Judge: judgeWork, Luck: true},
			{ID: "order", Name: "every use is ordered before its free, and every sample is taken after the round's work",
				Needs: good, Judge: judgeOrder},
			{ID: "report", Name: "the report is what the pool answered",
				Needs: good, Judge: judgeReport},
			{ID: "reuse", Name: "allocations served from what the pool holds are counted, and the pool stops growing",
				Needs: good, Judge: judgeReuse},
			{ID: "trim", Name: "the pool is trimmed and sampled once, after the last round",
				Needs: good, Judge: judgeTrim},
			{ID: "cleanup", Name: "nothing is left behind, not even when a CUDA call fails",
				Needs: append(good, caseFaults), Judge: judgeCleanup},
			{ID: "speed", Name: "as fast as a pool that keeps its memory allows",
				Needs: []string{caseSpeed}, Judge: judgeSpeed},
		},
		Benchmarks: []suite.Benchmark{{ID: "speed", Name: fmt.Sprintf("%d rounds of %d blocks on %d streams", speedRounds, speedBlocks, speedStreams), Operation: "run",
			Note: "The baseline leaves the pool's release threshold at 0, so that every round fetches its memory again.", Drive: d.speed}},
	}
}
