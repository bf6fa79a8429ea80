// Package kernels stands in for the course's.
package kernels

import "cudalab/native/cuda"

func Process(grid, block int, s cuda.Stream, data cuda.DevicePtr, n int) error { return nil }
