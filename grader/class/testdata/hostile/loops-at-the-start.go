// Never gets as far as being called.
//
//cudalab:status timeout
package asyncpipeline

import (
	"cudalab/exercises/contract"
	"cudalab/native/cuda"
)

var answer = forever(1) // want: timeout

func forever(n int) int {
	for n != 0 {
		n = 2*n + 1
	}
	return n
}

func Run(streams []cuda.Stream, batches []contract.Batch) error {
	return nil
}
