// Returns an error that panics when it is looked at, as a nil pointer in an error does.
//
//cudalab:status failed
package asyncpipeline

import (
	"cudalab/exercises/contract"
	"cudalab/native/cuda"
)

type failure struct{ text string }

func (f *failure) Error() string { return f.text }

func Run(streams []cuda.Stream, batches []contract.Batch) error {
	var f *failure
	return f // want: typed-nil-error
}
