// Calls itself without end.
//
//cudalab:status crashed
package asyncpipeline

import (
	"cudalab/exercises/contract"
	"cudalab/native/cuda"
)

func Run(streams []cuda.Stream, batches []contract.Batch) error {
	err := Run(streams, batches) // want: endless-recursion
	return err
}
