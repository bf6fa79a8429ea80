// Returns an error that panics when it is looked at.
//
//cudalab:status crashed
package asyncpipeline

import (
	"cudalab/exercises/contract"
	"cudalab/native/cuda"
)

type failure struct{ text string }

func (f *failure) Error() string { return f.text } // want: panic

func Run(streams []cuda.Stream, batches []contract.Batch) error {
	var f *failure
	return f
}
