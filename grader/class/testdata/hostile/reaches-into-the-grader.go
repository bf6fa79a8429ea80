// Makes every error the one that was wanted.
//
//cudalab:status refused
package asyncpipeline

import (
	"cudalab/exercises/contract"
	"cudalab/grader/suite" // want: import
	"cudalab/native/cuda"
)

func Run(streams []cuda.Stream, batches []contract.Batch) error {
	contract.ErrArgument = nil // want: foreign-variable
	_ = suite.NoFault
	return nil
}
