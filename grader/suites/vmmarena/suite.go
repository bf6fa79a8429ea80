// Package vmmarena is the suite of the vmm-arena lesson: its sequences, the model of what an arena must answer, the account
// of what the trace shows of its memory, its baseline and its checks.
package vmmarena

import (
	"cudalab/exercises/contract"
	"cudalab/grader/suite"
	"cudalab/grader/suite/sequence"
)

// Arena is what the exercise asks for.
type Arena interface {
	sequence.Allocator
	Reset() error
	Stats() contract.ArenaStats
}

// Make makes an arena, as vmmarena.New does.
type Make func(device int, reserve int64) (Arena, error)

// Of is an implementation's New, whatever it calls its arena.
func Of[A Arena](f func(int, int64) (A, error)) Make {
	return func(device int, reserve int64) (Arena, error) { return f(device, reserve) }
}

// The cases, in the order in which they run.
const (
	caseArguments = "arguments"
	caseExamples  = "examples"
	caseRandom    = "random"
	caseFine      = "fine"   // on a device of smaller granularity than any GPU's
	caseCoarse    = "coarse" // of larger
	caseMemory    = "memory" // on a device that runs out of memory
	caseFaults    = "faults"
	caseCost      = "cost"
	caseSpeed     = "speed"
)

// plenty are the cases whose sequences find as much memory as they ask for.
var plenty = []string{caseExamples, caseRandom, caseFine, caseCoarse}

// New is the suite over one implementation, with the solution beside it for the clock. cudalab, which only judges,
// passes nil for both.
func New(student, solution Make) *suite.Suite {
	d := driver{student: student, solution: solution}
	return &suite.Suite{
		Exercise: "vmm-arena",
		Package:  "vmmarena",
		Memory:   4 << 30, // the solution has a GiB of physical memory where the granularity is large
		Function: "New",
		Mean:     speedMean,
		Cases: []suite.Case{
			{ID: caseArguments, Drive: d.arguments},
			{ID: caseExamples, Drive: d.examples},
			{ID: caseRandom, Drive: d.random},
			{ID: caseFine, Simulated: fine, Drive: d.both},
			{ID: caseCoarse, Simulated: coarse, Drive: d.both},
			{ID: caseMemory, Simulated: scarce, Drive: d.memory},
			{ID: caseFaults, Drive: d.faults},
			{ID: caseCost, Timed: true, Drive: d.cost},
			{ID: caseSpeed, Timed: true, Drive: d.speed},
		},
		Checks: []suite.Question{
			{ID: "arguments", Name: "refuses a bad reserve before any CUDA call, and reserves on the device it is told",
				Needs: []string{caseArguments}, Judge: judgeArguments},
			{ID: "bump", Name: "blocks lie one behind the other from Base on, and each mistake gets its own error",
				Needs: plenty, Judge: judgeBump},
			{ID: "growth", Name: "grows in its range, by whole granules, and what is there stays where it is",
				Needs: plenty, Judge: judgeGrowth},
			{ID: "committed", Name: "holds no more than twice the peak of what was used, and grows by a factor",
				Needs: plenty, Judge: judgeCommitted},
			{ID: "reset", Name: "Reset begins again at Base and keeps the memory",
				Needs: plenty, Judge: judgeReset},
			{ID: "memory", Name: "makes do with less when the device is nearly full, and a growth that fails changes nothing",
				Needs: []string{caseMemory}, Judge: judgeMemory},
			{ID: "cleanup", Name: "Close gives everything back, also when a CUDA call has failed",
				Needs: append([]string{caseFaults}, plenty...), Judge: judgeCleanup},
			{ID: "cost", Name: "a block costs the same behind 100 blocks and behind 100,000",
				Needs: []string{caseCost}, Judge: judgeCost},
			{ID: "speed", Name: "growing takes about as long as the solution's",
				Needs: []string{caseSpeed}, Judge: judgeSpeed},
		},
		Benchmarks: d.benchmarks(),
	}
}
