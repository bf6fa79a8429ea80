// Package ring is the suite of the ring lesson: its workloads, its baseline and what is asked.
package ring

import (
	_ "embed"
	"fmt"
	"math/rand/v2"
	"slices"

	"cudalab/grader/suite"
	"cudalab/grader/suite/verdict"
	"cudalab/kernels"
	"cudalab/native/cuda"
	"cudalab/native/trace"
)

// Run is the function that the exercise asks for.
type Run func(producer, consumer cuda.Stream, slots []cuda.DevicePtr, n, work, items int, out cuda.DevicePtr) error

// Of is the exercise's code.
func Of(run Run) Run { return run }

// The lesson's kernels, as the trace names them.
const (
	fillKernel   = "fillItem"
	digestKernel = "digest"
)

// lastGap has to be filled before a call can come to its end.
const lastGap = "1g"

// Suite makes the suite of a student's code, and of the solution where there is one. Through it a runner's main
// package, which is compiled for each check, calls what is compiled here.
var Suite = Lesson.Suite

// Lesson is what is asked about the exercise.
var Lesson = suite.Lesson[Run]{
	Name:      "ring",
	Functions: []string{"Run"},
	WaysOut:   []suite.WayOut{{Gap: "1b", Makes: trace.OpEventCreate}},
	Parts: []suite.Part[Run]{
		suite.Arguments("refuses bad arguments before any CUDA call", refusals),
		good.Results("every item arrives, whichever stream is late", wrongResult, func(all []suite.Made[workload]) string {
			sums := 0
			for _, m := range all {
				sums += len(m.Sums())
			}
			return fmt.Sprintf("%d sums are exact, with each stream late in turn.", sums)
		}).InOrder(ordered),
		ordered,
		good.Part("placement", "item i is filled in producer and digested in consumer, in its own slot",
			"Every item was filled in producer and digested in consumer, in the slot that it belongs to.", placement),
		good.Part("ahead", "neither stream waits for more than its slot", "The producer ran as far ahead as the slots allow.",
			ahead),
		good.Part("events", "at most two events a slot",
			"However many items there were, there were no more than two events a slot.", events),
		good.NoHostWait("async", "the host never waits", "Run returned while the device was still busy.",
			waiting, delays, again).
			// placement tells it
			Without(func(_ *suite.Evidence, f verdict.Finding) bool { return f.Rule == "synchronous-allocation" }),
		good.Cleanup("events are gone and slots handed back, also when a call fails",
			"After every call the events were gone and the slots the caller's, also where a call failed, and the failure was "+
				"reported.",
			faults).And(handedBack, &again.Trial),
		speed,
	},
	Benchmarks: []suite.Trial[Run]{speed.Benchmark("32 items through 3 slots", "call",
		"Filling an item takes about as long as digesting it. The baseline has the host wait for each.")},
}

var ordered = good.Order("a slot is read only when full and written only when free",
	"No digest ran beside a fill of its slot, or before it.").Without(firstLap).Once()

// Rules of the order checker, which a runner has no use for.
const (
	waitUnrecorded = "wait-unrecorded"
	needlessWait   = "needless-wait"
)

// firstLap reports findings about waits that are none: while a slot has not been used nothing has been recorded of it,
// and with one stream for both every wait is needless.
func firstLap(e *suite.Evidence, f verdict.Finding) bool {
	if f.Rule != waitUnrecorded && f.Rule != needlessWait || f.File == "" {
		return false
	}
	for _, m := range good.Made(e) {
		if f.Record < m.From || f.Record >= m.To || f.Line != m.At(f.Record, verdict.Finding{}).Line {
			continue // records are numbered anew in each trial
		}
		c := call{m}
		if r := c.Record(f.Record); r.Op == trace.OpStreamWaitEvent && (m.W.same || f.Rule == waitUnrecorded &&
			r.Stream == c.producer() && c.filledBefore(f.Record) < m.W.slots) {
			return true
		}
	}
	return false
}

// scene lends the code two streams, the slots, which hold garbage, and room for its results.
var scene = &suite.Scene[Run, workload]{
	Set: func(s *suite.Stage, w workload) func(Run, workload) error {
		for range w.slots {
			s.Lend(4 * int64(max(w.n, 1)))
		}
		s.Results(max(w.sums(), 0))
		producer := s.Stream(streamNames[0])
		consumer := producer
		if !w.same {
			consumer = s.Stream(streamNames[1])
		}
		if w.followed {
			s.Behind(func() {
				for _, slot := range given(s.Memory) {
					s.Bench.Must(kernels.FillItem(1, 32, producer, slot, 1, 0, 0))
				}
			})
		}
		return func(run Run, w workload) error {
			out := cuda.DevicePtr(0)
			if w.items > 0 {
				out = s.Result(0)
			}
			err := run(producer, consumer, suite.Given(s, "slots", given(s.Memory)), w.n, w.work, w.items, out)
			if err != nil || !w.again {
				return err
			}
			return run(producer, consumer, suite.Given(s, "slots", given(s.Memory)), w.n, w.workOf(w.items), w.items,
				s.Result(w.items))
		}
	},
}

// given are the slots in the order in which Run is given them. It is not that of their addresses, or it would go unseen
// where they are sorted.
func given[T any](made []T) []T {
	if len(made) < 2 {
		return made
	}
	return append(slices.Clone(made[1:]), made[0])
}

var (
	around = suite.Around[workload]{
		Before: func(s *suite.Stage, w workload) { w.late.Busy(s, s.Lent) },
		Behind: func(s *suite.Stage, w workload) { w.late.WaitLast(s) },
	}
	shaped  = scene.Runs("shapes", lastGap, shapes, suite.Around[workload]{})
	random  = scene.Runs("drawn", lastGap, drawn, suite.Around[workload]{})
	delays  = scene.Runs("delays", lastGap, delayed, around)
	farther = scene.Runs("far", lastGap, far, suite.Around[workload]{}).Far()
	again   = scene.Runs("again", lastGap, twice, suite.Around[workload]{})
	faults  = scene.Faults("faults", lastGap, fiveItems, suite.FaultJudge{Function: "Run", Stops: true}, wrongResult)
	good    = &suite.Good[Run, workload]{Function: "Run", Runs: []*suite.Runs[Run, workload]{shaped, random, delays},
		Far: []*suite.Runs[Run, workload]{farther}, Uncomputed: uncomputed,
		Further: []suite.Further{faults.Further(), refusals.Further()}}
	refusals = suite.NewRefusals("arguments", "1a", []suite.Bad[workload]{
		{Label: "an empty slice of slots", W: workload{n: 10, items: 2}},
		{Label: "0 words", W: workload{slots: 2, items: 2}},
		{Label: "-5 words", W: workload{slots: 2, n: -5, items: 2}},
		{Label: "a work of -1", W: workload{slots: 2, n: 10, work: -1, items: 2}},
		{Label: "-1 items", W: workload{slots: 2, n: 10, items: -1}},
	}, scene.Refuse, suite.Refusing("Run", "Return contract.ErrArgument when there are no slots (len(slots) is 0, be the "+
		"slice nil or not), when n is below 1, and when work or items is below 0.")).Behind(scene.Call(workload{slots: 2,
		n: 50, items: 3}))
)

func waiting(workload) suite.HostWait {
	return suite.HostWait{
		Should: "Run should leave the order to events and return at once",
		Why: "While the host waits it enqueues nothing, so the stream that could be working runs dry; an event makes " +
			"only the stream wait that has to.",
		Fix: "Leave it out, and let the later stream wait instead: cuda.EventRecord in the earlier stream, " +
			"cuda.StreamWaitEvent in the later one.",
	}
}

// The timed workload: filling takes as long as digesting, so two streams that do not wait for each other take half the
// time of two that do. The elements are few, so that neither is in the other's way on the device.
const (
	timedItems    = 32
	timedSlots    = 3
	timedElements = 512 // at most
	timedWork     = 6800
	speedLimit    = 1.6
)

//go:embed paces.txt
var paces string

var speed = good.Speed(scene, "filling and digesting overlap", lastGap, "Run", &suite.Race[Run, workload]{
	Draw: func(r *rand.Rand) workload {
		return workload{slots: timedSlots, n: timedElements - r.IntN(timedElements/4), work: timedWork, items: timedItems}
	},
	Baseline: baseline,
	Wrong: func(m *suite.Timed[workload]) string {
		if i := m.W.firstWrong(m.Sums()); i >= 0 {
			return fmt.Sprintf("Run should do all of its work in each call, but while it was timed the sum of item %d was "+
				"wrong; in the calls of the other checks each was right.", i)
		}
		return ""
	},
	SpeedWords: suite.SpeedWords{
		Pacing: suite.Pacing{Versus: "a host that waits", Limit: speedLimit, Recorded: paces},
		Passed: "Run takes %.2f times the solution's time and is %.1f times as fast as with a host that waits.",
		Work:   "32 items through 3 slots", Takes: "take",
		Why: "With more than one slot an item is filled while the one before is digested, unless a wait puts them one " +
			"after the other.",
		Fix: "Let each stream wait only for the item in its own slot, and the host for nothing.",
	},
})
