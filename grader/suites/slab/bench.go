package slab

import (
	"cudalab/grader/suite"
	"cudalab/grader/suite/allocbench"
)

// benchmarks compare allocators with a class for every power of two that is asked for.
func (d driver) benchmarks() []suite.Benchmark {
	of := func(f Make) allocbench.Make {
		return func(least, largest int64, blocks int) (allocbench.Allocator, error) {
			var classes []int64
			for size := least; size <= largest; size *= 2 {
				classes = append(classes, size)
			}
			return f(classes, blocks)
		}
	}
	return allocbench.Rivals{Student: of(d.student), Solution: of(d.solution)}.Benchmarks()
}
