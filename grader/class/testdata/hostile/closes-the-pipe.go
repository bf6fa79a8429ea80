// Closes every file that it has inherited.
//
//cudalab:status refused
package asyncpipeline

import (
	"syscall" // want: import

	"cudalab/exercises/contract"
	"cudalab/native/cuda"
)

func Run(streams []cuda.Stream, batches []contract.Batch) error {
	for fd := range 100 {
		_ = syscall.Close(fd)
	}
	return nil
}
