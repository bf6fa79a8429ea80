// Package overlap is the suite of the overlap lesson: its workloads, its baseline and what is asked.
package overlap

import (
	_ "embed"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"cudalab/grader/suite"
	"cudalab/grader/suite/verdict"
	"cudalab/native/cuda"
	"cudalab/native/trace"
)

// Code is the functions that the exercise asks for.
type Code struct {
	Run        Run
	Efficiency Efficiency
}

// The functions of the exercise.
type (
	Run        func(streams []cuda.Stream, in, out cuda.HostBuffer, n, chunk, work int) error
	Efficiency func(streams []cuda.Stream, in, out cuda.HostBuffer, n, chunk, work int) (float32, error)
)

// Of is the exercise's code.
func Of(run Run, efficiency Efficiency) Code { return Code{Run: run, Efficiency: efficiency} }

// kernel is the lesson's, as the trace names it.
const kernel = "mix"

// The last gaps behind which the functions can come to their end.
const (
	lastOfRun        = "1e"
	lastOfEfficiency = "2d"
)

// Suite makes the suite of a student's code, and of the solution where there is one. Through it a runner's main
// package, which is compiled for each check, calls what is compiled here.
var Suite = Lesson.Suite

// Lesson is what is asked about the exercise.
var Lesson = suite.Lesson[Code]{
	Name:      "overlap",
	Functions: []string{"Run", "Efficiency"},
	WaysOut:   []suite.WayOut{{Gap: "1b", Makes: trace.OpMallocAsync}},
	Parts: []suite.Part[Code]{
		suite.Arguments("refuses bad arguments before any CUDA call", runRefusals, efficiencyRefusals),
		good.Results("every word is right, whichever stream is late", wrongResult, exact).InOrder(ordered),
		good.NoHostWait("async", "returns while the device is busy, and leaves pinned memory to it",
			"Run returned while the device was still busy, and touched no byte of in and out itself.", waiting,
			delays).And(hostTouches),
		ordered,
		good.Part("memory", "at most two chunk buffers a stream", "Run never held more than two buffers for each stream.",
			memory),
		good.Part("overlap", "chunks do not all wait for each other", "At most half of the chunks came one after the other.",
			overlap),
		passes.Part("efficiency", "Efficiency answers what a clock over all streams says",
			"Both passes were on the clock, whole, warm and alone.", efficiency).Needing(&farMeasured.Trial).
			And(func(e *suite.Evidence) []verdict.Finding { return passes.Begun(e, waitsForOthers) }),
		good.Cleanup("nothing is left behind, not even when a call fails",
			"Memory and events were gone after every call, also where a call failed, and the failure was reported.", runFaults,
			efficiencyFaults),
		speed,
	},
	Benchmarks: []suite.Trial[Code]{speed.Benchmark("16 chunks of 1 MiB on 4 streams", "call",
		"A copy of a chunk takes about as long as its kernel. The baseline has all of them in one stream.")},
}

var ordered = good.Order("no chunk's buffer is used by two chunks at once",
	"No two uses of a buffer, or of a word of in and out, that nothing orders.").
	Without(func(e *suite.Evidence, f verdict.Finding) bool {
		return f.Rule == needlessWait && slices.ContainsFunc(good.Made(e), func(m suite.Made[workload]) bool {
			return (m.W.same || m.W.pair) && m.From <= f.Record && f.Record < m.To &&
				f.Line == m.At(f.Record, verdict.Finding{}).Line
		})
	}).
	Reworded(func(e *suite.Evidence, f verdict.Finding) verdict.Finding {
		if f.Severity == verdict.Error && slices.ContainsFunc(good.Made(e),
			func(m suite.Made[workload]) bool { return call{&m}.shared(f.Record) }) {
			f.Fix = "Give each stream buffers of its own: this one is used in several streams. Waits would put that in order, " +
				"and have one chunk wait for another."
		}
		if f.Severity == verdict.Error && f.Rule == "data-race" && slices.ContainsFunc(good.Made(e),
			func(m suite.Made[workload]) bool { return call{&m}.collide(f.Record) }) {
			f.Fix = "Have chunk i begin 4*i*chunk bytes into in and out, counted in words of 4 bytes: then no chunk has " +
				"a byte of another's, and none has to wait."
		}
		return f
	}).Once()

// needlessWait is a rule of the order checker, for which a runner has no use: with one stream for all every wait is
// needless.
const needlessWait = "needless-wait"

// noteAnswer is noted of a call of Efficiency: the bits of the number that it answered.
const noteAnswer = "answer"

// scene lends the code its streams and pinned memory: in holds words, out garbage.
var scene = &suite.Scene[Code, workload]{
	KeepPool: true,
	Set: func(s *suite.Stage, w workload) func(Code, workload) error {
		streams := s.Streams(max(w.streams, 0), "streams[%d]")
		if w.same {
			for i := range streams {
				streams[i] = s.Lent[0]
			}
		}
		if w.pair {
			streams[len(streams)-1] = streams[0]
		}
		first := pin(s, w, "")
		second := first
		if w.again {
			second = pin(s, w, secondCall)
		}
		s.Behind(func() { w.late.WaitLast(s) })
		return func(code Code, w workload) error {
			given := suite.Given(s, "streams", streams)
			if w.efficiency {
				times, err := code.Efficiency(given, first.in, first.out, w.given(), w.chunk, w.work)
				s.Note(noteAnswer, []uint64{uint64(math.Float32bits(times))})
				return err
			}
			err := code.Run(given, first.in, first.out, w.given(), w.chunk, w.work)
			if err == nil && w.again {
				err = code.Run(suite.Given(s, "streams", streams), second.in, second.out, w.n, w.chunk, w.work)
			}
			return err
		}
	},
}

func busy(s *suite.Stage, w workload) { w.late.Busy(s, s.Lent) }

var (
	shaped  = scene.Runs("shapes", lastOfRun, shapes, suite.Around[workload]{})
	random  = scene.Runs("drawn", lastOfRun, drawn, suite.Around[workload]{})
	delays  = scene.Runs("delays", lastOfRun, delayed, suite.Around[workload]{Before: busy})
	farther = scene.Runs("far", lastOfRun, far, suite.Around[workload]{}).Far()
	good    = &suite.Good[Code, workload]{Function: "Run", Runs: []*suite.Runs[Code, workload]{shaped, random, delays},
		Far: []*suite.Runs[Code, workload]{farther}, Uncomputed: uncomputed,
		Further: []suite.Further{runFaults.Further(), runRefusals.Further()}}

	measured    = scene.Runs("efficiency", lastOfEfficiency, efficient, suite.Around[workload]{Before: busy})
	farMeasured = scene.Runs("efficiency-far", lastOfEfficiency, efficientFar, suite.Around[workload]{}).Far()
	passes      = &suite.Good[Code, workload]{Function: "Efficiency", Runs: []*suite.Runs[Code, workload]{measured},
		Far:     []*suite.Runs[Code, workload]{farMeasured},
		Further: []suite.Further{efficiencyFaults.Further(), efficiencyRefusals.Further()}}

	runFaults = scene.Faults("run-faults", lastOfRun, small(false, 3), suite.FaultJudge{Function: "Run",
		Stops: true}, wrongResult)
	efficiencyFaults = scene.Faults("efficiency-faults", lastOfEfficiency, small(true, 2),
		suite.FaultJudge{Function: "Efficiency", Stops: true}, nil)

	runRefusals        = refusals("arguments", "1a", false)
	efficiencyRefusals = refusals("efficiency-arguments", "2c", true)
)

func refusals(id, after string, efficiency bool) *suite.Refusals[Code] {
	fine := workload{efficiency: efficiency, streams: 2, n: 100, chunk: 30, work: 2}
	bad := func(label string, change func(*workload)) suite.Bad[workload] {
		w := fine
		change(&w)
		return suite.Bad[workload]{Label: label, W: w}
	}
	return suite.NewRefusals(id, after, []suite.Bad[workload]{
		bad("no streams", func(w *workload) { w.streams = 0 }),
		bad("0 words", func(w *workload) { w.n = 0 }),
		bad("-1 words", func(w *workload) { w.n = -1 }),
		bad("chunks of 0 words", func(w *workload) { w.chunk = 0 }),
		bad("chunks of -3 words", func(w *workload) { w.chunk = -3 }),
		bad("a work of -1", func(w *workload) { w.work = -1 }),
		bad("an in that is 1 byte short", func(w *workload) { w.lacks = 1; w.short = 1 }),
		bad("an out that is 1 byte short", func(w *workload) { w.lacks = 1; w.short = 2 }),
		bad("2^61 words, of which in and out hold 100", func(w *workload) { w.asked = 1 << 61 }),
		bad("2^62 words, of which in and out hold 100", func(w *workload) { w.asked = 1 << 62 }),
	}, scene.Refuse, suite.Refusing(fine.function(), "Return contract.ErrArgument when there are no streams, when n or "+
		"chunk is below 1, when work is below 0, and when in or out has fewer than 4*n bytes; compare n with a quarter of "+
		"Len(), since 4*n may be more than an integer holds.")).Behind(scene.Call(fine))
}

func waiting(workload) suite.HostWait {
	return suite.HostWait{
		Should: "Run should return without waiting for the device",
		Why: "While the host waits it enqueues nothing, so two of the three machines that could be working " +
			"stand still.",
		Fix:              "Leave it out: within a stream each step waits for the one before by itself.",
		AllocationShould: "Buffers should be allocated on the device, in a stream",
		AllocationThen:   "belongs to no stream.",
		AllocationWhy: "An allocation outside of the streams may wait for the whole device, and pinned memory takes " +
			"longer to allocate than to copy.",
	}
}

// hostTouches finds accesses of the host's own to in and out, and copies that do not go from them or to them.
func hostTouches(e *suite.Evidence) (found []verdict.Finding) {
	for _, m := range good.Made(e) {
		m.Records(func(at int, r *trace.Record) bool {
			switch {
			case r.Op == trace.OpHostRead || r.Op == trace.OpHostWrite:
				found = append(found, m.Finding(at, suite.Rule{ID: "host-touch",
					Why: "The copies are only enqueued: when the host looks, the bytes may be those of before, and what it writes " +
						"may come too late.",
					Fix: "Leave the bytes to cuda.MemcpyHtoDAsync and cuda.MemcpyDtoHAsync, with in.At and out.At.",
				}, "Run should leave the bytes of in and out to the device, but %s has the host touch them.", r.Op))
			case r.Host == trace.Pageable:
				found = append(found, m.Finding(at, suite.Rule{ID: "pageable-copy",
					Why: "The device reaches pinned memory only. Where it is none the host copies the bytes once more, and may wait " +
						"for the stream.",
					Fix: "Copy from in.At(offset), and to out.At(offset).",
				}, "Run should copy from in and to out, which are pinned, but %s goes through Go's own memory.", suite.CallName(r)))
			}
			return true
		})
	}
	return verdict.Unique(found)
}

// The timed workload: a copy of a chunk takes about as long as its kernel, and far longer than enqueuing it.
const (
	timedStreams = 4
	timedChunk   = 256 << 10 // words
	timedWords   = 16 * timedChunk
	timedWork    = 500 // at most
	speedLimit   = 1.6
)

//go:embed paces.txt
var paces string

var speed = good.Speed(scene, "as fast as overlapping allows", lastOfRun, "Run", &suite.Race[Code, workload]{
	Draw: func(r *rand.Rand) workload {
		return workload{streams: timedStreams, n: timedWords, chunk: timedChunk, work: timedWork - r.IntN(timedWork/8),
			timed: true}
	},
	Baseline: alone,
	KeepPool: true, // where growing it would be half of the time
	Wrong: func(m *suite.Timed[workload]) string {
		if i := m.W.firstWrongSum(m.Noted(noteWords)); i >= 0 {
			return fmt.Sprintf("Run should do all of its work in each call, but while it was timed chunk %d came out wrong; "+
				"in the calls of the other checks none did.", i)
		}
		return ""
	},
	SpeedWords: suite.SpeedWords{
		Pacing: suite.Pacing{Versus: "one stream", Limit: speedLimit, Recorded: paces},
		Passed: "Run takes %.2f times the solution's time and is %.1f times as fast as all chunks in one stream.",
		Work:   "16 chunks of 1 MiB on 4 streams", Takes: "take",
		Why: "One engine copies in, another one copies out, and the multiprocessors compute: what is in three streams can " +
			"be in all three at once.",
		Fix: "Spread the chunks over all streams, each with a buffer of its own, have none wait for another but " +
			"through its buffer, and launch the kernel in blocks of many threads.",
	},
})
