package poolconfig

import (
	"errors"

	"cudalab/exercises/contract"
	"cudalab/kernels"
	"cudalab/native/cuda"
)

// baseline is what the lesson argues against: a pool left at its default threshold, which gives everything back at
// every synchronisation and has to fetch it again in the next round.
func baseline(c contract.PoolConfig) (report contract.PoolReport, err error) {
	pool, err := cuda.MemPoolCreate(cuda.MemPoolProps{Device: c.Device})
	if err != nil {
		return report, err
	}
	for range c.Rounds {
		blocks := make([]cuda.DevicePtr, len(c.Sizes))
		for j, size := range c.Sizes {
			stream := c.Streams[j%len(c.Streams)]
			if blocks[j], err = cuda.MallocFromPoolAsync(size, pool, stream); err == nil {
				err = kernels.Touch(64, 256, stream, blocks[j], size, uint32(j))
			}
			if err != nil {
				return report, err
			}
		}
		for j, block := range blocks {
			err = errors.Join(err, cuda.FreeAsync(block, c.Streams[j%len(c.Streams)]))
		}
		for _, stream := range c.Streams {
			err = errors.Join(err, cuda.StreamSynchronize(stream))
		}
		if err != nil {
			return report, err
		}
	}
	return report, cuda.MemPoolDestroy(pool)
}
