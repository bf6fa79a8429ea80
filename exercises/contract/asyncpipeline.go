package contract

import "cudalab/native/cuda"

// Batch is one unit of work for the async-pipeline exercise.
type Batch struct {
	N          int     // number of float32 elements, at least 1
	Work       int     // rounds of work per element, for kernels.Process
	Multiplier float32 // for kernels.Process
	// Result is 8 bytes of device memory that the caller owns; the batch's sum goes there. It holds garbage
	// until the exercise has set it to zero.
	Result cuda.DevicePtr
}
