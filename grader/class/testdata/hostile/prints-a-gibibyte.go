// Prints 1 GiB, and is right nevertheless.
//
//cudalab:status passed
package asyncpipeline

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"cudalab/exercises/contract"
	"cudalab/kernels"
	"cudalab/native/cuda"
)

var printed bool

func Run(streams []cuda.Stream, batches []contract.Batch) error {
	if !printed {
		printed = true
		line := strings.Repeat("much ado about nothing ", 1<<20/23)
		for range 1 << 10 {
			fmt.Println(line)
		}
	}
	if len(streams) == 0 {
		return contract.ErrArgument
	}
	for _, b := range batches {
		if b.N < 1 {
			return contract.ErrArgument
		}
	}
	for i, b := range batches {
		if err := one(streams[i%len(streams)], b); err != nil {
			return err
		}
	}
	return nil
}

func one(s cuda.Stream, b contract.Batch) error {
	if err := cuda.MemsetAsync(b.Result, 0, 8, s); err != nil {
		return err
	}
	data, err := cuda.MallocAsync(4*int64(b.N), s)
	if err != nil {
		return err
	}
	grid := (b.N + 255) / 256
	err = kernels.Process(grid, 256, s, data, b.N, b.Multiplier, b.Work)
	if err == nil {
		err = kernels.Reduce(grid, 256, s, data, b.N, b.Result)
	}
	if freed := cuda.FreeAsync(data, s); err == nil {
		err = freed
	}
	return err
}

func Sums(n int, batches []contract.Batch) (sums []uint64, err error) {
	if n < 1 || slices.ContainsFunc(batches, func(b contract.Batch) bool { return b.N < 1 }) {
		return nil, contract.ErrArgument
	}
	var streams []cuda.Stream
	defer func() {
		for _, s := range streams {
			err = errors.Join(err, cuda.StreamDestroy(s))
		}
		if err != nil {
			sums = nil
		}
	}()
	for range n {
		s, err := cuda.StreamCreateWithFlags(cuda.StreamNonBlocking)
		if err != nil {
			return nil, err
		}
		streams = append(streams, s)
	}
	if err := Run(streams, batches); err != nil {
		return nil, err
	}
	if err := cuda.DeviceSynchronize(); err != nil {
		return nil, err
	}
	for _, b := range batches {
		sum := make(cuda.Pageable, 8)
		if err := cuda.MemcpyDtoH(sum, b.Result, 8); err != nil {
			return nil, err
		}
		sums = append(sums, number(sum))
	}
	return sums, nil
}

func number(bytes []byte) (n uint64) {
	for i, b := range bytes[:8] {
		n |= uint64(b) << (8 * i)
	}
	return n
}
