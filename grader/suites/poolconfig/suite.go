// Package poolconfig is the suite of the pool-config lesson: its workloads, its baseline and what is asked.
package poolconfig

import (
	_ "embed"
	"fmt"

	"cudalab/exercises/contract"
	"cudalab/grader/suite"
	"cudalab/native/cuda"
	"cudalab/native/trace"
)

// Code is the functions that the exercise asks for.
type Code struct {
	Run  Run
	Keep Keep
	Lend Lend
}

// The functions of the exercise.
type (
	Run  func(contract.PoolConfig) (contract.PoolReport, error)
	Keep func(device int, threshold uint64, work func() error) (contract.Sample, error)
	Lend func(device int, pool cuda.MemPool, work func() error) error
)

// Of is the exercise's code.
func Of(run Run, keep Keep, lend Lend) Code { return Code{Run: run, Keep: keep, Lend: lend} }

// Suite makes the suite of a student's code, and of the solution where there is one. Through it a runner's main
// package, which is compiled for each check, calls what is compiled here.
var Suite = Lesson.Suite

// Lesson is what is asked about the exercise.
var Lesson = suite.Lesson[Code]{
	Name:      "pool-config",
	Functions: []string{"Run", "Keep", "Lend"},
	WaysOut:   []suite.WayOut{{Gap: "1f", Makes: trace.OpMallocFromPoolAsync}},
	Parts:     append(ofRun, current, speed),
	Benchmarks: []suite.Trial[Code]{speed.Benchmark(fmt.Sprintf("%d rounds of %d blocks on %d streams", speedRounds,
		speedBlocks, speedStreams), "run", "The baseline leaves the pool's release threshold at 0, so that every round "+
		"fetches its memory again.")},
}

// ofRun are the questions about Run alone.
var ofRun = []suite.Part[Code]{
	suite.Arguments("refuses bad arguments before anything is made", refusals),
	good.Part("pool", "all memory comes from one pool of its own with the right threshold, and no other pool is changed",
		"One pool of its own with its threshold set in time; the device's own pools are as they were.", pools).
		Needing(&farther.Trial),
	good.Asking("work", "block j is allocated, touched and freed on Streams[j % len(Streams)], every round",
		judgeWork).ByLuck(),
	good.Order("every use is ordered before its free, and every sample is taken after the round's work",
		"Every use is over before the free, and every sample shows a pool at rest.").And(sampledEarly),
	good.Asking("report", "the report is what the pool answered", judgeReport).And(good.Kept),
	good.Asking("reuse", "allocations served from what the pool holds are counted, and the pool stops growing",
		judgeReuse),
	good.Part("trim", "the pool is trimmed and sampled once, after the last round",
		"What the pool held in reserve went back after the last round.", whole((*call).trim)),
	good.Cleanup("nothing is left behind, not even when a CUDA call fails",
		"Every block was freed and the pool destroyed, and a failing CUDA call was reported and left nothing behind.",
		faults).And(poolsAfterFaults),
}

// lastGap is the one behind which Run can come to its end.
const lastGap = "1h"

var (
	good = &suite.Good[Code, workload]{Function: "Run", Runs: []*suite.Runs[Code, workload]{
		scene.Runs("shapes", lastGap, suite.Fixed(shapes()...), suite.Around[workload]{}),
		scene.Runs("random", lastGap, drawn, suite.Around[workload]{}),
		scene.Runs("steps", lastGap, drawn, suite.Around[workload]{}).On(otherSteps),
	}, Far: []*suite.Runs[Code, workload]{farther}, Further: []suite.Further{faults.Further(), refusals.Further()}}
	farther = scene.Runs("far", lastGap, far, suite.Around[workload]{}).Far()
	faults  = scene.Faults("faults", lastGap, threeBlocks, suite.FaultJudge{Function: "Run", Stops: true}, incomplete)
)

var refusals = suite.NewRefusals("arguments", "1a", []suite.Bad[workload]{
	{Label: "no streams", W: newWorkload(0, 2, keepAll, 0, 64, 100)},
	{Label: "no sizes", W: newWorkload(2, 2, keepAll, 0)},
	{Label: "a block of 0 bytes behind a good one", W: newWorkload(2, 2, keepAll, 0, 64, 0)},
	{Label: "a block of -5 bytes", W: newWorkload(2, 2, keepAll, 0, -5)},
	{Label: "0 rounds", W: newWorkload(2, 0, keepAll, 0, 64, 100)},
	{Label: "-1 rounds", W: newWorkload(2, -1, keepAll, 0, 64, 100)},
	{Label: "device -1", W: newWorkload(2, 2, keepAll, 0, 64, 100).onDevice(-1)},
	{Label: "the number of devices as the device", W: newWorkload(2, 2, keepAll, 0, 64, 100).onDevice(deviceCount)},
	{Label: "device 1,000,000", W: newWorkload(2, 2, keepAll, 0, 64, 100).onDevice(1_000_000)},
}, refuse, suite.Refusal{
	Function: "Run",
	Fix: "Return contract.ErrArgument for no streams, no sizes, a size below 1, fewer than one round, and a device " +
		"below 0 or not below cuda.GetDeviceCount().",
	FixLate: "Look at all the arguments, every size included, before the first CUDA call but cuda.GetDeviceCount.",
	Allowed: []trace.Op{trace.OpDeviceInfo}, // counting the devices is how one learns that a device is not there
}).Behind(scene.Call(newWorkload(2, 2, keepAll, 0, 64, 100)))

// speedLimit is how much slower than the solution a right program may be. One that waits within a round takes 1.3 to
// 1.5 times as long, on an H200 as on the simulator: it is told by its calls, in the check of the work, and not by its
// time.
const speedLimit = 1.5

//go:embed paces.txt
var paces string

var speed = good.Speed(scene, "as fast as a pool that keeps its memory allows", lastGap, "Run",
	&suite.Race[Code, workload]{
		Draw:     speedWorkload,
		Baseline: Code{Run: baseline},
		Wrong:    wrongWhenTimed,
		SpeedWords: suite.SpeedWords{
			Pacing: suite.Pacing{Versus: "threshold 0", Limit: speedLimit, Recorded: paces},
			Passed: "%.2f times the solution's time; %.1f times as fast as a pool that keeps nothing.",
			Work: fmt.Sprintf("%d rounds of %d blocks on %d streams, through a pool that may keep all its memory,", speedRounds,
				speedBlocks, speedStreams), Takes: "take",
			Why: "From a pool that has the memory a block costs under a microsecond; growing the pool, waiting for the " +
				"device, or writing a block with a few threads only costs many times that.",
			Fix: "Let the pool keep its memory from round to round, wait only once in a round, when everything is enqueued, " +
				"and launch kernels.Touch with some thousand threads.",
		},
	})
