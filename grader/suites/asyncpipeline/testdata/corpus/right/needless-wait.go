// Makes each stream wait for its own event, which changes nothing and costs only a remark; rounds sizes up.
package asyncpipeline

import (
	"errors"
	"fmt"

	"cudalab/exercises/contract"
	"cudalab/kernels"
	"cudalab/native/cuda"
)

func Run(streams []cuda.Stream, batches []contract.Batch) (err error) {
	if len(streams) < 1 {
		return fmt.Errorf("%w: no streams", contract.ErrArgument)
	}
	for i := range batches {
		if batches[i].N < 1 {
			return fmt.Errorf("%w: batch %d is empty", contract.ErrArgument, i)
		}
	}
	ready, err := cuda.EventCreateWithFlags(cuda.EventDisableTiming)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cuda.EventDestroy(ready)) }()
	for i := range batches {
		if err := enqueue(streams[i%len(streams)], &batches[i], ready); err != nil {
			return err
		}
	}
	return nil
}

func enqueue(s cuda.Stream, b *contract.Batch, ready cuda.Event) (err error) {
	blocks := 1 + (b.N-1)/512
	data, err := cuda.MallocAsync(int64(blocks)*512*4, s)
	if err != nil {
		return err
	}
	defer func() {
		if e := cuda.FreeAsync(data, s); err == nil {
			err = e
		}
	}()
	if err = kernels.Process(blocks, 512, s, data, b.N, b.Multiplier, b.Work); err != nil {
		return err
	}
	if err = cuda.EventRecord(ready, s); err != nil {
		return err
	}
	if err = cuda.StreamWaitEvent(s, ready); err != nil {
		return err
	}
	if err = cuda.MemsetAsync(b.Result, 0, 8, s); err != nil {
		return err
	}
	return kernels.Reduce(blocks, 512, s, data, b.N, b.Result)
}
