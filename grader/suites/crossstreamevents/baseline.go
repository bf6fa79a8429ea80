package crossstreamevents

import (
	"cudalab/kernels"
	"cudalab/native/cuda"
)

const baselineBlock = 256

// baseline is what the lesson argues against: memory from Malloc, and a host that waits wherever one stream has to come
// after another.
var baseline = Code{Share: baselineShare, FanOut: baselineFanOut}

func baselineShare(a, b cuda.Stream, n int, out cuda.DevicePtr, independent func(cuda.Stream) error) error {
	data, err := produce(a, n)
	if err != nil {
		return err
	}
	if err := consume(b, data, n, out); err != nil {
		return err
	}
	if err := independent(a); err != nil {
		return err
	}
	return cuda.Free(data)
}

func baselineFanOut(source cuda.Stream, consumers []cuda.Stream, n int, outs []cuda.DevicePtr) error {
	data, err := produce(source, n)
	if err != nil {
		return err
	}
	for i, consumer := range consumers {
		if err := consume(consumer, data, n, outs[i]); err != nil {
			return err
		}
	}
	return cuda.Free(data)
}

func produce(s cuda.Stream, n int) (cuda.DevicePtr, error) {
	data, err := cuda.Malloc(int64(4 * n))
	if err != nil {
		return 0, err
	}
	if err := kernels.Fill((n+baselineBlock-1)/baselineBlock, baselineBlock, s, data, n); err != nil {
		return 0, err
	}
	return data, cuda.StreamSynchronize(s)
}

func consume(s cuda.Stream, data cuda.DevicePtr, n int, out cuda.DevicePtr) error {
	if err := cuda.MemsetAsync(out, 0, 8, s); err != nil {
		return err
	}
	if err := kernels.Checksum((n+baselineBlock-1)/baselineBlock, baselineBlock, s, data, n, out); err != nil {
		return err
	}
	return cuda.StreamSynchronize(s)
}
