// Package slab is the suite of the slab lesson: its sequences, the model of what a slab allocator must answer, and what
// is asked.
package slab

import (
	"math"
	"slices"

	"cudalab/exercises/contract"
	"cudalab/grader/suite"
	"cudalab/grader/suite/allocator"
	"cudalab/grader/suite/allocbench"
	"cudalab/native/cuda"
)

// Allocator is what the exercise asks for.
type Allocator interface {
	allocator.Allocator
	Free(cuda.DevicePtr) error
	Stats() []contract.ClassStats
}

// Make makes an allocator, as slab.New does.
type Make func(classes []int64, blocksPerClass int) (Allocator, error)

// Of is an implementation's New, whatever it calls its allocator.
func Of[A Allocator](f func([]int64, int) (A, error)) Make {
	return func(classes []int64, blocksPerClass int) (Allocator, error) {
		a, err := f(classes, blocksPerClass)
		return allocator.OrNil[Allocator](a), err
	}
}

// Suite makes the suite of a student's code, and of the solution where there is one. Through it a runner's main
// package, which is compiled for each check, calls what is compiled here.
var Suite = Lesson.Suite

// Lesson is what is asked about the exercise.
var Lesson = suite.Lesson[Make]{
	Name:      "slab",
	Functions: []string{"New"},
	Parts: []suite.Part[Make]{
		lab.Arguments(arguments),
		scale.Also(good.Telling(good.Part(ofClasses, "every block comes from the smallest class that fits and has one",
			"Every block came from the smallest class that fits, or from the next larger one that had any left.", nil))),
		scale.Also(good.Part(ofErrors, "each mistake gets its own error, and changes nothing",
			"Every mistake was answered with its own error, and changed nothing.", nil)),
		scale.Also(good.Part(ofStats, "Stats says how the classes stand",
			"After every call Stats said how the classes stood.", nil)),
		scale.Also(suite.Part[Make]{Cases: good.Trials(), Question: suite.Question{ID: ofBlocks,
			Name: "blocks are aligned, inside the allocator's memory, and nobody else's", Judge: judgeBlocks}}),
		scale.Calls(suite.Part[Make]{Cases: good.Trials(), Question: suite.Question{ID: "host-only",
			Name: "nothing asks CUDA between New and Close", Judge: judgeHostOnly}}),
		scale.Leaks(good.Cleanup(allocator.Cleanup[layout]{
			Name: "Close gives everything back, also when a CUDA call has failed", After: lastGap, Draw: threeBlocks,
			Far: farLives,
		})),
		cost.Part(),
		speed.Part("kernels run with its blocks as soon as with the solution's"),
	},
	Benchmarks: allocbench.Benchmarks(func(f Make) allocbench.Make {
		return func(least, largest int64, blocks int) (allocbench.Allocator, error) {
			var classes []int64
			for size := least; size <= largest; size *= 2 {
				classes = append(classes, size)
			}
			return f(classes, blocks)
		}
	}),
}

// lastGap is the one behind which an allocator can be closed.
const lastGap = "1f"

var lab = &allocator.Lab[Make, layout]{
	New: func(f Make, l layout) (allocator.Subject, error) {
		given := lent(l.classes)
		a, err := f(given[:len(l.classes)], l.blocks)
		s := subject(a)
		if !slices.Equal(given[:len(l.classes)], l.classes) || !slices.Equal(given[len(l.classes):], beyond) {
			s.Stats = func() []int64 { return []int64{changedClasses} }
		}
		for i := range given {
			given[i] = callersClass // who may go on to use the slice for something else
		}
		return s, err
	},
	Model: newModel,
	Room:  layout.room,
	Parts: []string{ofClasses, ofErrors, ofStats, ofBlocks},
	Proof: newProof,
	Between: allocator.Between{
		Why: "That is what the allocator is for: a call takes the driver microseconds, where a list on the " +
			"host takes nanoseconds.",
		Fix: "Get all memory in New, free it in Close, and keep account of the blocks on the host, however many there are.",
	},
}

// subject is an allocator to be tried.
func subject(a Allocator) allocator.Subject {
	var last, was []contract.ClassStats // what Stats said before, and what that was
	return allocator.Subject{Allocator: a, Stats: func() []int64 {
		now := a.Stats()
		if !slices.Equal(last, was) {
			return []int64{changedStats}
		}
		if slices.ContainsFunc(now, func(c contract.ClassStats) bool { return c.BlockSize == callersClass }) {
			return []int64{keptClasses}
		}
		said := numbers(now)
		for i := range now {
			now[i].BlockSize = callers
		}
		last, was = now, slices.Clone(now)
		return said
	}}
}

// beyond are elements of a caller's that lie behind the classes in one array.
var beyond = []int64{1 << 40, 1 << 41}

// lent are classes with what is beyond them, and room for nothing else: how much there is would tell cases apart.
func lent(classes []int64) []int64 {
	return append(append(make([]int64, 0, len(classes)+len(beyond)), classes...), beyond...)
}

var good = allocator.Good[Make, layout]{
	lab.Steps("examples", lastGap, allocator.Fixed(examples()...)),
	lab.Steps("random", lastGap, drawn),
}

// scale are the trials with more blocks and bytes than small numbers can hold, and with numbers from all over their
// domains.
var scale = lab.Steps("scale", lastGap, large).Large(good).Seldom().
	Beside(lab.Steps("far", lastGap, far).Large(good).Abreast())

var arguments = allocator.Arguments[layout]{
	Name: "refuses bad arguments before anything is made", After: "1b",
	Bad: append([]layout{
		{nil, 4},
		{[]int64{}, 4},
		{[]int64{0}, 4},
		{[]int64{-256}, 4},
		{[]int64{100}, 4},
		{[]int64{256, 300}, 4},
		{[]int64{256, 256}, 4},
		{[]int64{512, 256}, 4},
		{[]int64{256, 1024, 512}, 4},
		{[]int64{256, 512, 0}, 4},
		{[]int64{256}, 0},
		{[]int64{256}, -1},
		{[]int64{1 << 62, 1<<62 + 256}, 1},          // 2^63 and 256 in two classes
		{[]int64{1 << 61, 1<<61 + 256, 3 << 61}, 2}, // the first fits twice, the second does not any more
	}, overflowing()...),
	Lacking: []layout{{[]int64{math.MaxInt64 / 513}, 513}}, // as many bytes as an int64 can count
	Wrong:   allocator.Refused,
	Good:    []layout{{[]int64{256}, 4}, {[]int64{256, 512}, 4}, {[]int64{256, 512, 1024}, 2}},
	Refusal: suite.Refusal{
		Fix: "Return contract.ErrArgument for no classes, for a size that is below 1, no multiple of 256, or not larger " +
			"than the one before, for fewer than one block in a class, and for more bytes in all than an int64 can count.",
		FixLate: "Look at the number of blocks and at every size before the first CUDA call.",
	},
}

// overflowing are layouts of one class that has more bytes than an int64 counts.
func overflowing() (ls []layout) {
	for _, of := range suite.Overflowing(256) {
		ls = append(ls, layout{[]int64{of[0]}, int(of[1])})
	}
	return ls
}

func judgeHostOnly(e *suite.Evidence) suite.Answer {
	a := good.Judge(e, "host-only", "Between New and Close the host did it all by itself.", nil)
	a.Findings = good.CallsBetween(e, "all memory", "a list")
	return a
}
