// Package slab is the suite of the slab lesson: its sequences, the model of what a slab allocator must answer, its
// baseline and its checks.
package slab

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
	Stats() []contract.ClassStats
}

// Make makes an allocator, as slab.New does.
type Make func(classes []int64, blocksPerClass int) (Allocator, error)

// Of is an implementation's New, whatever it calls its allocator.
func Of[A Allocator](f func([]int64, int) (A, error)) Make {
	return func(classes []int64, blocksPerClass int) (Allocator, error) { return f(classes, blocksPerClass) }
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
		Exercise: "slab",
		Package:  "slab",
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
			{ID: "classes", Name: "every block comes from the smallest class that fits and has one",
				Needs: good, Judge: judgeClasses},
			{ID: "errors", Name: "each mistake gets its own error, and changes nothing",
				Needs: good, Judge: judgeErrors},
			{ID: "stats", Name: "Stats says how the classes stand",
				Needs: good, Judge: judgeStats},
			{ID: "blocks", Name: "blocks are aligned, inside the allocator's memory, and nobody else's",
				Needs: good, Judge: judgeBlocks},
			{ID: "host-only", Name: "nothing asks CUDA between New and Close",
				Needs: good, Judge: judgeHostOnly},
			{ID: "cleanup", Name: "Close gives everything back, also when a CUDA call has failed",
				Needs: append(good, caseFaults), Judge: judgeCleanup},
			{ID: "cost", Name: "a block costs the same among 100 blocks and among 100,000",
				Needs: []string{caseCost}, Judge: judgeCost},
		},
		Benchmarks: d.benchmarks(),
	}
}
