// Fills the disk.
//
//cudalab:status refused
package asyncpipeline

import (
	"os" // want: import

	"cudalab/exercises/contract"
	"cudalab/native/cuda"
)

func Run(streams []cuda.Stream, batches []contract.Batch) error {
	f, err := os.CreateTemp("", "")
	for err == nil {
		_, err = f.Write(make([]byte, 1<<20))
	}
	return err
}
