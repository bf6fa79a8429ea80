// Package vmmarena is the suite of the vmm-arena lesson: its sequences, the model of what an arena must answer, the
// account of what the trace shows of its memory, its baseline and what is asked.
package vmmarena

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"cudalab/exercises/contract"
	"cudalab/grader/suite"
	"cudalab/grader/suite/allocator"
	"cudalab/grader/suite/allocbench"
	"cudalab/grader/suite/verdict"
	"cudalab/native/cuda"
	"cudalab/native/sim"
	"cudalab/native/trace"
)

// Arena is what the exercise asks for.
type Arena interface {
	allocator.Allocator
	Reset() error
	Stats() contract.ArenaStats
}

// Make makes an arena, as vmmarena.New does.
type Make func(device int, reserve int64) (Arena, error)

// Of is an implementation's New, whatever it calls its arena.
func Of[A Arena](f func(int, int64) (A, error)) Make {
	return func(device int, reserve int64) (Arena, error) {
		a, err := f(device, reserve)
		return allocator.OrNil[Arena](a), err
	}
}

// Suite makes the suite of a student's code, and of the solution where there is one. Through it a runner's main
// package, which is compiled for each check, calls what is compiled here.
var Suite = Lesson.Suite

// Lesson is what is asked about the exercise.
var Lesson = suite.Lesson[Make]{
	Name:      "vmm-arena",
	Memory:    4 << 30, // the solution has a GiB of physical memory where the granularity is large
	Functions: []string{"New"},
	Parts: []suite.Part[Make]{
		lab.Arguments(arguments),
		scale.Also(plenty.Part(ofBump, "blocks lie one behind the other from Base on, and each mistake gets its own error",
			"Every block lay where the one before had ended, and every mistake was answered with its own error.", nil)),
		scale.Also(plenty.Telling(suite.Part[Make]{Cases: plenty.Trials(), Question: suite.Question{ID: ofGrowth,
			Name: "grows in its range, by whole granules, and what is there stays where it is", Judge: judgeGrowth}})),
		plenty.Part("committed", "holds no more than twice the peak of what was used, and grows by a factor",
			"There was never more memory than twice the peak of what was used, and it grew in few steps.",
			func(e *suite.Evidence, r *allocator.Run[layout]) []verdict.Finding {
				c := replayOf(e, r)
				return slices.Concat(c.tooMuch(), c.misstated(), c.tooOften())
			}),
		plenty.Part(ofReset, "Reset begins again at Base and keeps the memory",
			"After every Reset the first block was at Base, in memory that was still mapped.",
			func(e *suite.Evidence, r *allocator.Run[layout]) []verdict.Finding {
				c := replayOf(e, r)
				return append(c.callsOfReset(), c.callsOfAlloc(true)...)
			}),
		memory(),
		scale.Leaks(plenty.Cleanup(cleanup)),
		cost.Part(),
		speed,
	},
	Benchmarks: append(allocbench.Pairs("An arena takes no single block back: it is reset when it is full, which is in "+
		"the time.", ofBlocks),
		suite.Trial[Make]{ID: "growth", Drive: race, Benchmark: suite.Benchmark{
			Name:      fmt.Sprintf("growth from nothing to %d MiB in blocks of %d KiB", speedTotal>>20, speedBlock>>10),
			Operation: "run",
			Note:      "The baseline takes twice the memory, copies what is there and frees the old, whenever it is full.",
		}}, allocbench.Bookkeeping(ofBlocks)),
}

// lastGap is the one behind which an arena can be closed.
const lastGap = "1g"

var lab = &allocator.Lab[Make, layout]{
	New: func(f Make, l layout) (allocator.Subject, error) {
		a, err := f(l.device, l.reserve)
		if a == nil || err != nil {
			return allocator.Subject{Allocator: a}, err
		}
		return subject(a), nil
	},
	Model: newModel,
	Parts: []string{ofBump, ofGrowth, ofReset, ofMemory},
	Proof: newProof,
	Device: func(l layout) sim.Options {
		return sim.Options{Granularity: uint64(l.granularity), Memory: uint64(l.memory)}
	},
	Granular: true,
	Between: allocator.Between{
		Calls: []trace.Op{trace.OpMemGetAllocationGranularity, trace.OpMemAddressReserve, trace.OpMemCreate, trace.OpMemMap,
			trace.OpMemSetAccess, trace.OpMemRelease, trace.OpMemGetInfo, trace.OpDeviceInfo,
			// A remark tells that nothing needs these.
			trace.OpStreamSynchronize, trace.OpEventSynchronize, trace.OpDeviceSynchronize,
			trace.OpStreamQuery, trace.OpEventQuery},
		Why: "What is mapped once costs nothing to use again, and to grow takes physical memory behind what there is, " +
			"nothing else.",
		Fix: "Create physical memory and map it where the range is not mapped yet; set the number of used bytes to 0 in " +
			"Reset.",
	},
}

// subject is an arena to be tried.
func subject(a Arena) allocator.Subject {
	return allocator.Subject{Allocator: a, Stats: func() []int64 { return numbers(a.Stats()) }, Base: a.Stats().Base}
}

var (
	// plenty are the trials whose sequences find as much memory as they ask for.
	plenty = allocator.Good[Make, layout]{
		lab.Steps("examples", lastGap, examples),
		lab.Steps("random", lastGap, drawn),
		lab.Steps("fine", lastGap, both).On(fine),     // of smaller granularity than any GPU's
		lab.Steps("coarse", lastGap, both).On(coarse), // of larger
	}
	// scale are the trials with more blocks and bytes than small numbers can hold, and with numbers from all over their
	// domains.
	scale = lab.Steps("scale", lastGap, large).Large(plenty).Beside(lab.Steps("far", lastGap, far).Large(plenty).Abreast())
	// scarcity is the trial on a device that runs out of memory. All of that is the arena's, so the blocks are not used.
	scarcity = allocator.Good[Make, layout]{lab.Steps("memory", lastGap, nearlyFull).On(scarce).Idle()}
)

// noDevice is the number of a device that no machine has.
const noDevice = 99

var arguments = allocator.Arguments[layout]{
	Name: "refuses a bad reserve before any CUDA call, and reserves on the device it is told", After: "1b",
	Bad: []layout{{reserve: 0}, {reserve: -1}, {reserve: -1 << 21}},
	Lacking: []layout{{device: noDevice, reserve: 1 << 20},
		{reserve: 1 << 62}, {reserve: 1<<63 - 1<<30}, {reserve: math.MaxInt64}},
	Uncountable: func(l layout) bool { return l.reserve == math.MaxInt64 }, // once it is rounded up
	Good:        []layout{{reserve: 1}, {reserve: 1 << 21}},
	Wrong: func(o verdict.Outcome) (verdict.Finding, bool) {
		return verdict.Finding{
			Rule: "device-ignored",
			Message: o.Label + " should have returned CUDA's error, since there is no such device or no such range, " +
				"but it returned nil.",
			Why: "Memory lies on one device, and its addresses are finite: an arena that has neither is of no use.",
			Fix: "Pass device on as the ID of the location, wherever memory is asked about or created, and return every " +
				"error of CUDA's.",
		}, o.OK()
	},
	Refusal: suite.Refusal{
		Fix:     "Return contract.ErrArgument for a reserve below 1, before the first CUDA call.",
		FixLate: "Look at reserve before the first CUDA call.",
	},
}

// ofBlocks is an arena for benchmarks.
func ofBlocks(f Make) allocbench.Make {
	return func(_, largest int64, blocks int) (allocbench.Allocator, error) {
		a, err := f(0, largest*int64(blocks))
		return phased{a}, err
	}
}

// phased is an arena whose blocks are freed all together, whenever it is full.
type phased struct{ Arena }

func (a phased) Alloc(size int64) (cuda.DevicePtr, error) {
	p, err := a.Arena.Alloc(size)
	if !errors.Is(err, contract.ErrFull) {
		return p, err
	}
	if err := a.Reset(); err != nil {
		return 0, err
	}
	return a.Arena.Alloc(size)
}

func (phased) Free(cuda.DevicePtr) error { return nil }
