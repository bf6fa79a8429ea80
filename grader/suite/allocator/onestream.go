package allocator

import (
	"fmt"

	"cudalab/grader/suite"
	"cudalab/kernels"
	"cudalab/native/cuda"
)

// OnHost is an allocator of blocks that knows of no streams.
type OnHost interface {
	Allocator
	freer
}

// The race in one stream: a pool of CUDA's that keeps nothing has to get its memory anew behind each rest.
const (
	oneStreamRounds = 64
	oneStreamRest   = 8
)

// The sizes that the race in one stream asks for, in turns: each four times the one before.
const (
	OneStreamLeast = 64 << 10
	OneStreamMost  = 4 << 20
)

// OneStream is the race of allocators whose caller sees to the order: kernels use block after block in one stream,
// which needs nothing else. New makes an allocator that has room for a block of each size.
func OneStream[Code any, L fmt.Stringer](after, paces string, New func(Code) (OnHost, error)) *StreamRace[Code, L] {
	sizes := 1
	for size := OneStreamLeast; size < OneStreamMost; size *= 4 {
		sizes++
	}
	return &StreamRace[Code, L]{
		Tenants: Tenants[L]{
			MoveIn: func(grid, block int, s cuda.Stream, at cuda.DevicePtr, bytes int64, tenant uint32, _ int,
				_ cuda.DevicePtr) error {
				return kernels.Stamp(grid, block, s, at, bytes, tenant)
			},
			MoveOut: kernels.Verify,
		},
		After: after, Streams: 1, Rounds: oneStreamRounds, Rest: oneStreamRest,
		Size: func(round, _ int) int64 { return OneStreamLeast << (2 * (round % sizes)) },
		New: func(f Code) (InStreams, error) {
			a, err := New(f)
			return whateverStream{a}, err
		},
		SpeedWords: suite.SpeedWords{
			Pacing: suite.Pacing{Versus: "cuda.MallocAsync from a pool that keeps nothing", Limit: 1.5, Recorded: paces},
			Passed: "The rounds take %.2f times as long as with the solution's blocks; with cuda.MallocAsync, from a pool " +
				"that keeps nothing, they take %.1f times as long as with yours.",
			Work: fmt.Sprintf("%d rounds of block, kernels and Free", oneStreamRounds), Takes: "take",
			Why: "The device runs dry when the host is slower at handing out blocks than the kernels are at using them.",
			Fix: "Do no more in Alloc and Free than keep account on the host.",
		},
		Crowded: "Hand out no block that is still out, whatever was done before.",
	}
}

// whateverStream is an allocator that is not told for which stream a block is.
type whateverStream struct{ OnHost }

func (a whateverStream) Alloc(size int64, _ cuda.Stream) (cuda.DevicePtr, error) {
	return a.OnHost.Alloc(size)
}
func (a whateverStream) Free(p cuda.DevicePtr, _ cuda.Stream) error { return a.OnHost.Free(p) }
