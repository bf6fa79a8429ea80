// Package measure is the suite of the measure lesson: its workloads and what is asked.
package measure

import (
	"errors"
	"math"

	"cudalab/exercises/contract"
	"cudalab/grader/suite"
	"cudalab/grader/suite/verdict"
	"cudalab/kernels"
	"cudalab/kernels/probe"
	"cudalab/native/cuda"
	"cudalab/native/trace"
)

// Code is the functions that the exercise asks for.
type Code struct {
	Time    Time
	Compare Compare
}

// The functions of the exercise.
type (
	Time    func(s cuda.Stream, warm, rounds int, work func(cuda.Stream) error) (ms float32, err error)
	Compare func(s cuda.Stream, n, rounds int) (contract.Comparison, error)
)

// Of is the exercise's code.
func Of(time Time, compare Compare) Code { return Code{Time: time, Compare: compare} }

// kernel is what Compare launches, as the trace names it.
const kernel = "gray"

// Suite makes the suite of a student's code, and of the solution where there is one. Through it a runner's main
// package, which is compiled for each check, calls what is compiled here.
var Suite = Lesson.Suite

// Lesson is what is asked about the exercise.
var Lesson = suite.Lesson[Code]{
	Name:      "measure",
	Functions: []string{"Time", "Compare"},
	WaysOut: []suite.WayOut{{Gap: "1b", Makes: trace.OpEventCreate},
		{Gap: "2b", Makes: trace.OpMalloc}, {Gap: "2c", Makes: trace.OpMallocAsync}},
	// Freeing behind a kernel that still runs is what a synchronous round is about: cuda.Free waits for it on every GPU
	// seen.
	Remarks: map[string]verdict.Severity{"free-while-pending": ""},
	Parts: []suite.Part[Code]{
		suite.Arguments("refuses bad arguments before any CUDA call", timeRefusals, compareRefusals),
		timed.Part("rounds", "calls work as often as asked, with s",
			"Every round was enqueued once, in s, and none behind an error of work.", rounds).And(wentOn, &timeErrors.Trial),
		good.Part("clock", "the clock starts and stops in s, around exactly the timed rounds, warm",
			"Every clock ran in s, from the last warm-up round to the last timed one.", clocks),
		good.Part("result", "answers what the two events say, for one round",
			"Every answer is what two events said, for one round.", results).Needing(&timeFars.Trial, &compareFars.Trial),
		good.Never("waits", "waits once the work is enqueued, for s alone",
			"No clock was running while the host waited, and it waited for nobody else's work.", waits).
			And(waitsBeforeErrors, &timeErrors.Trial),
		comparisons.Asking("compare", "the three ways differ only in what they say", judgeCompare),
		comparisons.Order("every use is ordered after its allocation and before its free",
			"No use before its allocation, after its free, or beside a write it is not ordered with."),
		good.Cleanup("nothing is left behind, not even when a call or work fails",
			"Memory and events are gone after every call, also where a call or work failed, and the failure was reported.",
			timeFaults, compareFaults).And(afterWork, &timeErrors.Trial),
	},
	Benchmarks: []suite.Trial[Code]{benchmark},
}

// The last gaps behind which the functions can come to their end.
const (
	lastOfTime    = "1e"
	lastOfCompare = "2d"
)

// noteAnswer is noted of a call: the bits of the numbers that it answered.
const noteAnswer = "answer"

func bits(numbers ...float32) (all []uint64) {
	for _, x := range numbers {
		all = append(all, uint64(math.Float32bits(x)))
	}
	return all
}

// busyFor is how long a stream is busy before a call, in nanoseconds: long beside all rounds, and short enough to ask
// all the while whether it is over.
const busyFor = 5_000_000

// What a round of work is, beside the lesson's kernel: a launch of some microseconds, or of longRound as well, in
// nanoseconds.
const (
	workElements = 4096
	longRound    = 200_000
)

// errWork is what work answers where it is to fail.
var errWork = errors.New("the round could not be enqueued")

// scene lends the code its stream, and has another one beside it.
var scene = &suite.Scene[Code, workload]{
	Set: func(s *suite.Stage, w workload) func(Code, workload) error {
		lend := s.Stream
		if w.blocking {
			lend = s.BlockingStream
		}
		stream := lend("s")
		s.Stream("other")
		data, err := cuda.Malloc(4 * workElements)
		s.Bench.Must(err)
		s.Finally(func() { s.Bench.Must(cuda.Free(data)) })
		return func(code Code, w workload) error {
			if w.compare {
				c, err := code.Compare(stream, w.n, w.rounds)
				s.Note(noteAnswer, bits(c.Synchronous, c.Ordered, c.Kept))
				return err
			}
			work, calls := (func(cuda.Stream) error)(nil), 0
			if !w.noWork {
				work = func(in cuda.Stream) error {
					calls++
					return s.Callback("work", func() error { return w.round(calls, in, data) })
				}
			}
			ms, err := code.Time(stream, w.warm, w.rounds, work)
			s.Note(noteAnswer, bits(ms))
			return err
		}
	},
}

// round is a call of work.
func (w workload) round(call int, in cuda.Stream, data cuda.DevicePtr) error {
	if call == w.fails {
		return errWork
	}
	if w.long {
		if err := probe.Delay(in, longRound); err != nil {
			return err
		}
	}
	return kernels.Gray(workElements/256, 256, in, data, workElements)
}

// around keeps streams busy before the call, or takes the default pool's memory.
var around = suite.Around[workload]{Before: func(s *suite.Stage, w workload) {
	if w.cold {
		pool, err := cuda.DeviceGetDefaultMemPool(0)
		s.Bench.Must(err)
		s.Bench.Must(cuda.MemPoolTrimTo(pool, 0))
	}
	for i, late := range []bool{w.busy, w.other} {
		if late {
			s.Busy(s.Lent[i], busyFor)
		}
	}
}}

var (
	timeRuns   = scene.Runs("time", lastOfTime, times, around)
	timeDelays = scene.Runs("time-delays", lastOfTime, delayed, around)
	timeErrors = scene.Runs("time-errors", lastOfTime, failing, suite.Around[workload]{})
	timeFars   = scene.Runs("time-far", lastOfTime, timeFar, suite.Around[workload]{}).Far()
	timeFaults = scene.Faults("time-faults", lastOfTime, twoRounds, suite.FaultJudge{Function: "Time", Stops: true},
		wrongAnswer)
	compareRuns   = withFigures(scene.Runs("compare", lastOfCompare, compared, around))
	compareFars   = scene.Runs("compare-far", lastOfCompare, compareFar, suite.Around[workload]{}).Far()
	compareFaults = scene.Faults("compare-faults", lastOfCompare, twoCompared, suite.FaultJudge{Function: "Compare",
		Stops: true}, wrongAnswer)

	timed = &suite.Good[Code, workload]{Function: "Time", Runs: []*suite.Runs[Code, workload]{timeRuns, timeDelays},
		Far:     []*suite.Runs[Code, workload]{timeFars},
		Further: []suite.Further{timeFaults.Further(), timeRefusals.Further()}}
	comparisons = &suite.Good[Code, workload]{Function: "Compare", Runs: []*suite.Runs[Code, workload]{compareRuns},
		Far:     []*suite.Runs[Code, workload]{compareFars},
		Further: []suite.Further{compareFaults.Further(), compareRefusals.Further()}}
	good = &suite.Good[Code, workload]{Function: "Time or Compare",
		Runs:    []*suite.Runs[Code, workload]{timeRuns, timeDelays, compareRuns},
		Far:     []*suite.Runs[Code, workload]{timeFars, compareFars},
		Further: append(timed.Further, comparisons.Further...)}
)

// refusal is what both functions are told about arguments that they should have refused.
func refusal(function, fix string) suite.Refusal {
	r := suite.Refusing(function, fix)
	r.FixLate = "Look at all the arguments before the first CUDA call, and before the first round."
	return r
}

var (
	timeRefusals = suite.NewRefusals("time-arguments", "1a", []suite.Bad[workload]{
		{Label: "0 rounds", W: workload{warm: 1}},
		{Label: "-3 rounds", W: workload{warm: 1, rounds: -3}},
		{Label: "-1 rounds to warm up", W: workload{warm: -1, rounds: 2}},
		{Label: "no work", W: workload{warm: 1, rounds: 2, noWork: true}},
	}, scene.Refuse, refusal("Time", "Return contract.ErrArgument when rounds is below 1, warm is below 0, or work "+
		"is nil.")).
		Behind(scene.Call(workload{warm: 1, rounds: 1}))

	compareRefusals = suite.NewRefusals("compare-arguments", "2a", []suite.Bad[workload]{
		{Label: "0 elements", W: workload{compare: true, rounds: 2}},
		{Label: "-5 elements", W: workload{compare: true, n: -5, rounds: 2}},
		{Label: "0 rounds", W: workload{compare: true, n: 100}},
	}, scene.Refuse, refusal("Compare", "Return contract.ErrArgument when n or rounds is below 1.")).
		Behind(scene.Call(workload{compare: true, n: 100, rounds: 1}))
)

// afterWork judges the calls in which work failed.
func afterWork(e *suite.Evidence) []verdict.Finding {
	return timed.CallbackErrors(e, timeErrors, "work", "Time", suite.Rule{ID: "error-ignored",
		Why: "A round that was not enqueued takes no time, so what the clock says is of something else.",
		Fix: "Return the error of work at once; the events go on the way out."})
}
