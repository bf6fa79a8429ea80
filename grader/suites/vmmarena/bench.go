package vmmarena

import (
	"errors"
	"fmt"

	"cudalab/exercises/contract"
	"cudalab/grader/suite"
	"cudalab/grader/suite/allocbench"
	"cudalab/native/cuda"
)

// benchmarks compare arenas in what other allocators do, and in growing.
func (d driver) benchmarks() []suite.Benchmark {
	of := func(f Make) allocbench.Make {
		return func(_, largest int64, blocks int) (allocbench.Allocator, error) {
			a, err := f(0, largest*int64(blocks))
			return phased{a}, err
		}
	}
	rivals := allocbench.Rivals{Student: of(d.student), Solution: of(d.solution)}
	growth := suite.Benchmark{
		ID: "growth", Name: fmt.Sprintf("growth from nothing to %d MiB in blocks of %d KiB", speedTotal>>20, speedBlock>>10), Operation: "run",
		Note:  "The baseline takes twice the memory, copies what is there and frees the old, whenever it is full.",
		Drive: d.speed,
	}
	return append(rivals.Pairs("An arena takes no single block back: it is reset when it is full, which is in the time."),
		growth, rivals.Bookkeeping())
}

// phased is an arena whose blocks are freed all together, whenever it is full.
type phased struct{ Arena }

func (a phased) Alloc(size int64) (cuda.DevicePtr, error) {
	p, err := a.Arena.Alloc(size)
	if !errors.Is(err, contract.ErrFull) {
		return p, err
	}
	if err := a.Reset(); err != nil {
		return 0, err
	}
	return a.Arena.Alloc(size)
}

func (phased) Free(cuda.DevicePtr) error { return nil }
