// Queues kernels without end.
//
//cudalab:status crashed or timeout
package asyncpipeline

import (
	"cudalab/exercises/contract"
	"cudalab/kernels"
	"cudalab/native/cuda"
)

func Run(streams []cuda.Stream, batches []contract.Batch) error {
	for len(streams) > 0 {
		if err := kernels.Reduce(1, 32, streams[0], batches[0].Result, 1, batches[0].Result); err != nil { // want: endless-calls
			return err
		}
	}
	return nil
}
