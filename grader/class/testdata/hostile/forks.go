// Starts itself again and again.
//
//cudalab:status refused
package asyncpipeline

import (
	"os"      // want: import
	"os/exec" // want: import

	"cudalab/exercises/contract"
	"cudalab/native/cuda"
)

func Run(streams []cuda.Stream, batches []contract.Batch) error {
	for {
		if err := exec.Command(os.Args[0], os.Args[1:]...).Start(); err != nil {
			return err
		}
	}
}
