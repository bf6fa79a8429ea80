// Calls a function of Go's own that nobody may call.
//
//cudalab:status refused
package asyncpipeline

import (
	_ "unsafe" // want: import

	"cudalab/exercises/contract"
	"cudalab/native/cuda"
)

//go:linkname exit os.runtime_beforeExit
func exit(code int) // want: no-body

func Run(streams []cuda.Stream, batches []contract.Batch) error {
	exit(0)
	return nil
}
