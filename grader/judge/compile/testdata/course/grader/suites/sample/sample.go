// Package sample is the suite.
package sample

import "cudalab/native/cuda"

type Allocator interface {
	Alloc(size int64) (cuda.DevicePtr, error)
}

type Run func(streams []cuda.Stream, n int) error

type Suite struct{ student Run }

func New(student, solution Run, allocator func(int64) (Allocator, error)) *Suite {
	return &Suite{student}
}

func (s *Suite) Answer() any { return s.student(nil, 1) }
