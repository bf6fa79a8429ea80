// Keeps a slice of streams, unmaps piece by piece, and counts in bytes.
package growable

import (
	"errors"

	"cudalab/exercises/contract"
	"cudalab/native/cuda"
)

type Vector struct {
	prop      cuda.MemAllocationProp
	elem, top int64 // bytes
	used      int64 // bytes
	base      cuda.DevicePtr
	g         int64
	reserved  int64
	mapped    int64
	pieces    []int64
	appenders []cuda.Stream
	end       bool
}

func New(device int, elem, max int64) (*Vector, error) {
	if elem < 1 || max < 1 || elem > (1<<62)/max {
		return nil, contract.ErrArgument
	}
	v := &Vector{elem: elem, top: elem * max}
	v.prop.Type = cuda.MemAllocationTypePinned
	v.prop.Location = cuda.MemLocation{Type: cuda.MemLocationTypeDevice, ID: device}
	g, err := cuda.MemGetAllocationGranularity(v.prop, cuda.MemAllocGranularityMinimum)
	if err != nil {
		return nil, err
	}
	v.g = g
	v.reserved = up(v.top, g)
	v.base, err = cuda.MemAddressReserve(v.reserved, 0, 0, 0)
	if err != nil {
		return nil, err
	}
	return v, nil
}

func (v *Vector) Append(s cuda.Stream, src cuda.DevicePtr, n int64) error {
	if v.end {
		return contract.ErrClosed
	}
	if n < 1 {
		return contract.ErrSize
	}
	if n > (v.top-v.used)/v.elem {
		return contract.ErrFull
	}
	bytes := n * v.elem
	old := v.mapped
	if v.used+bytes > v.mapped {
		if err := v.grow(v.used + bytes); err != nil {
			return err
		}
	}
	if src != 0 {
		if err := cuda.MemcpyDtoDAsync(v.base+cuda.DevicePtr(v.used), src, bytes, s); err != nil {
			return errors.Join(err, v.dropTo(old))
		}
	}
	v.remember(s)
	v.used += bytes
	return nil
}

func (v *Vector) remember(s cuda.Stream) {
	for _, known := range v.appenders {
		if known == s {
			return
		}
	}
	v.appenders = append(v.appenders, s)
}

func (v *Vector) grow(need int64) error {
	least := up(need, v.g)
	wish := v.reserved
	if need < v.reserved/2 {
		wish = up(2*need, v.g)
	}
	err := v.mapTo(wish)
	if err != nil && wish > least {
		err = v.mapTo(least)
	}
	return err
}

func (v *Vector) mapTo(end int64) error {
	old := v.mapped
	for v.mapped < end {
		size := min(max(v.mapped, v.g), end-v.mapped)
		if err := v.mapPiece(size); err != nil {
			return errors.Join(err, v.dropTo(old))
		}
	}
	if err := v.allow(old, end); err != nil {
		return errors.Join(err, v.dropTo(old))
	}
	return nil
}

func (v *Vector) allow(from, to int64) error {
	access := []cuda.MemAccessDesc{{Location: v.prop.Location, Flags: cuda.MemAccessFlagsProtReadWrite}}
	return cuda.MemSetAccess(v.base+cuda.DevicePtr(from), to-from, access)
}

func (v *Vector) mapPiece(size int64) error {
	at := v.base + cuda.DevicePtr(v.mapped)
	handle, err := cuda.MemCreate(size, v.prop, 0)
	if err != nil {
		return err
	}
	if err := cuda.MemMap(at, size, 0, handle, 0); err != nil {
		return errors.Join(err, cuda.MemRelease(handle))
	}
	if err := cuda.MemRelease(handle); err != nil {
		return errors.Join(err, cuda.MemUnmap(at, size), cuda.MemRelease(handle))
	}
	v.mapped += size
	v.pieces = append(v.pieces, size)
	return nil
}

// dropTo unmaps pieces from the end as long as keep bytes stay mapped.
func (v *Vector) dropTo(keep int64) error {
	for len(v.pieces) > 0 {
		size := v.pieces[len(v.pieces)-1]
		if v.mapped-size < keep {
			break
		}
		if err := cuda.MemUnmap(v.base+cuda.DevicePtr(v.mapped-size), size); err != nil {
			return err
		}
		v.mapped -= size
		v.pieces = v.pieces[:len(v.pieces)-1]
	}
	return nil
}

func (v *Vector) Shrink(n int64, users ...cuda.Stream) error {
	if v.end {
		return contract.ErrClosed
	}
	if n < 0 || n > v.Len() {
		return contract.ErrArgument
	}
	if err := v.wait(users); err != nil {
		return err
	}
	v.used = n * v.elem
	return v.dropTo(v.used)
}

func (v *Vector) wait(users []cuda.Stream) error {
	for _, s := range v.appenders {
		if err := cuda.StreamSynchronize(s); err != nil {
			return err
		}
	}
	for _, s := range users {
		if err := cuda.StreamSynchronize(s); err != nil {
			return err
		}
	}
	return nil
}

func (v *Vector) Ptr() cuda.DevicePtr { return v.base }
func (v *Vector) Len() int64          { return v.used / v.elem }
func (v *Vector) Cap() int64          { return min(v.mapped, v.top) / v.elem }

func (v *Vector) Close() error {
	if v.end {
		return contract.ErrClosed
	}
	v.used = 0
	if err := v.dropTo(0); err != nil {
		return err
	}
	if err := cuda.MemAddressFree(v.base, v.reserved); err != nil {
		return err
	}
	v.end = true
	return nil
}

func up(n, unit int64) int64 { return (n + unit - 1) / unit * unit }
