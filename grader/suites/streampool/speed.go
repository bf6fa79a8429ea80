package streampool

import (
	_ "embed"

	"cudalab/exercises/contract"
	"cudalab/grader/suite"
	"cudalab/grader/suite/allocator"
	"cudalab/kernels"
	"cudalab/native/cuda"
)

// tenants use the blocks.
var tenants = allocator.Tenants[layout]{MoveIn: kernels.Lease, MoveOut: kernels.Inspect, Leaving: true}

//go:embed paces.txt
var paces string

// The timed workload.
const (
	speedStreams = 4
	speedRounds  = 8
)

var speed = &allocator.StreamRace[Make, layout]{
	Tenants: tenants, After: lastGap, Streams: speedStreams, Rounds: speedRounds, Work: 200_000,
	Size: func(round, stream int) int64 { return int64(300_000 + 1024*(round+stream)) },
	New: func(f Make) (allocator.InStreams, error) {
		return f(newUpstream(layout{limit: 64 << 20}).lend(), 1<<20)
	},
	Baseline: newPlain,
	// A pool that has a stream wait for another in every round takes up to four times as long.
	SpeedWords: allocator.AtOnce(speedStreams, speedRounds,
		suite.Pacing{Versus: "cuda.Malloc and cuda.Free", Limit: 1.5, Recorded: paces},
		"take %.2f times as long as with the solution's pool; with a cuda.Malloc and a cuda.Free for each block they take "+
			"%.1f times as long as with yours.",
		"Hand out what was given back in the same stream first, and what is done next, and ask the upstream before a "+
			"stream waits."),
	Crowded: allocator.CrowdedStreams,
}

// plain is what the lesson argues against: every block is an allocation of its own.
type plain struct {
	Pool
	up contract.Upstream
}

func newPlain(up contract.Upstream, _ int64) (Pool, error) { return &plain{up: up}, nil }

func (p *plain) Alloc(size int64, s cuda.Stream) (cuda.DevicePtr, error) { return p.up.Malloc(size, s) }

// Free has the host wait for the block's user: the upstream's memory is anybody's.
func (p *plain) Free(at cuda.DevicePtr, s cuda.Stream) error {
	if err := cuda.StreamSynchronize(s); err != nil {
		return err
	}
	return p.up.Free(at)
}

func (p *plain) Close() error { return nil }
