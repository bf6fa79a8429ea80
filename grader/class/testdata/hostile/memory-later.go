// Takes all memory, but only where there are many batches: in a later case than the first.
//
//cudalab:status crashed
package asyncpipeline

import (
	"cudalab/exercises/contract"
	"cudalab/native/cuda"
)

var kept [][]byte

func Run(streams []cuda.Stream, batches []contract.Batch) error {
	for len(batches) > 4 { // want: host-memory
		block := make([]byte, 1<<20)
		for i := range block {
			block[i] = 1
		}
		kept = append(kept, block)
	}
	return nil
}
