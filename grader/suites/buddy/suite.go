// Package buddy is the suite of the buddy lesson: its workloads, its model of a buddy allocator and what is asked.
package buddy

import (
	"math"

	"cudalab/exercises/contract"
	"cudalab/grader/suite"
	"cudalab/grader/suite/allocator"
	"cudalab/grader/suite/allocbench"
	"cudalab/native/cuda"
	"cudalab/native/session"
	"cudalab/native/trace"
)

// Allocator is what the exercise asks for.
type Allocator interface {
	allocator.Allocator
	Free(cuda.DevicePtr) error
	Stats() contract.BuddyStats
}

// Make makes an allocator, as buddy.New does.
type Make func(total, minBlock int64) (Allocator, error)

// Of is an implementation's New, whatever it calls its allocator.
func Of[A Allocator](f func(total, minBlock int64) (A, error)) Make {
	return func(total, minBlock int64) (Allocator, error) {
		a, err := f(total, minBlock)
		return allocator.OrNil[Allocator](a), err
	}
}

// Suite makes the suite of a student's code, and of the solution where there is one. Through it a runner's main
// package, which is compiled for each check, calls what is compiled here.
var Suite = Lesson.Suite

// Lesson is what is asked about the exercise.
var Lesson = suite.Lesson[Make]{
	Name:      "buddy",
	Functions: []string{"New"},
	Parts: []suite.Part[Make]{
		lab.Arguments(arguments),
		scale.Calls(good.Telling(suite.Part[Make]{Cases: good.Trials(), Question: suite.Question{ID: ofMemory,
			Name: "the root block is one cuda.Malloc, and CUDA is not called again before Close", Judge: judgeMemory}})),
		scale.Also(good.Part(ofErrors, "sizes and addresses that are not valid are refused with the right error, and valid "+
			"ones are not",
			"Every size and every address that is not valid was refused with its error, and no valid one was.", nil)),
		scale.Also(suite.Part[Make]{Cases: good.Trials(), Question: suite.Question{ID: ofBlocks,
			Name: "every block is aligned to its size, inside the root, and nobody else's", Judge: judgeBlocks}}),
		scale.Also(good.Part(ofCoalescing, "Alloc succeeds whenever an aligned block is free, and only halves are made "+
			"whole again",
			"Whenever an aligned block was free it was found, and what was all free was one block again.", nil)),
		scale.Also(good.Part(ofStats, "Stats tells what is in use and what is free",
			"After every call Stats told what was in use and what was free.", nil)),
		scale.Leaks(good.Cleanup(allocator.Cleanup[layout]{
			Name:  "Close gives everything back, and a failing CUDA call is reported and leaves nothing behind",
			After: lastGap, Draw: threeBlocks, Far: farLives,
		})),
		cost.Part(),
		speed.Part("kernels run with its blocks as soon as with the solution's"),
	},
	// The root has room for all blocks at their largest.
	Benchmarks: allocbench.Benchmarks(func(f Make) allocbench.Make {
		return func(least, largest int64, blocks int) (allocbench.Allocator, error) {
			return f(largest*int64(blocks), least)
		}
	}),
}

// lastGap is the one behind which an allocator can be closed.
const lastGap = "1g"

// ofMemory is the part about what New allocates.
const ofMemory = "memory"

var lab = &allocator.Lab[Make, layout]{
	New: newSubject, Model: newModel, Room: func(l layout) int64 { return powerOfTwo(l.total) }, Parts: []string{ofErrors,
		ofBlocks, ofCoalescing, ofStats}, Proof: newProof,
	Traced: true, // by the trace New finds the root
	Between: allocator.Between{
		Why: "That is what the allocator is for: a call takes the driver microseconds, where halving a " +
			"block on the host takes nanoseconds.",
		Fix: "Get the root block in New, free it in Close, and keep account of the blocks on the host, " +
			"however many there are.",
	},
}

// newSubject makes an allocator. Where its root block lies the session knows, and its Stats are noted with that.
func newSubject(f Make, l layout) (allocator.Subject, error) {
	a, err := f(l.total, l.minBlock)
	if a == nil || err != nil {
		return allocator.Subject{Allocator: a}, err
	}
	root := cuda.DevicePtr(0)
	for _, r := range session.Current().Since(trace.OpMalloc) {
		if r.Size >= l.root() && root == 0 {
			root = cuda.DevicePtr(r.Addr)
		}
	}
	return subject(a, root), nil
}

// subject is an allocator to be tried, with its root block.
func subject(a Allocator, root cuda.DevicePtr) allocator.Subject {
	return allocator.Subject{Allocator: a, Base: root, Stats: func() []int64 {
		stats := a.Stats()
		return []int64{statTotal: stats.Total, statInUse: stats.InUse, statLargestFree: stats.LargestFree,
			statFreeBlocks: int64(stats.FreeBlocks), statRoot: int64(root)}
	}}
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
	Bad: []layout{{0, 256}, {-1, 256}, {-4096, 256}, {4096, 0}, {4096, -1}, {256, 257}, {4096, 8192}, {100, 1},
		{1<<62 + 1, 256}, {math.MaxInt64, 1 << 62}, {4096, 1<<62 + 1}, {4096, math.MaxInt64}},
	// The largest root that there can be, whole and in so many blocks that no table of them can be made before it is
	// refused.
	Lacking: []layout{{1 << 62, 1 << 62}, {1 << 62, 1}},
	Wrong:   allocator.Refused,
	Good:    []layout{{4096, 256}, {8192, 4096}},
	Refusal: suite.Refusal{
		Fix: "Return contract.ErrArgument for a total or a minimal block below 1 or above 2^62, and where the minimal " +
			"block, rounded up to a power of two and to 256 at least, is larger than the total, rounded up to a power of two.",
		FixLate: "Look at both arguments, rounded up, before the first CUDA call.",
	},
}
