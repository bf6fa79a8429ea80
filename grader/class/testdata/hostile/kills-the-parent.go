// Ends the grader.
//
//cudalab:status refused
package asyncpipeline

import (
	"os"      // want: import
	"syscall" // want: import

	"cudalab/exercises/contract"
	"cudalab/native/cuda"
)

func Run(streams []cuda.Stream, batches []contract.Batch) error {
	return syscall.Kill(os.Getppid(), syscall.SIGKILL)
}
