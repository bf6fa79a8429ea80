package buddy

import (
	"cudalab/grader/suite"
	"cudalab/grader/suite/allocbench"
)

// benchmarks compare allocators whose root has room for all blocks at their largest.
func (d driver) benchmarks() []suite.Benchmark {
	of := func(f Make) allocbench.Make {
		return func(least, largest int64, blocks int) (allocbench.Allocator, error) {
			return f(largest*int64(blocks), least)
		}
	}
	return allocbench.Rivals{Student: of(d.student), Solution: of(d.solution)}.Benchmarks()
}
