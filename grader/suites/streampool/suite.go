// Package streampool is the suite of the stream-pool lesson.
package streampool

import (
	"math"

	"cudalab/exercises/contract"
	"cudalab/grader/suite"
	"cudalab/grader/suite/allocator"
	"cudalab/grader/suite/sequence"
	"cudalab/grader/suite/verdict"
	"cudalab/native/cuda"
	"cudalab/native/trace"
)

// Pool is what New answers.
type Pool interface {
	Alloc(size int64, s cuda.Stream) (cuda.DevicePtr, error)
	Free(ptr cuda.DevicePtr, s cuda.Stream) error
	Forget(s cuda.Stream) error
	Trim(keep int64) error
	Stats() contract.PoolStats
	Close() error
}

// Make is the exercise's New.
type Make func(up contract.Upstream, step int64) (Pool, error)

// Of is New as a Make, whatever type it answers.
func Of[P Pool](make func(contract.Upstream, int64) (P, error)) Make {
	return func(up contract.Upstream, step int64) (Pool, error) {
		p, err := make(up, step)
		return allocator.OrNil[Pool](p), err
	}
}

// Suite makes the suite of a student's code, and of the solution where there is one. Through it a runner's main
// package, which is compiled for each check, calls what is compiled here.
var Suite = Lesson.Suite

// Lesson is what is asked about the exercise.
var Lesson = suite.Lesson[Make]{
	Name:      "stream-pool",
	Functions: []string{"New"},
	Parts: []suite.Part[Make]{
		lab.Arguments(arguments),
		good.Telling(scale.Also(good.Part(ofSpace, "finds all the room there is, cuts it and joins it again",
			"Every block went out whole, wherever there was room for it, and Stats said so.", waitsCounted))),
		scale.Also(good.Part(ofErrors, "each mistake gets its own error",
			"Every mistake was answered with its own error, and changed nothing.", nil)),
		{Cases: good.Trials(), Question: suite.Question{ID: "order",
			Name: "no bytes are handed out while their last user may still be at them", Judge: judgeOrder}},
		{Cases: ordered.Trials(), Question: suite.Question{ID: ofUpstream,
			Name: "memory is not handed out before it is there", Judge: judgeUpstream}},
		good.Part("policy", "no stream waits, and the pool does not grow, where neither is needed",
			"No stream had to wait, and nothing was asked of the upstream, while there was something better.", policy),
		scale.Calls(good.Part("events", "no call more than is needed, and none at all with one stream",
			"Every method called nothing but what it needs.", calls)),
		{Cases: good.Trials(), Question: suite.Question{ID: ofTrim,
			Name:  "memory goes back to the upstream when it is asked for, and when the device is through with it",
			Judge: judgeTrim}},
		scale.Leaks(good.Cleanup(allocator.Cleanup[layout]{
			Name: "Close gives everything back, also when a CUDA call has failed", After: lastGap,
			Function: "the call that it was made in", Draw: life,
			Far:    farLives,
			Others: []func(sequence.Source) workload{lifeByFree, lifeByForget}, Queries: true,
			Recovers: func(_ *verdict.CaseNotes, run suite.FaultRun) bool { return run.Op == trace.OpMalloc },
			Leaks:    leaks,
		})),
		cost.Part(),
		failure.Part(),
		speed.Part("streams that take blocks at once run at once"),
	},
	Benchmarks: []suite.Trial[Make]{{ID: "rounds", Drive: speed.Drive, Benchmark: suite.Benchmark{
		Name: "streams that take blocks at once, cold", Operation: "run",
		Note: "The baseline calls cuda.Malloc and cuda.Free for each block.",
	}}},
}

// lastGap is the one behind which a pool can be closed.
const lastGap = "1m"

var lab = &allocator.Lab[Make, layout]{
	New: func(f Make, l layout) (allocator.Subject, error) {
		up := newUpstream(l)
		p, err := f(up.lend(), l.step)
		s := subject(p, up)
		if l.quiet {
			s.Stats = nil
		}
		return s, err
	},
	Model: newModel,
	Parts: []string{ofSpace, ofErrors, ofTrim},
	Proof: tenants.Proof,
	Between: allocator.Between{
		Calls: append([]trace.Op{trace.OpEventCreate, trace.OpEventDestroy, trace.OpEventRecord, trace.OpEventQuery,
			trace.OpStreamQuery, trace.OpStreamWaitEvent},
			trace.OpMalloc, trace.OpFree), // which the upstream makes
		Why: "Whoever asks for a block or gives one back is in the midst of enqueuing work: a host that waits keeps " +
			"all streams waiting.",
		Fix: "Take memory from the upstream alone, record one event in Free, and have the stream wait, not the " +
			"host, however many blocks there are.",
		New:    &ofNew,
		Giving: map[trace.Op]suite.Rule{trace.OpDeviceSynchronize: ofEverybody},
	},
}

// subject is a pool to be tried.
func subject(p Pool, up *upstream) allocator.Subject {
	return allocator.Subject{Allocator: p, Seen: up.seen, Stats: func() []int64 {
		s := p.Stats()
		return []int64{s.Reserved, s.InUse, s.LargestFree, int64(s.Chunks), int64(s.Waits)}
	}}
}

var good = allocator.Good[Make, layout]{
	lab.Steps("examples", lastGap, allocator.Fixed(examples()...)),
	lab.Steps("known", lastGap, known),
	lab.Steps("trims", lastGap, allocator.Fixed(trims()...)),
	lab.Steps("random", lastGap, drawn),
}

// ordered are the trials over an upstream that hands out in stream order.
var ordered = allocator.Good[Make, layout]{
	lab.Steps("in-order", lastGap, allocator.Fixed(inOrder(examples())...)),
	lab.Steps("random-in-order", lastGap, func(from sequence.Source) []workload { return inOrder(drawn(from)) }),
}

// scale are the trials with more pieces than 16 bits can number and memory that 32 bits cannot address, and with
// numbers from all over their domains.
var scale = lab.Steps("scale", lastGap, large).Large(good).Seldom().
	Beside(lab.Steps("far", lastGap, far).Large(good).Abreast())

var arguments = allocator.Arguments[layout]{
	Name: "refuses bad arguments before any call", After: "1a",
	Bad:  []layout{{step: 0}, {step: -256}, {step: 255}, {step: 257}, {step: math.MinInt64}, {step: math.MaxInt64}},
	Good: []layout{{step: 256}, {step: 512}, {step: 1 << 40}, {step: math.MaxInt64 - 255}},
	Refusal: suite.Refusal{
		Fix:     "Return contract.ErrArgument for a step that is below 256 or no multiple of it.",
		FixLate: "Look at the step before anything else.",
	},
}

// judgeTrim answers whether memory went back as it should, and not before the device was through with it.
func judgeTrim(e *suite.Evidence) suite.Answer {
	a := good.Judge(e, ofTrim, "What nobody had went back to the upstream when it was asked for, and the host had waited "+
		"for all that had used it.", nil)
	for _, s := range good {
		for _, f := range e.Cases[s.ID].Findings {
			if f.Rule != "free-while-pending" || f.File == "" {
				continue
			}
			f.Rule, f.Severity = "freed-too-early", verdict.Error
			f.Why = "What goes back to the upstream may be somebody else's at once, while a kernel is still at it; nothing " +
				"orders the two but the host."
			f.Fix = "Have the host wait for the events of all owners of the chunk's pieces (cuda.EventSynchronize) before you " +
				"give it back."
			a.Findings = append(a.Findings, f)
		}
	}
	a.Findings = verdict.Unique(a.Findings)
	return a
}

// leaks are what Close has to do about what it has left, by the call that made it.
var leaks = map[trace.Op]string{
	trace.OpMalloc: "Have Close give back (up.Free) every chunk that is still held. Look at where its loop over them " +
		"begins, where it ends, and what is taken off the list meanwhile.",
	trace.OpEventCreate: "Have Close destroy (cuda.EventDestroy) every event that the pool has made: those of all " +
		"streams, forgotten ones too, and those kept for later. Keep each until then: one that was overwritten cannot be " +
		"destroyed any more.",
}
