// Launches kernels that take for ever. They do on a GPU; the simulator knows at once how they end.
//
//cudalab:status failed
package asyncpipeline

import (
	"math"

	"cudalab/exercises/contract"
	"cudalab/kernels"
	"cudalab/native/cuda"
)

func Run(streams []cuda.Stream, batches []contract.Batch) error {
	const elements = 1 << 10
	data, err := cuda.Malloc(4 * elements)
	if err != nil {
		return err
	}
	for _, s := range streams {
		if err := kernels.Process(elements/256, 256, s, data, elements, 1, math.MaxInt32); err != nil {
			return err
		}
	}
	return nil
}
