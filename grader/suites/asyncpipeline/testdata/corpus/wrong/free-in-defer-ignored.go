// Frees in a defer, which drops the error of the free.
//
//cudalab:fails cleanup
package asyncpipeline

import (
	"cudalab/exercises/contract"
	"cudalab/kernels"
	"cudalab/native/cuda"
)

func Run(streams []cuda.Stream, batches []contract.Batch) error {
	if len(streams) == 0 {
		return contract.ErrArgument
	}
	for _, b := range batches {
		if b.N < 1 {
			return contract.ErrArgument
		}
	}
	for i, b := range batches {
		if err := enqueue(b, streams[i%len(streams)]); err != nil {
			return err
		}
	}
	return nil
}

func enqueue(b contract.Batch, s cuda.Stream) error {
	data, err := cuda.MallocAsync(int64(4*b.N), s)
	if err != nil {
		return err
	}
	defer cuda.FreeAsync(data, s)
	return compute(b, data, s) // want: error-ignored
}

// compute is what a batch does with its buffer.
func compute(b contract.Batch, data cuda.DevicePtr, s cuda.Stream) error {
	if err := cuda.MemsetAsync(b.Result, 0, 8, s); err != nil {
		return err
	}
	grid := (b.N + 255) / 256
	if err := kernels.Process(grid, 256, s, data, b.N, b.Multiplier, b.Work); err != nil {
		return err
	}
	return kernels.Reduce(grid, 256, s, data, b.N, b.Result)
}

func Sums(n int, batches []contract.Batch) (sums []uint64, fault error) {
	if n < 1 {
		return nil, contract.ErrArgument
	}
	for _, batch := range batches {
		if batch.N <= 0 {
			return nil, contract.ErrArgument
		}
	}
	var own []cuda.Stream
	defer func() {
		for _, stream := range own {
			if e := cuda.StreamDestroy(stream); fault == nil && e != nil {
				sums, fault = nil, e
			}
		}
	}()
	for range n {
		stream, e := cuda.StreamCreateWithFlags(cuda.StreamNonBlocking)
		if e != nil {
			return nil, e
		}
		own = append(own, stream)
	}
	if e := Run(own, batches); e != nil {
		return nil, e
	}
	for _, stream := range own {
		if e := cuda.StreamSynchronize(stream); e != nil {
			return nil, e
		}
	}
	for _, batch := range batches {
		raw := make([]byte, 8)
		if e := cuda.MemcpyDtoH(cuda.Pageable(raw), batch.Result, 8); e != nil {
			return nil, e
		}
		sums = append(sums, asNumber(raw))
	}
	return sums, nil
}

// asNumber is what 8 bytes are, lowest byte first.
func asNumber(raw []byte) (value uint64) {
	for i := 7; i >= 0; i-- {
		value = value<<8 | uint64(raw[i])
	}
	return value
}
