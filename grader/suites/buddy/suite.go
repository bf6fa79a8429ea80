// Package buddy is the suite of the buddy lesson: its workloads, its model of a buddy allocator and its checks.
package buddy

import (
	"cudalab/exercises/contract"
	"cudalab/grader/suite"
	"cudalab/grader/suite/sequence"
	"cudalab/native/cuda"
)

// Allocator is what the exercise asks for.
type Allocator interface {
	sequence.Allocator
	Free(cuda.DevicePtr) error
	Stats() contract.BuddyStats
}

// Make makes an allocator, as buddy.New does.
type Make func(total, minBlock int64) (Allocator, error)

// Of is an implementation's New, whatever it calls its allocator.
func Of[A Allocator](f func(total, minBlock int64) (A, error)) Make {
	return func(total, minBlock int64) (Allocator, error) { return f(total, minBlock) }
}

// The cases, in the order in which they run.
const (
	caseArguments = "arguments"
	caseExamples  = "examples"
	caseRandom    = "random"
	caseFaults    = "faults"
	caseCost      = "cost"
)

// New is the suite over one implementation, with the solution beside it for the clock. cudalab, which only judges,
// passes nil for both.
func New(student, solution Make) *suite.Suite {
	d := driver{student: student, solution: solution}
	good := []string{caseExamples, caseRandom}
	return &suite.Suite{
		Exercise: "buddy",
		Package:  "buddy",
		Function: "New",
		Cases: []suite.Case{
			{ID: caseArguments, Drive: d.arguments},
			{ID: caseExamples, Drive: d.examples},
			{ID: caseRandom, Drive: d.random},
			{ID: caseFaults, Drive: d.faults},
			{ID: caseCost, Timed: true, Drive: d.cost},
		},
		Checks: []suite.Question{
			{ID: "arguments", Name: "refuses bad arguments before anything is made",
				Needs: []string{caseArguments}, Judge: judgeArguments},
			{ID: "memory", Name: "the root block is one cuda.Malloc, and CUDA is not called again before Close",
				Needs: good, Judge: judgeMemory},
			{ID: "errors", Name: "sizes and addresses that are not valid are refused with the right error, and valid ones are not",
				Needs: good, Judge: judgeErrors},
			{ID: "blocks", Name: "every block is aligned to its size, inside the root, and nobody else's",
				Needs: good, Judge: judgeBlocks},
			{ID: "coalescing", Name: "Alloc succeeds whenever an aligned block is free, and only halves are made whole again",
				Needs: good, Judge: judgeCoalescing},
			{ID: "stats", Name: "Stats tells what is in use and what is free",
				Needs: good, Judge: judgeStats},
			{ID: "cleanup", Name: "Close gives everything back, and a failing CUDA call is reported and leaves nothing behind",
				Needs: append(good, caseFaults), Judge: judgeCleanup},
			{ID: "cost", Name: "the cost does not grow with the number of blocks",
				Needs: []string{caseCost}, Judge: judgeCost},
		},
		Benchmarks: d.benchmarks(),
	}
}
