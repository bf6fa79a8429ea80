// Takes all memory.
//
//cudalab:status crashed
package asyncpipeline

import (
	"cudalab/exercises/contract"
	"cudalab/native/cuda"
)

var kept [][]byte

func Run(streams []cuda.Stream, batches []contract.Batch) error {
	for { // want: host-memory
		block := make([]byte, 1<<20)
		for i := range block {
			block[i] = 1
		}
		kept = append(kept, block)
	}
}
