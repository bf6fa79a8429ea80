package bugclinic

import (
	_ "embed"
	"fmt"
	"math/rand/v2"

	"cudalab/grader/suite"
	"cudalab/kernels"
	"cudalab/native/cuda"
)

// baseline is what the lesson argues against: a host that waits behind every item.
var baseline = Code{PingPong: func(a, b cuda.Stream, blocks [2]cuda.DevicePtr, n, work, steps int,
	out cuda.DevicePtr) error {
	for i := range steps {
		if err := kernels.FillItem(grid(n), block, a, blocks[i%2], n, uint32(i), work); err != nil {
			return err
		}
		if err := cuda.StreamSynchronize(a); err != nil {
			return err
		}
		if err := kernels.Digest(grid(n), block, b, blocks[i%2], n, work, out+cuda.DevicePtr(8*i)); err != nil {
			return err
		}
		if err := cuda.StreamSynchronize(b); err != nil {
			return err
		}
	}
	return nil
}}

// The timed workload: each kernel has few threads and takes long beside its launch, so that two of them run at the same
// time on any GPU.
const (
	timedWords = 512 // at most
	timedWork  = 6800
	timedSteps = 32
)

// speedLimit is how much slower than the solution a right program may be.
const speedLimit = 1.6

//go:embed paces.txt
var paces string

// speedOf asks whether PingPong is fast; good is its trial.
func speedOf(good *suite.Good[Code, workload]) suite.Part[Code] {
	return good.Speed(scene, "PingPong's streams still overlap", pingPong.gap, "PingPong", &suite.Race[Code, workload]{
		Draw: func(r *rand.Rand) workload {
			return workload{of: pingPong, n: timedWords - r.IntN(timedWords/8), work: timedWork, steps: timedSteps}
		},
		Baseline: baseline,
		KeepPool: true,
		Wrong: func(m *suite.Timed[workload]) string {
			sums := m.Sums()
			for i, want := range m.W.results() {
				if i >= len(sums) || sums[i] != want.want+suite.Garbage {
					return fmt.Sprintf("PingPong should do all of its work in each call, but while it was timed for %s, "+
						"%s was wrong; in the calls "+
						"of the other checks it was right.", m.W.Label(), want.what)
				}
			}
			return ""
		},
		SpeedWords: suite.SpeedWords{
			Pacing: suite.Pacing{Function: "PingPong", Versus: "a host that waits", Limit: speedLimit, Recorded: paces},
			Passed: "PingPong takes %.2f times the solution's time and is %.1f times as fast as with a host that waits.",
			Work:   fmt.Sprintf("PingPong over %d items", timedSteps), Takes: "takes",
			Why: "While b digests one block, a can fill the other: a wait too many puts the two one behind the other.",
			Fix: "Have the fill of item i wait for the digest of item i-2 and for no later one, and the host for nothing.",
		},
	})
}
