package allocator

import (
	"encoding/binary"

	"cudalab/grader/suite"
	"cudalab/native/cuda"
)

// Counter counts on the device what kernels find wrong, for a Proof.
type Counter struct {
	Stream cuda.Stream
	b      *suite.Bench
	at     cuda.DevicePtr
}

// NewCounter is a counter whose work goes to a stream.
func NewCounter(b *suite.Bench, stream cuda.Stream) *Counter {
	c := &Counter{Stream: stream, b: b}
	var err error
	c.at, err = cuda.Malloc(8)
	b.Must(err)
	return c
}

// NewStreamCounter is a counter on a stream of its own, which waits for no other.
func NewStreamCounter(b *suite.Bench) *Counter {
	stream, err := cuda.StreamCreateWithFlags(cuda.StreamNonBlocking)
	b.Must(err)
	return NewCounter(b, stream)
}

// Count has find launch kernels that add what they find to the counter at an address, waits for them and answers how
// much that is.
func (c *Counter) Count(find func(at cuda.DevicePtr)) uint64 {
	c.b.Must(cuda.MemsetAsync(c.at, 0, 8, c.Stream))
	find(c.at)
	n := make(cuda.Pageable, 8)
	c.b.Must(cuda.MemcpyDtoHAsync(n, c.at, 8, c.Stream))
	c.b.Must(cuda.StreamSynchronize(c.Stream))
	return binary.LittleEndian.Uint64(n)
}

// Close gives back the counter, and its stream where that is its own.
func (c *Counter) Close() {
	c.b.Must(cuda.Free(c.at))
	if c.Stream != (cuda.Stream{}) {
		c.b.Must(cuda.StreamDestroy(c.Stream))
	}
}
