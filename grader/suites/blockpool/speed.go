package blockpool

import (
	_ "embed"

	"cudalab/grader/suite"
	"cudalab/grader/suite/allocator"
	"cudalab/kernels"
	"cudalab/native/cuda"
)

// tenants use the blocks.
var tenants = allocator.Tenants[layout]{MoveIn: kernels.Occupy, MoveOut: kernels.Occupied}

// The timed workload.
const (
	speedStreams = 4
	speedRounds  = 32
	speedBlocks  = 8
	speedSize    = 4096
)

//go:embed paces.txt
var paces string

var speed = &allocator.StreamRace[Make, layout]{
	Tenants: tenants, After: lastGap, Streams: speedStreams, Rounds: speedRounds, Work: 100_000,
	Size:     func(int, int) int64 { return speedSize },
	New:      func(f Make) (allocator.InStreams, error) { return f(speedSize, speedBlocks) },
	Baseline: newWaiting,
	// A pool that has a stream wait for another in every round takes up to four times as long.
	SpeedWords: allocator.AtOnce(speedStreams, speedRounds,
		suite.Pacing{Versus: "a host that waits", Limit: 1.5, Recorded: paces},
		"take %.2f times as long as with the solution's pool; with a host that waits they take %.1f times as long as yours.",
		"Hand out what was given back in the same stream first, and what is done next: neither needs an edge."),
	Crowded: allocator.CrowdedStreams,
}

// waiting is what the lesson argues against: one list for all streams, and a host that waits before a block goes to
// another one.
type waiting struct {
	Pool
	last map[cuda.DevicePtr]cuda.Stream
	free []cuda.DevicePtr
}

func newWaiting(blockSize int64, blocks int) (Pool, error) {
	memory, err := cuda.Malloc(blockSize * int64(blocks))
	if err != nil {
		return nil, err
	}
	p := &waiting{last: map[cuda.DevicePtr]cuda.Stream{}}
	for i := range blocks {
		p.free = append(p.free, memory+cuda.DevicePtr(i)*cuda.DevicePtr(blockSize))
	}
	return p, nil
}

func (p *waiting) Alloc(s cuda.Stream) (cuda.DevicePtr, error) {
	at := p.free[len(p.free)-1]
	p.free = p.free[:len(p.free)-1]
	if last, had := p.last[at]; had && last != s {
		if err := cuda.StreamSynchronize(last); err != nil {
			return 0, err
		}
	}
	return at, nil
}

func (p *waiting) Free(at cuda.DevicePtr, s cuda.Stream) error {
	p.last[at] = s
	p.free = append(p.free, at)
	return nil
}

func (p *waiting) Close() error {
	memory := p.free[0]
	for _, at := range p.free {
		memory = min(memory, at)
	}
	return cuda.Free(memory)
}
