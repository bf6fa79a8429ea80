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
		if e := waitFor(stream); e != nil {
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

// waitFor waits for what is in a stream by now, with an event.
func waitFor(stream cuda.Stream) (err error) {
	mark, err := cuda.EventCreateWithFlags(cuda.EventDisableTiming)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cuda.EventDestroy(mark)) }()
	if err := cuda.EventRecord(mark, stream); err != nil {
		return err
	}
	return cuda.EventSynchronize(mark)
}

// asNumber is what 8 bytes are, lowest byte first.
func asNumber(raw []byte) (value uint64) {
	for i := 7; i >= 0; i-- {
		value = value<<8 | uint64(raw[i])
	}
	return value
}
