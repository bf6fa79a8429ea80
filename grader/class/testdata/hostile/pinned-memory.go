// Pins all memory of the host.
//
//cudalab:status crashed
package asyncpipeline

import (
	"cudalab/exercises/contract"
	"cudalab/native/cuda"
)

var kept []cuda.HostBuffer

func Run(streams []cuda.Stream, batches []contract.Batch) error {
	piece := make([]byte, 1<<20)
	for {
		b, err := cuda.MallocHost(256 << 20) // want: memory-limit
		if err != nil {
			return err
		}
		kept = append(kept, b)
		for at := int64(0); at < b.Len(); at += 1 << 20 {
			if err := b.Write(at, piece); err != nil {
				return err
			}
		}
	}
}
