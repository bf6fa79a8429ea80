// Never returns.
//
//cudalab:status timeout
package asyncpipeline

import (
	"cudalab/exercises/contract"
	"cudalab/native/cuda"
)

func Run(streams []cuda.Stream, batches []contract.Batch) error {
	n := 1
	for n != 0 { // want: timeout
		n = 2*n + 1
	}
	return nil
}
