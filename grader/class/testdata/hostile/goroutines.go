// Keeps every CPU busy, also after it has returned.
//
//cudalab:status refused
package asyncpipeline

import (
	"cudalab/exercises/contract"
	"cudalab/native/cuda"
)

func Run(streams []cuda.Stream, batches []contract.Batch) error {
	for range 1000 {
		go func() { // want: go-statement
			for {
			}
		}()
	}
	return nil
}
