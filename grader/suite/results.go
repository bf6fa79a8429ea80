package suite

import (
	"encoding/binary"
	"math"
	"slices"

	"cudalab/native/cuda"
	"cudalab/native/trace"
)

// resultSize is the size of one result, in bytes.
const resultSize = 8

// Poison is what results hold before a call, byte by byte, so that one that was never set to zero shows.
const Poison = 0xA5

// Garbage is a result that nobody has touched.
const Garbage = Poison * (math.MaxUint64 / 0xFF)

// Results is room on the device for the results of one call, which are sums of 8 bytes each.
type Results struct {
	b     *Bench
	first cuda.DevicePtr
	n     int
}

// NewResults allocates room for n results. They are not poisoned yet.
func (b *Bench) NewResults(n int) *Results {
	first, err := cuda.Malloc(int64(resultSize * max(n, 1)))
	b.Must(err)
	return &Results{b: b, first: first, n: n}
}

// At is the address of result i.
func (r *Results) At(i int) cuda.DevicePtr { return r.first + cuda.DevicePtr(resultSize*i) }

// Poison fills the results with garbage, and waits for the device.
func (r *Results) Poison() {
	r.b.Must(cuda.Memset(r.first, Poison, int64(resultSize*max(r.n, 1))))
	r.b.Must(cuda.DeviceSynchronize())
}

// Clear sets the results to zero, and waits for the device.
func (r *Results) Clear() {
	r.b.Must(cuda.Memset(r.first, 0, int64(resultSize*max(r.n, 1))))
	r.b.Must(cuda.DeviceSynchronize())
}

// read reads the results back.
func (r *Results) read() []uint64 {
	if r.n == 0 {
		return nil
	}
	raw := make(cuda.Pageable, resultSize*r.n)
	r.b.Must(cuda.MemcpyDtoH(raw, r.first, int64(len(raw))))
	values := make([]uint64, r.n)
	for i := range values {
		values[i] = binary.LittleEndian.Uint64(raw[resultSize*i:])
	}
	return values
}

// Note notes each result under name.
func (r *Results) Note(name string) {
	for _, v := range r.read() {
		r.b.Value(name, v)
	}
}

// NoteAny notes the results that are not 0 under name.
func (r *Results) NoteAny(name string) {
	for _, v := range r.read() {
		if v > 0 {
			r.b.Value(name, v)
		}
	}
}

// Free gives the room back.
func (r *Results) Free() { r.b.Must(cuda.Free(r.first)) }

// Touches reports whether a call of CUDA reads or writes result i.
func (c *Call) Touches(r *trace.Record, i int) bool {
	from, to := int64(resultSize*i), int64(resultSize*(i+1))
	return slices.ContainsFunc(r.Accesses, func(a trace.Access) bool {
		return a.Alloc == c.Results && a.Offset < to && a.Offset+a.Size > from
	})
}
