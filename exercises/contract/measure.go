package contract

// Comparison is what the measure exercise found out: milliseconds for one round of each way to have memory for a kernel.
type Comparison struct {
	Synchronous float32 // cuda.Malloc, the kernel, cuda.Free
	Ordered     float32 // cuda.MallocAsync, the kernel, cuda.FreeAsync
	Kept        float32 // the kernel alone, on memory that is kept
}
