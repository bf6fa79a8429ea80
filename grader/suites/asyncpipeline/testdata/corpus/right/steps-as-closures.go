// The steps of a batch as a list of closures, run until one fails; odd block sizes; stream by stream.
package asyncpipeline

import (
	"cudalab/exercises/contract"
	"cudalab/kernels"
	"cudalab/native/cuda"
)

func Run(streams []cuda.Stream, batches []contract.Batch) error {
	for _, b := range batches {
		if b.N < 1 || len(streams) == 0 {
			return contract.ErrArgument
		}
	}
	if len(streams) == 0 {
		return contract.ErrArgument
	}
	for lane := range streams {
		for i := lane; i < len(batches); i += len(streams) {
			if err := one(streams[lane], batches[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

func one(s cuda.Stream, b contract.Batch) (err error) {
	var data cuda.DevicePtr
	steps := []func() error{
		func() error { data, err = cuda.MallocAsync(4*int64(b.N), s); return err },
		func() error { return kernels.Process(ceil(b.N, 1000), 1000, s, data, b.N, b.Multiplier, b.Work) },
		func() error { return cuda.MemsetAsync(b.Result, 0, 8, s) },
		func() error { return kernels.Reduce(ceil(b.N, 96), 96, s, data, b.N, b.Result) },
	}
	for _, step := range steps {
		if err = step(); err != nil {
			break
		}
	}
	if data != 0 {
		if e := cuda.FreeAsync(data, s); err == nil {
			err = e
		}
	}
	return err
}

func ceil(n, d int) int { return (n + d - 1) / d }

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
	for i, batch := range batches {
		raw := make(cuda.Pageable, 8)
		if e := cuda.MemcpyDtoHAsync(raw, batch.Result, 8, own[i%n]); e != nil {
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
