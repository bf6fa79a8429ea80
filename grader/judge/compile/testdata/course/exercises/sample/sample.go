// Package sample is the exercise as it is handed out.
package sample

import (
	"cudalab/exercises/contract"
	"cudalab/native/cuda"
)

func Run(streams []cuda.Stream, n int) error { return contract.TODO("1a") }

type Allocator struct{}

func New(total int64) (*Allocator, error) { return nil, contract.TODO("2a") }

func (a *Allocator) Alloc(size int64) (cuda.DevicePtr, error) { return 0, contract.TODO("2b") }
