package overlap

import (
	"errors"

	"cudalab/kernels"
	"cudalab/native/cuda"
)

// alone is what the lesson argues against: the same chunks, all in one stream. Efficiency is never asked of it.
var alone = Code{Run: func(streams []cuda.Stream, in, out cuda.HostBuffer, n, chunk, work int) (err error) {
	const block = 256
	size, s := min(chunk, n), streams[0]
	buffer, err := cuda.MallocAsync(4*int64(size), s)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cuda.FreeAsync(buffer, s)) }()
	for first := 0; first < n; first += size {
		count := min(size, n-first)
		at, bytes := 4*int64(first), 4*int64(count)
		if err := cuda.MemcpyHtoDAsync(buffer, in.At(at), bytes, s); err != nil {
			return err
		}
		if err := kernels.Mix((count+block-1)/block, block, s, buffer, buffer, count, work); err != nil {
			return err
		}
		if err := cuda.MemcpyDtoHAsync(out.At(at), buffer, bytes, s); err != nil {
			return err
		}
	}
	return nil
}}
