// Takes as much of the device as it has, and writes to all of it.
//
//cudalab:status failed
package asyncpipeline

import (
	"cudalab/exercises/contract"
	"cudalab/native/cuda"
)

func Run(streams []cuda.Stream, batches []contract.Batch) error {
	_, total, err := cuda.MemGetInfo()
	if err != nil {
		return err
	}
	for size := total; size > 0; size /= 2 {
		if p, err := cuda.Malloc(size); err == nil { // want: memory-limit
			if err := cuda.Memset(p, 1, size); err != nil {
				return err
			}
		}
	}
	return nil
}
