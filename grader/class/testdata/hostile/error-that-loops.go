// Returns an error that never says what it is.
//
//cudalab:status timeout
package asyncpipeline

import (
	"cudalab/exercises/contract"
	"cudalab/native/cuda"
)

type failure struct{}

func (*failure) Error() string {
	n := 1
	for n != 0 { // want: timeout
		n = 2*n + 1
	}
	return ""
}

func Run(streams []cuda.Stream, batches []contract.Batch) error {
	return &failure{}
}
