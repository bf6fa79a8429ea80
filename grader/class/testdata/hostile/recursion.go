// Calls itself without end.
//
//cudalab:status crashed
package asyncpipeline

import (
	"cudalab/exercises/contract"
	"cudalab/native/cuda"
)

func Run(streams []cuda.Stream, batches []contract.Batch) error { // want: endless-recursion
	err := Run(streams, batches)
	return err
}
