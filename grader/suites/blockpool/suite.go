// Package blockpool is the suite of the block-pool lesson.
package blockpool

import (
	"fmt"
	"math"

	"cudalab/exercises/contract"
	"cudalab/grader/suite"
	"cudalab/grader/suite/allocator"
	"cudalab/kernels"
	"cudalab/native/cuda"
	"cudalab/native/device"
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

// Suite makes the suite of a student's code, and of the solution where there is one. Through it a runner's main package,
// which is compiled for each check, calls what is compiled here.
var Suite = Lesson.Suite

// Lesson is what is asked about the exercise.
var Lesson = suite.Lesson[Make]{
	Name:      "block-pool",
	Functions: []string{"New"},
	Parts: []suite.Part[Make]{
		lab.Arguments(arguments),
		good.Telling(scale.Also(good.Part(ofPool, "hands out every block once, and each mistake gets its own error",
			"Every block went out and came back, every mistake was answered with its own error, and Stats said so.", waitsCounted))),
		{Cases: good.Trials(), Question: suite.Question{ID: "order",
			Name: "no block is handed out while its last user may still be at it", Judge: judgeOrder}},
		asking(good.Part("own", "no stream waits while a block needs no edge",
			"No stream had to wait while there was a block that needed no edge, or one that was done.", needless)),
		good.Part("host", "Alloc and Free never wait, and make few events", "Alloc and Free called nothing but what they need.", calls),
		good.Cleanup(allocator.Cleanup[layout]{
			Name: "Close gives everything back, also when a CUDA call has failed", After: lastGap, Function: "the call that it was made in", Draw: life, Queries: true,
			Leaks: leaks,
		}),
		cost.Part(),
		speed,
	},
	Benchmarks: []suite.Trial[Make]{{ID: "rounds", Drive: race, Benchmark: suite.Benchmark{
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
	Proof: newProof,
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

// scale is the trial with more blocks than 16 bits can number, and memory that 32 bits cannot address.
var scale = lab.Steps("scale", lastGap, large).Large(good).Seldom()

var arguments = allocator.Arguments[layout]{
	Name: "refuses bad arguments before any CUDA call", After: "1b",
	Bad: []layout{
		{0, 1}, {255, 1}, {-256, 1}, {256, 0}, {256, -1}, {257, 2}, {128, 1}, {384, 2}, {256, 1 << 56}, {1 << 62, 2}, {1 << 32, 1 << 31}, {math.MaxInt64 - 255, 2},
	},
	Lacking: []layout{{1 << 20, 1 << 30}, {1 << 62, 1}},
	Wrong:   allocator.Refused,
	Good:    []layout{{256, 1}, {512, 3}, {4096, 2}},
	Refusal: suite.Refusal{
		Fix: "Return contract.ErrArgument for a block size that is below 256 or no multiple of it, for fewer than one block, and for more " +
			"bytes in all than an int64 can count.",
		FixLate: "Look at both arguments before the first CUDA call.",
	},
}

// proof uses every block on the device as long as it is out: it moves in with marks of its own, looks whether somebody else comes in, and
// looks once more when it leaves. Nothing of that has the host wait.
type proof struct {
	b          *suite.Bench
	name       string // of the sequence
	intrusions cuda.DevicePtr
	moved      map[int]bool // by block: it lies in memory that there is
	edge       cuda.Event
}

// noteIntrusions is what the proof of a sequence notes: how many words of blocks were not their user's.
const noteIntrusions = "intrusions in "

// turns is how often a user looks at its block.
const turns = 4

func newProof(b *suite.Bench) allocator.Proof[layout] {
	p := &proof{b: b}
	var err error
	p.intrusions, err = cuda.Malloc(8)
	b.Must(err)
	p.edge, err = cuda.EventCreateWithFlags(cuda.EventDisableTiming)
	b.Must(err)
	return p
}

func (p *proof) Begin(w *workload, _ cuda.DevicePtr) {
	p.settle()
	p.name, p.moved = w.Name, map[int]bool{}
	p.b.Must(cuda.Memset(p.intrusions, 0, 8))
	p.b.Must(cuda.DeviceSynchronize())
}

// settle notes what was found in the sequence that is over.
func (p *proof) settle() {
	if p.name == "" {
		return
	}
	p.b.Must(cuda.DeviceSynchronize())
	if found := read(p.b, p.intrusions); found > 0 {
		p.b.Value(noteIntrusions+p.name, found)
	}
}

func (p *proof) AllocatedIn(block int, at cuda.DevicePtr, size int64, s cuda.Stream) {
	p.moved[block] = p.b.Session.Holds(device.Ptr(at), size)
	if p.moved[block] {
		p.b.Must(kernels.Occupy(1, 128, s, at, size, uint32(block), turns, p.intrusions))
	}
}

func (p *proof) FreeingIn(block int, at cuda.DevicePtr, size int64, from, to cuda.Stream) {
	if from != to {
		p.b.Must(cuda.EventRecord(p.edge, from))
		p.b.Must(cuda.StreamWaitEvent(to, p.edge))
	}
	if p.moved[block] && p.b.Session.Holds(device.Ptr(at), size) {
		p.b.Must(kernels.Occupied(1, 128, to, at, size, uint32(block), p.intrusions))
	}
}

// Allocated comes for no block here: each is handed out in a stream.
func (p *proof) Allocated(int, cuda.DevicePtr, int64) {}

// Freeing comes before Close, of a block that is still out.
func (p *proof) Freeing(int, cuda.DevicePtr, int64) { p.b.Must(cuda.DeviceSynchronize()) }

func (p *proof) Close() {
	p.settle()
	p.b.Must(cuda.EventDestroy(p.edge))
	p.b.Must(cuda.Free(p.intrusions))
}

// leaks are what Close has to do about what it has left, by the call that made it.
var leaks = map[trace.Op]string{
	trace.OpMalloc:      "Have Close free the pool's memory (cuda.Free), with the address that cuda.Malloc returned in New, also where blocks are still out.",
	trace.OpEventCreate: "Have Close destroy (cuda.EventDestroy) every event that the pool has made. Keep each until then: one that was overwritten cannot be destroyed any more.",
}
