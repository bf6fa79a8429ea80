// Package crossstreamevents is the suite of the cross-stream-events lesson: its workloads, its baseline and what is
// asked.
package crossstreamevents

import (
	_ "embed"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"

	"cudalab/grader/suite"
	"cudalab/grader/suite/verdict"
	"cudalab/kernels/probe"
	"cudalab/native/cuda"
	"cudalab/native/trace"
)

// Code is what the exercise asks for.
type Code struct {
	Share     Share
	FanOut    FanOut
	NewBuffer NewBuffer
}

// The functions of the exercise.
type (
	Share  func(a, b cuda.Stream, n int, out cuda.DevicePtr, independent func(cuda.Stream) error) error
	FanOut func(source cuda.Stream, consumers []cuda.Stream, n int, outs []cuda.DevicePtr) error

	NewBuffer func(bytes int64, s cuda.Stream) (Buffer, error)
)

// Buffer is what NewBuffer makes.
type Buffer interface {
	Use(t cuda.Stream, work func(cuda.Stream, cuda.DevicePtr) error) error
	Close() error
}

// Of is the exercise's code, whatever it calls its buffer.
func Of[B Buffer](share Share, fanOut FanOut, newBuffer func(int64, cuda.Stream) (B, error)) Code {
	return Code{Share: share, FanOut: fanOut, NewBuffer: func(bytes int64, s cuda.Stream) (Buffer, error) {
		b, err := newBuffer(bytes, s)
		if v := reflect.ValueOf(b); !v.IsValid() || v.IsZero() {
			return nil, err
		}
		return b, err
	}}
}

// sumKernels are the lesson's kernels, as the trace names them: who fills, and who reads.
var sumKernels = suite.SumKernels{Fill: "fill", Sum: "checksum"}

// Suite makes the suite of a student's code, and of the solution where there is one. Through it a runner's main
// package, which is compiled for each check, calls what is compiled here.
var Suite = Lesson.Suite

// Lesson is what is asked about the exercise.
var Lesson = suite.Lesson[Code]{
	Name:      "cross-stream-events",
	Functions: []string{"Share", "FanOut", "NewBuffer"},
	WaysOut:   []suite.WayOut{{Gap: "1b", Makes: trace.OpEventCreate}, {Gap: "2b", Makes: trace.OpEventCreate}},
	Parts:     append(ofSharing, buffer, speed),
	Benchmarks: []suite.Trial[Code]{speed.Benchmark("two streams that each have 1 ms of work of their own", "call",
		"The baseline has the host wait wherever one stream has to come after another.")},
}

// ofSharing are the questions about Share and FanOut.
var ofSharing = []suite.Part[Code]{
	suite.Arguments("refuses bad arguments before any CUDA call", shareRefusals, fanOutRefusals),
	good.Results("every sum is right, whichever stream is late", wrongResults, func(all []suite.Made[workload]) string {
		sums := 0
		for _, m := range all {
			sums += len(m.Sums())
		}
		return fmt.Sprintf("%d sums are exact, with each stream late in turn.", sums)
	}).ByLuck(),
	good.Part("placement", "every step is done, in the stream that it belongs to",
		"Who owns the buffer allocates, fills and frees it; who reads it takes the checksum into its own result.",
		placement),
	good.Order("every use is ordered after its allocation and before its free",
		"No use before its allocation, after its free, or beside a write it is not ordered with.", &shareError.Trial),
	good.NoHostWait("events", "events alone make the order: the host never waits",
		"Share and FanOut returned while the device was still busy.", waiting, shareDelays, fanOutDelays),
	good.Part("overlap", "streams that need not wait for each other do not",
		"The work of independent need not wait for b, nor one consumer for another.", overlap),
	good.Cleanup("nothing is left behind, not even when a call fails",
		"Buffers and events are gone after every call, also where a call in between failed, and the failure was reported.",
		shareFaults, fanOutFaults).And(afterIndependent, &shareError.Trial),
}

// The gaps behind which the functions can come to their end.
const (
	lastOfShare  = "1f"
	lastOfFanOut = "2c"
)

// scene lends the code its streams, the source first, and room for its results.
var scene = &suite.Scene[Code, workload]{
	KeepPool: true,
	Set: func(s *suite.Stage, w workload) func(Code, workload) error {
		results := s.Results(w.outs())
		for i := range 1 + w.outs() {
			s.Stream(w.streamName(i))
		}
		return func(code Code, w workload) error {
			if w.function() == "Share" {
				return code.Share(s.Lent[0], s.Lent[1], w.n, results.At(0), func(in cuda.Stream) error {
					return s.Callback("independent", func() error { return w.independent(in) })
				})
			}
			outs := make([]cuda.DevicePtr, w.outs())
			for i := range outs {
				outs[i] = results.At(i)
			}
			consumers := s.Lent[1 : 1+w.outs()]
			if w.lengths != nil {
				consumers, outs = consumers[:w.lengths.consumers], outs[:w.lengths.outs]
			}
			return code.FanOut(s.Lent[0], suite.Given(s, "consumers", consumers), w.n, suite.Given(s, "outs", outs))
		}
	},
}

var (
	share       = scene.Runs("share", lastOfShare, shareWorkloads, around)
	shareDelays = scene.Runs("share-delays", lastOfShare, shareDelayed, around)
	shareError  = scene.Runs("share-error", lastOfShare, suite.Fixed(workload{n: 900, late: suite.Late{1}, fails: true}),
		around)
	shareFaults = scene.Faults("share-faults", lastOfShare, fewShared, suite.FaultJudge{Function: "Share", Stops: true},
		incomplete)
	fanOut       = scene.Runs("fan-out", lastOfFanOut, fanOutWorkloads, around)
	fanOutDelays = scene.Runs("fan-out-delays", lastOfFanOut, fanOutDelayed, around)
	farther      = scene.Runs("far", lastOfFanOut, far, around).Far()
	fanOutFaults = scene.Faults("fan-out-faults", lastOfFanOut, fewFannedOut, suite.FaultJudge{Function: "FanOut",
		Stops: true}, incomplete)

	good = &suite.Good[Code, workload]{Function: "Share or FanOut", Of: workload.function,
		Runs: []*suite.Runs[Code, workload]{share, shareDelays, fanOut, fanOutDelays},
		Far:  []*suite.Runs[Code, workload]{farther}, Uncomputed: uncomputed,
		Further: []suite.Further{shareFaults.Further(), fanOutFaults.Further(), shareRefusals.Further(),
			fanOutRefusals.Further()}}
)

// around keeps the streams that are late busy before the call. Behind it, it takes memory in the source's stream, where
// what the code has just freed is the first to be handed out again, and writes over it: whoever still reads the buffer
// then finds other numbers than it should.
var around = suite.Around[workload]{
	Before: func(s *suite.Stage, w workload) { w.late.Busy(s, s.Lent) },
	Behind: func(s *suite.Stage, w workload) {
		size := int64(4 * w.n)
		p, err := cuda.MallocAsync(size, s.Lent[0])
		s.Bench.Must(err)
		s.Bench.Must(cuda.MemsetAsync(p, suite.Poison, size, s.Lent[0]))
		s.Bench.Must(cuda.FreeAsync(p, s.Lent[0]))
		w.late.WaitLast(s)
	},
}

var (
	shareRefusals = suite.NewRefusals("share-arguments", "1a", []suite.Bad[workload]{
		{Label: "0 elements", W: workload{n: 0}},
		{Label: "-7 elements", W: workload{n: -7}},
	}, scene.Refuse, suite.Refusing("Share", "Return contract.ErrArgument when n is below 1.")).
		Behind(scene.Call(workload{n: 50, quiet: true}))

	fanOutRefusals = suite.NewRefusals("fan-out-arguments", "2a", []suite.Bad[workload]{
		{Label: "0 elements", W: workload{n: 0, consumers: 2}},
		{Label: "-1 elements", W: workload{n: -1, consumers: 1}},
		badFanOut("no consumers", 0, 0),
		badFanOut("3 consumers and 2 outs", 3, 2),
		badFanOut("1 consumer and 2 outs", 1, 2),
	}, scene.Refuse, suite.Refusing("FanOut",
		"Return contract.ErrArgument when n is below 1, when there are no consumers, and when "+
			"len(outs) is not len(consumers).")).Behind(scene.Call(workload{n: 100, consumers: 3}))
)

func badFanOut(label string, consumers, outs int) suite.Bad[workload] {
	return suite.Bad[workload]{Label: label, W: workload{n: 100, consumers: max(consumers, outs),
		lengths: &lengths{consumers, outs}}}
}

func waiting(w workload) suite.HostWait {
	return suite.HostWait{
		Should: w.function() + " should leave the order to events and return at once",
		Why: "While the host waits it enqueues nothing, so streams that could be working run dry; an event makes only the " +
			"stream wait that has to.",
		Fix: "Leave it out, and let the later stream wait instead: cuda.EventRecord in the earlier stream, " +
			"cuda.StreamWaitEvent in the later one.",
		AllocationShould: "The buffer should be allocated and freed in a stream",
		AllocationThen:   "stands outside every stream, so no event can order it.",
		AllocationWhy: "Memory from cuda.MallocAsync exists from that place in its stream on: another stream that " +
			"waits for an event recorded there may use it.",
	}
}

var errIndependent = errors.New("the independent work could not be enqueued")

// independentDelay is how long the work takes that independent enqueues, in nanoseconds.
const independentDelay = 100_000

// independent is what Share is given to call.
func (w workload) independent(s cuda.Stream) error {
	switch {
	case w.fails:
		return errIndependent
	case w.quiet:
		return nil
	case w.timed:
		return probe.Delay(s, longDelay)
	}
	return probe.Delay(s, independentDelay)
}

// afterIndependent judges the call in which independent failed. That its free was in order is the order part's.
func afterIndependent(e *suite.Evidence) []verdict.Finding {
	return good.CallbackErrors(e, shareError, "independent", "Share", suite.Rule{ID: "error-ignored",
		Why: "The caller has to know that its own work is not in the stream's queue.",
		Fix: "Return the error of independent once the buffer is freed; errors.Join keeps several errors."})
}

// The timed workloads. Both hold two pieces of work, each longDelay long, that can run at the same time, and next to
// which all the rest is short: overlapping takes half the time of waiting.
const (
	longDelay     = 1_000_000 // nanoseconds
	timedFanOut   = 4         // consumers
	timedElements = 10_000    // at most
)

//go:embed paces.txt
var paces string

// speedLimit is how much slower than the solution a right program may be.
const speedLimit = 1.5

var speed = good.Speed(scene, "as fast as overlapping streams allow", lastOfFanOut, "The code",
	// b is busy with earlier work, and independent brings as much for a.
	race(workload{timed: true}, func(s *suite.Stage) func(func() error) error {
		return func(call func() error) error {
			return inOrder(func() error { return probe.Delay(s.Lent[1], longDelay) }, call)
		}
	}),
	// The source is busy with earlier work, and the host has more for another stream once FanOut returns.
	race(workload{timed: true, consumers: timedFanOut}, func(s *suite.Stage) func(func() error) error {
		elsewhere := s.Stream("elsewhere")
		return func(call func() error) error {
			return inOrder(func() error { return probe.Delay(s.Lent[0], longDelay) }, call,
				func() error { return probe.Delay(elsewhere, longDelay) })
		}
	}))

// inOrder takes steps up to the first that fails.
func inOrder(steps ...func() error) error {
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// race times one function on calls like shape, with a fresh number of elements each time.
func race(shape workload, around func(*suite.Stage) func(func() error) error) *suite.Race[Code, workload] {
	function := shape.function()
	shape.n = timedElements
	return &suite.Race[Code, workload]{
		Draw: func(r *rand.Rand) workload {
			w := shape
			w.n = timedElements/2 + r.IntN(timedElements/2)
			return w
		},
		Baseline: baseline,
		KeepPool: true,
		Sample:   around,
		Wrong: func(m *suite.Timed[workload]) string {
			if i := m.W.firstWrong(m.Sums()); i >= 0 {
				return fmt.Sprintf("%s should do all of its work in each call, but while it was timed for %s, the sum at %s was "+
					"wrong; in the "+
					"calls of the other checks each was right.", function, m.W.Label(), m.W.outName(i))
			}
			return ""
		},
		SpeedWords: suite.SpeedWords{
			Pacing: suite.Pacing{Function: function, Versus: "a host that waits", Limit: speedLimit, Recorded: paces},
			Passed: function + " takes %.2f times the solution's time and is %.1f times as fast as with a host that waits.",
			Work:   "Beside other long work " + function, Takes: "takes",
			Why: "Two long pieces of work in two streams take the time of one, unless a wait puts them one after the other.",
			Fix: "Let a stream wait only for what it needs, and the host for nothing.",
		},
	}
}
