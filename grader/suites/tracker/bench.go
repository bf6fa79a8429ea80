package tracker

import (
	"cudalab/grader/suite/allocbench"
	"cudalab/native/cuda"
)

// slots is an allocator of one size over memory of CUDA's: what the benchmarks have trackers go around.
type slots struct {
	memory, next, size cuda.DevicePtr
	spare              []cuda.DevicePtr
}

func (s *slots) Alloc(int64) (p cuda.DevicePtr, err error) {
	if last := len(s.spare) - 1; last >= 0 {
		p, s.spare = s.spare[last], s.spare[:last]
		return p, nil
	}
	s.next += s.size
	return s.next - s.size, nil
}

func (s *slots) Free(p cuda.DevicePtr) error {
	s.spare = append(s.spare, p)
	return nil
}

// around is a tracker with the memory that it keeps account of.
type around struct {
	t     Tracker
	inner *slots
}

func (a around) Alloc(size int64) (cuda.DevicePtr, error) { return a.t.Alloc(size, "benchmark") }
func (a around) Free(p cuda.DevicePtr) error              { return a.t.Free(p) }
func (a around) Close() error                             { return cuda.Free(a.inner.memory) }

var benchmarks = allocbench.Pairs("The tracker goes around an allocator of one size, which takes a step or two; "+
	"CUDA's calls have no account of anything.",
	func(wrap Make) allocbench.Make {
		return func(_, largest int64, blocks int) (allocbench.Allocator, error) {
			bytes := largest * int64(blocks)
			memory, err := cuda.Malloc(bytes)
			if err != nil {
				return nil, err
			}
			inner := &slots{memory: memory, next: memory, size: cuda.DevicePtr(largest)}
			t, err := wrap(lend(inner), memory, bytes, bytes)
			return around{t, inner}, err
		}
	})
