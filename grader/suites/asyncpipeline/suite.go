// Package asyncpipeline is the suite of the async-pipeline lesson: its workloads, its baseline and what is asked.
package asyncpipeline

import (
	_ "embed"
	"fmt"
	"math/rand/v2"

	"cudalab/exercises/contract"
	"cudalab/grader/suite"
	"cudalab/native/cuda"
	"cudalab/native/trace"
)

// Code is the functions that the exercise asks for.
type Code struct {
	Run  Run
	Sums Sums
}

// The functions of the exercise.
type (
	Run  func(streams []cuda.Stream, batches []contract.Batch) error
	Sums func(n int, batches []contract.Batch) ([]uint64, error)
)

// The lesson's kernels, as the trace names them.
var sumKernels = suite.SumKernels{Fill: "process", Sum: "reduce"}

// Of is the exercise's code.
func Of(run Run, sums Sums) Code { return Code{Run: run, Sums: sums} }

// Suite makes the suite of a student's code, and of the solution where there is one. Through it a runner's main
// package, which is compiled for each check, calls what is compiled here.
var Suite = Lesson.Suite

// Lesson is what is asked about the exercise.
var Lesson = suite.Lesson[Code]{
	Name:      "async-pipeline",
	Functions: []string{"Run", "Sums"},
	WaysOut:   []suite.WayOut{{Gap: "2a", Makes: trace.OpStreamCreate}},
	Parts:     append(ofRun, whole, speed),
	Benchmarks: []suite.Trial[Code]{speed.Benchmark(fmt.Sprintf("%d batches on %d streams", speedBatches, speedStreams),
		"run",
		"The baseline takes memory from cuda.Malloc and waits for every batch, all on one stream.")},
}

// ofRun are the questions about Run alone.
var ofRun = []suite.Part[Code]{
	suite.Arguments("refuses bad arguments before any CUDA call", refusals),
	good.Results("every batch has the right sum", wrongResults, exact).ByLuck(),
	good.Part("placement", "batch i runs whole on streams[i % len(streams)]",
		"Each batch stays in its own stream, so nothing but the stream has to order it.", misplaced),
	good.NoHostWait("async", "Run returns without waiting for the device",
		"Run returned while the device was still busy.",
		func(workload) suite.HostWait { return waiting }, pending),
	good.Order("every use is ordered after its allocation and before its free",
		"No use before its allocation, after its free, or beside a write it is not ordered with.", &pending.Trial),
	good.Cleanup("nothing is left behind, not even when a CUDA call fails",
		"Every buffer was freed once, and a failing CUDA call was reported and left nothing behind.", faults),
}

// lastGap is the one behind which Run can come to its end.
const lastGap = "1e"

// scene lends Run its streams, and room for the results of its batches.
var scene = &suite.Scene[Code, workload]{
	Set: func(s *suite.Stage, w workload) func(Code, workload) error {
		streams, results := s.Streams(w.streams, "streams[%d]"), s.Results(len(w.batches))
		return func(code Code, w workload) error {
			return code.Run(suite.Given(s, "streams", streams), suite.Given(s, "batches", w.into(results)))
		}
	},
}

var (
	good = &suite.Good[Code, workload]{Function: "Run", Runs: []*suite.Runs[Code, workload]{
		scene.Runs("shapes", lastGap, suite.Fixed(shapes()...), suite.Around[workload]{}),
		scene.Runs("random", lastGap, drawn, suite.Around[workload]{}),
	}, Far: []*suite.Runs[Code, workload]{scene.Runs("far", lastGap, far, suite.Around[workload]{}).Far()},
		Uncomputed: uncomputed, Further: []suite.Further{faults.Further(), refusals.Further()}}
	pending = scene.Runs("pending", lastGap, suite.Fixed(stillBusy()), suite.Around[workload]{
		Before: func(s *suite.Stage, _ workload) {
			for _, stream := range s.Lent {
				s.Busy(stream, suite.PendingDelay)
			}
		},
	})
	faults = scene.Faults("faults", lastGap, threeBatches, suite.FaultJudge{
		Function: "Run", Stops: true,
		Fixes: map[trace.Op]string{
			trace.OpMallocAsync: "Free the buffer with cuda.FreeAsync in the batch's stream before returning the error.",
		},
	}, wrongResults)
)

var refusals = suite.NewRefusals("arguments", "1a", []suite.Bad[workload]{
	{Label: "no streams", W: ofSizes(0, 100)},
	{Label: "a batch of 0 elements", W: ofSizes(2, 0)},
	{Label: "a batch of -5 elements behind two good ones", W: ofSizes(2, 64, 64, -5)},
}, scene.Refuse, suite.Refusal{
	Function: "Run",
	Why:      "An argument that is refused before the first CUDA call leaves nothing to undo.",
	Fix:      "Return contract.ErrArgument when there are no streams or a batch has N < 1.",
	FixLate:  "Look at all the arguments, every batch included, before the first CUDA call.",
	Pass:     "No streams and empty batches are refused, and nothing was touched.",
}).Behind(scene.Call(ofSizes(2, 64, 64, 64)))

var waiting = suite.HostWait{
	Should: "Run should return without waiting for the device",
	Why: "While the host waits it enqueues nothing, so the other streams run dry and batches no longer " +
		"overlap.",
	Fix: "Leave it out: the stream already keeps the batch's operations in order, and the caller waits for " +
		"the results.",
	AllocationShould: "The buffer should be allocated in the batch's stream",
	AllocationThen:   "allocates outside any stream, and what frees such memory waits for the device.",
	AllocationWhy: "cuda.MallocAsync and cuda.FreeAsync only join the stream's queue: the memory comes from a pool " +
		"and goes back without a wait.",
}

// speedLimit is how much slower than the solution a right program may be. Blocks of 1024 threads put a batch on a
// quarter of the multiprocessors that blocks of 256 use, which takes 1.44 times as long (measured on an H200, driver
// 580.159.04), and 1.53 times where the streams are filled one after the other besides; batches that wait for each
// other take 3.9 times.
const speedLimit = 2.5

//go:embed paces.txt
var paces string

var speed = good.Speed(scene, "as fast as overlapping batches allow", lastGap, "Run", &suite.Race[Code, workload]{
	Draw:     func(r *rand.Rand) workload { return speedWorkload(multiplier(r)) },
	Baseline: Code{Run: baseline},
	KeepPool: true,
	Wrong: func(m *suite.Timed[workload]) string {
		if i := m.W.firstWrong(m.Sums()); i >= 0 {
			return fmt.Sprintf("Run should compute every sum in each call, but while it was timed with %s, that of batches[%d] "+
				"was wrong; in the calls of the other checks each was right.", m.W.label, i)
		}
		return ""
	},
	SpeedWords: suite.SpeedWords{
		Pacing: suite.Pacing{Versus: "the synchronous baseline", Limit: speedLimit, Recorded: paces},
		Passed: "%.2f times the solution's time; %.1f times as fast as the synchronous baseline.",
		Work:   fmt.Sprintf("%d batches on %d streams", speedBatches, speedStreams), Takes: "take",
		Why: "One batch fills only a part of the GPU, so batches in different streams can run at the same time.",
		Fix: "Keep every stream supplied: no call that waits for the device, batch i on streams[i%len(streams)], and " +
			"blocks of 128 to 512 threads.",
	},
})
