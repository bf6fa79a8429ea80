package devicebump

import (
	"errors"
	"slices"

	"cudalab/kernels"
	"cudalab/native/cuda"
)

// chained is what the lesson argues against: a shared pool whose launches all come one after the other, with a host
// that waits for the device whenever the pool is reset.
type chained struct {
	streams []cuda.Stream
	pool    kernels.BumpPool
	end     cuda.Event // of what is in the stream of the last launch
	last    int        // that stream
}

func newChained(streams []cuda.Stream, bytes int64, _ bool) (Pools, error) {
	c := &chained{streams: slices.Clone(streams), pool: kernels.BumpPool{Bytes: bytes}}
	var err error
	if c.pool.Memory, err = cuda.Malloc(bytes); err != nil {
		return nil, err
	}
	if c.pool.Word, err = cuda.Malloc(8); err != nil {
		return nil, err
	}
	if c.end, err = cuda.EventCreateWithFlags(cuda.EventDisableTiming); err != nil {
		return nil, err
	}
	return c, c.Reset(0)
}

func (c *chained) Launch(i int, sizes cuda.DevicePtr, n int, tag uint32, offsets cuda.DevicePtr) error {
	const block = 64
	if err := cuda.EventRecord(c.end, c.streams[c.last]); err != nil {
		return err
	}
	if err := cuda.StreamWaitEvent(c.streams[i], c.end); err != nil {
		return err
	}
	c.last = i
	return kernels.BumpBlock((n+block-1)/block, block, c.streams[i], c.pool, sizes, n, tag, offsets)
}

func (c *chained) Reset(int) error {
	if err := cuda.DeviceSynchronize(); err != nil {
		return err
	}
	if err := cuda.Memset(c.pool.Word, 0, 8); err != nil {
		return err
	}
	return cuda.DeviceSynchronize()
}

func (c *chained) Memory(int) cuda.DevicePtr { return c.pool.Memory }

func (c *chained) Close() error {
	return errors.Join(cuda.EventDestroy(c.end), cuda.Free(c.pool.Memory), cuda.Free(c.pool.Word))
}
