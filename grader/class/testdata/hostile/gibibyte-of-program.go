// Has the compiler fill the disk.
//
//cudalab:status build-failed
package asyncpipeline

import (
	"cudalab/exercises/contract"
	"cudalab/native/cuda"
)

var table = [1 << 30]byte{1<<30 - 1: 1}

func Run(streams []cuda.Stream, batches []contract.Batch) error {
	table[len(batches)]++
	return nil
}
