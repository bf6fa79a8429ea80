// Has memory of twice the size when it is full, copies what is there, and frees the old.
//
//cudalab:fails contents
//cudalab:may errors committed shrink rollback host cleanup
package growable

import (
	"cudalab/exercises/contract"
	"cudalab/native/cuda"
)

type Vector struct {
	base                cuda.DevicePtr
	elem, max, n, count int64
	closed              bool
}

func New(device int, elem, max int64) (*Vector, error) {
	if elem < 1 || max < 1 || max > (1<<62)/elem {
		return nil, contract.ErrArgument
	}
	if _, err := cuda.GetDeviceProperties(device); err != nil {
		return nil, err
	}
	if elem*max == 1<<62 {
		return nil, cuda.ErrorMemoryAllocation
	}
	base, err := cuda.Malloc(elem)
	if err != nil {
		return nil, err
	}
	return &Vector{base: base, elem: elem, max: max, n: 1}, nil
}

func (v *Vector) Append(s cuda.Stream, src cuda.DevicePtr, n int64) error {
	switch {
	case v.closed:
		return contract.ErrClosed
	case n < 1:
		return contract.ErrSize
	case n > v.max-v.count:
		return contract.ErrFull
	}
	if v.count+n > v.n {
		size := min(2*(v.count+n), v.max)
		next, err := cuda.Malloc(size * v.elem) // want: copied
		if err != nil {
			return err
		}
		if v.count > 0 {
			if err := cuda.MemcpyDtoDAsync(next, v.base, v.count*v.elem, s); err != nil {
				return err
			}
		}
		if err := cuda.Free(v.base); err != nil {
			return err
		}
		v.base, v.n = next, size
	}
	if src != 0 {
		if err := cuda.MemcpyDtoDAsync(v.base+cuda.DevicePtr(v.count*v.elem), src, n*v.elem, s); err != nil {
			return err
		}
	}
	v.count += n
	return nil
}

func (v *Vector) Shrink(n int64, users ...cuda.Stream) error {
	if v.closed {
		return contract.ErrClosed
	}
	if n < 0 || n > v.count {
		return contract.ErrArgument
	}
	for _, s := range users {
		if err := cuda.StreamSynchronize(s); err != nil {
			return err
		}
	}
	v.count = n
	return nil
}

func (v *Vector) Ptr() cuda.DevicePtr { return v.base }
func (v *Vector) Len() int64          { return v.count }
func (v *Vector) Cap() int64          { return v.n }

func (v *Vector) Close() error {
	if v.closed {
		return contract.ErrClosed
	}
	if err := cuda.Free(v.base); err != nil {
		return err
	}
	v.closed = true
	return nil
}
