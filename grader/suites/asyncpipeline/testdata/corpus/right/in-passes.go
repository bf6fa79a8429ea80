// All batches are allocated first, then computed, then freed: each stream still sees its own batches' steps in order.
package asyncpipeline

import (
	"errors"
	"fmt"

	"cudalab/exercises/contract"
	"cudalab/kernels"
	"cudalab/native/cuda"
)

type job struct {
	contract.Batch
	stream cuda.Stream
	data   cuda.DevicePtr
}

func Run(streams []cuda.Stream, batches []contract.Batch) (err error) {
	if len(streams) == 0 {
		return fmt.Errorf("no streams: %w", contract.ErrArgument)
	}
	jobs := make([]job, 0, len(batches))
	for i, b := range batches {
		if b.N <= 0 {
			return fmt.Errorf("empty batch: %w", contract.ErrArgument)
		}
		jobs = append(jobs, job{Batch: b, stream: streams[i%len(streams)]})
	}
	defer func() {
		for _, j := range jobs {
			err = errors.Join(err, cuda.FreeAsync(j.data, j.stream))
		}
	}()
	for i := range jobs {
		j := &jobs[i]
		if j.data, err = cuda.MallocAsync(int64(j.N)*4, j.stream); err != nil {
			return err
		}
	}
	for _, j := range jobs {
		if err := j.compute(); err != nil {
			return err
		}
	}
	return nil
}

func (j job) compute() error {
	const block = 128
	if err := kernels.Process((j.N+block-1)/block, block, j.stream, j.data, j.N, j.Multiplier, j.Work); err != nil {
		return err
	}
	if err := cuda.MemsetAsync(j.Result, 0, 8, j.stream); err != nil {
		return err
	}
	return kernels.Reduce((j.N+block-1)/block, block, j.stream, j.data, j.N, j.Result)
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
	if e := cuda.DeviceSynchronize(); e != nil {
		return nil, e
	}
	for len(own) > 0 {
		stream := own[0]
		own = own[1:]
		if e := cuda.StreamDestroy(stream); e != nil {
			return nil, e
		}
	}
	for i := range batches {
		raw := make(cuda.Pageable, 8)
		if e := cuda.MemcpyDtoH(raw, batches[i].Result, 8); e != nil {
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
