// Has the compiler read a neighbour's file.
//
//cudalab:status refused
package asyncpipeline

import (
	_ "embed" // want: import

	"cudalab/exercises/contract"
	"cudalab/native/cuda"
)

//go:embed ../../../ann/asyncpipeline/asyncpipeline.go
var theirs string

func Run(streams []cuda.Stream, batches []contract.Batch) error {
	panic(theirs)
}
