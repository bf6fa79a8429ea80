// Takes memory of the device until there is none, and once more.
//
//cudalab:status crashed
package asyncpipeline

import (
	"cudalab/exercises/contract"
	"cudalab/native/cuda"
)

func Run(streams []cuda.Stream, batches []contract.Batch) error {
	for {
		_, _ = cuda.Malloc(64 << 20) // want: endless-calls
	}
}
