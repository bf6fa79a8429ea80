// Package blockpool is the suite of the block-pool lesson.
package blockpool

import (
	"fmt"
	"math"

	"cudalab/exercises/contract"
	"cudalab/grader/suite"
	"cudalab/grader/suite/allocator"
	"cudalab/native/cuda"
	"cudalab/native/trace"
)

// Pool is what New answers.
type Pool interface {
	Alloc(s cuda.Stream) (cuda.DevicePtr, error)
	Free(ptr cuda.DevicePtr, s cuda.Stream) error
	Stats() contract.BlockPoolStats
	Close() error
}

// Make is the exercise's New.
type Make func(blockSize int64, blocks int) (Pool, error)

// Of is New as a Make, whatever type it answers.
func Of[P Pool](make func(int64, int) (P, error)) Make {
	return func(blockSize int64, blocks int) (Pool, error) {
		p, err := make(blockSize, blocks)
		return allocator.OrNil[Pool](p), err
	}
}

// Suite makes the suite of a student's code, and of the solution where there is one. Through it a runner's main
// package, which is compiled for each check, calls what is compiled here.
var Suite = Lesson.Suite

// Lesson is what is asked about the exercise.
var Lesson = suite.Lesson[Make]{
	Name:      "block-pool",
	Functions: []string{"New"},
	Parts: []suite.Part[Make]{
		lab.Arguments(arguments),
		good.Telling(scale.Also(good.Part(ofPool, "hands out every block once, and each mistake gets its own error",
			"Every block went out and came back, every mistake was answered with its own error, and Stats said so.",
			waitsCounted))),
		{Cases: good.Trials(), Question: suite.Question{ID: "order",
			Name: "no block is handed out while its last user may still be at it", Judge: judgeOrder}},
		asking(good.Part("own", "no stream waits while a block needs no edge",
			"No stream had to wait while there was a block that needed no edge, or one that was done.", needless)),
		scale.Calls(good.Part("host", "Alloc and Free never wait, and make few events",
			"Alloc and Free called nothing but what they need.", calls)),
		scale.Leaks(good.Cleanup(allocator.Cleanup[layout]{
			Name: "Close gives everything back, also when a CUDA call has failed", After: lastGap,
			Function: "the call that it was made in", Draw: life, Queries: true,
			Far:   farLives,
			Leaks: leaks,
		})),
		cost.Part(),
		speed.Part("streams that take blocks at once run at once"),
	},
	Benchmarks: []suite.Trial[Make]{{ID: "rounds", Drive: speed.Drive, Benchmark: suite.Benchmark{
		Name: fmt.Sprintf("%d rounds on %d streams", speedRounds, speedStreams), Operation: "run",
		Note: "The baseline has one list for all streams, and a host that waits before a block goes to another one.",
	}}},
}

// lastGap is the one behind which a pool can be closed.
const lastGap = "1g"

var lab = &allocator.Lab[Make, layout]{
	New: func(f Make, l layout) (allocator.Subject, error) {
		p, err := f(l.size, l.blocks)
		return subject(p, l), err
	},
	Model: newModel,
	Parts: []string{ofPool},
	Proof: tenants.Proof,
	Between: allocator.Between{
		Calls: []trace.Op{trace.OpEventCreate, trace.OpEventDestroy, trace.OpEventRecord, trace.OpEventQuery,
			trace.OpStreamQuery, trace.OpStreamWaitEvent},
		Why: "Whoever asks for a block or gives one back is in the midst of enqueuing work: a host that waits or " +
			"fetches memory keeps all streams waiting.",
		Fix: "Get memory in New, record one event in Free, and in Alloc ask each stream's event once and wait once, " +
			"however many blocks there are.",
	},
}

// subject is a pool to be tried.
func subject(p Pool, l layout) allocator.Subject {
	return allocator.Subject{Allocator: p, Size: l.size, Stats: func() []int64 {
		s := p.Stats()
		return []int64{s.BlockSize, int64(s.Total), int64(s.InUse), int64(s.Waits)}
	}}
}

var good = allocator.Good[Make, layout]{
	lab.Steps("examples", lastGap, allocator.Fixed(examples()...)),
	lab.Steps("known", lastGap, known),
	lab.Steps("random", lastGap, drawn),
}

// scale are the trials with more blocks than 16 bits can number and memory that 32 bits cannot address, and with
// numbers from all over their domains.
var scale = lab.Steps("scale", lastGap, large).Large(good).Seldom().
	Beside(lab.Steps("far", lastGap, far).Large(good).Abreast())

var arguments = allocator.Arguments[layout]{
	Name: "refuses bad arguments before any CUDA call", After: "1b",
	Bad: append([]layout{
		{0, 1}, {255, 1}, {-256, 1}, {256, 0}, {256, -1}, {257, 2}, {128, 1}, {384, 2}, {256, 1 << 56},
		{1 << 32, 1 << 31}, {math.MaxInt64 - 255, 2},
	}, overflowing()...),
	Lacking: []layout{{1 << 20, 1 << 30}, {1 << 62, 1}},
	Wrong:   allocator.Refused,
	Good:    []layout{{256, 1}, {512, 3}, {4096, 2}},
	Refusal: suite.Refusal{
		Fix: "Return contract.ErrArgument for a block size that is below 256 or no multiple of it, for fewer than one " +
			"block, and for more bytes in all than an int64 can count.",
		FixLate: "Look at both arguments before the first CUDA call.",
	},
}

// overflowing are layouts of more bytes than an int64 counts.
func overflowing() (ls []layout) {
	for _, of := range suite.Overflowing(256) {
		ls = append(ls, layout{of[0], int(of[1])})
	}
	return ls
}

// leaks are what Close has to do about what it has left, by the call that made it.
var leaks = map[trace.Op]string{
	trace.OpMalloc: "Have Close free the pool's memory (cuda.Free), with the address that cuda.Malloc returned in " +
		"New, also where blocks are still out.",
	trace.OpEventCreate: "Have Close destroy (cuda.EventDestroy) every event that the pool has made. Keep each until " +
		"then: one that was overwritten cannot be destroyed any more.",
}
