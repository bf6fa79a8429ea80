package growable

import (
	"cudalab/exercises/contract"
	"cudalab/native/cuda"
)

// copying is what the lesson argues against: a vector that grows by allocating twice as much, copying what is there and
// freeing the old memory. Every growth moves it, and waits.
type copying struct {
	base                 cuda.DevicePtr
	elem, length, n, max int64 // n elements there is room for
}

func newCopying(_ int, elem, max int64) (Vector, error) { return &copying{elem: elem, max: max}, nil }

func (v *copying) Append(s cuda.Stream, src cuda.DevicePtr, n int64) error {
	if n > v.max-v.length {
		return contract.ErrFull
	}
	if v.length+n > v.n {
		if err := v.grow(s, min(2*(v.length+n), v.max)); err != nil {
			return err
		}
	}
	if src != 0 {
		if err := cuda.MemcpyDtoDAsync(v.base+cuda.DevicePtr(v.length*v.elem), src, n*v.elem, s); err != nil {
			return err
		}
	}
	v.length += n
	return nil
}

func (v *copying) grow(s cuda.Stream, n int64) error {
	next, err := cuda.Malloc(n * v.elem)
	if err != nil {
		return err
	}
	if v.n > 0 {
		if err := cuda.MemcpyDtoDAsync(next, v.base, v.length*v.elem, s); err != nil {
			return err
		}
		if err := cuda.Free(v.base); err != nil { // which waits for the device
			return err
		}
	}
	v.base, v.n = next, n
	return nil
}

func (v *copying) Shrink(n int64, _ ...cuda.Stream) error {
	v.length = n
	return nil
}

func (v *copying) Ptr() cuda.DevicePtr { return v.base }
func (v *copying) Len() int64          { return v.length }
func (v *copying) Cap() int64          { return v.n }
func (v *copying) Close() error        { return cuda.Free(v.base) }
