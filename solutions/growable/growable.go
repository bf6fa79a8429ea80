// Package growable is the exercise growable: a vector on the device that grows by putting memory behind its end and shrinks by taking
// memory away from there. Its elements never move, and kernels may work on them while it grows.
package growable

import (
	"errors"
	"fmt"
	"slices"

	"cudalab/exercises/contract"
	"cudalab/native/cuda"
)

// Vector is an array of elements that all have the same size. Its addresses are one reserved range, which begins at base and never
// moves; the first mapped bytes of it have memory behind them, in one or several pieces, one right behind the other.
// Any number of vectors may be in use at once, and a vector in any number of streams.
type Vector struct {
	device         int
	elem           int64          // bytes of an element
	max            int64          // elements
	length         int64          // elements
	granularity    int64          // what the device maps memory in multiples of, in bytes
	base           cuda.DevicePtr // where the range begins
	reserved       int64          // bytes of the range
	pieces         []int64        // bytes of each mapping, from base on; each is unmapped as a whole
	mapped, usable int64          // bytes of all of them, and of the first of these that were given access
	appended       []cuda.Stream  // the streams that have appended
	closed         bool
}

// New makes a vector for elements of elem bytes, which is to have at most max of them: it reserves addresses for so many, rounded up to
// the device's granularity, and no memory. elem and max have to be at least 1, and elem times max at most 1<<62; otherwise the answer
// is contract.ErrArgument, before any CUDA call. An error that CUDA answers, as where there is no such device or there
// are not so many addresses, is returned, and nothing is left behind. With any error the Vector is nil.
func New(device int, elem, max int64) (*Vector, error) {
	// Divided, since the product of two large numbers may overflow to a small one.
	if elem < 1 || max < 1 || max > (1<<62)/elem {
		return nil, fmt.Errorf("at most %d elements of %d bytes: %w", max, elem, contract.ErrArgument)
	}
	v := &Vector{device: device, elem: elem, max: max}
	var err error
	if v.granularity, err = cuda.MemGetAllocationGranularity(v.memory(), cuda.MemAllocGranularityMinimum); err != nil {
		return nil, err
	}
	v.reserved = roundUp(elem*max, v.granularity)
	if v.base, err = cuda.MemAddressReserve(v.reserved, 0, 0, 0); err != nil {
		return nil, err
	}
	return v, nil
}

// memory says what physical memory the vector wants: of its device, and pinned, which is the only kind there is.
func (v *Vector) memory() cuda.MemAllocationProp {
	return cuda.MemAllocationProp{
		Type:     cuda.MemAllocationTypePinned,
		Location: cuda.MemLocation{Type: cuda.MemLocationTypeDevice, ID: v.device},
	}
}

// Append puts n elements at the end: copied from src in the order of s, or, where src is 0, with whatever is there, for the caller to
// write. It waits for nothing, and asks no stream or event whether it is done. src may lie in the vector. An n below 1 is
// contract.ErrSize, more elements than max in all contract.ErrFull. If CUDA answers an error, that is returned. Whatever the error, the
// vector is then as it was: the same elements, the same Len and Cap. Where going back fails, too, Cap may be larger.
//
// CUDA is called to copy, once, and to map memory where what is mapped does not suffice. The caller keeps a stream that has appended
// until the vector is closed.
func (v *Vector) Append(s cuda.Stream, src cuda.DevicePtr, n int64) error {
	switch {
	case v.closed:
		return contract.ErrClosed
	case n < 1:
		return contract.ErrSize
	case n > v.max-v.length: // a sum with an n near the largest int64 would overflow
		return contract.ErrFull
	}
	before := v.usable
	if need := (v.length + n) * v.elem; need > before {
		if err := v.grow(need); err != nil {
			return err
		}
	}
	if src != 0 {
		end := v.base + cuda.DevicePtr(v.length*v.elem)
		if err := cuda.MemcpyDtoDAsync(end, src, n*v.elem, s); err != nil {
			return errors.Join(err, v.cut(before)) // nobody has used what was mapped just now
		}
	}
	if !slices.Contains(v.appended, s) {
		v.appended = append(v.appended, s)
	}
	v.length += n
	return nil
}

// grow has at least need bytes mapped. It asks for 1.25 to 2 times that, so that the next growths are few, and is content with what is
// needed if the device has not so much; after another error of CUDA's it may try that, too. Never is more mapped than twice what the
// elements take, or one granule where that is more, rounded up to the granularity, and nothing beyond the range.
func (v *Vector) grow(need int64) error {
	least := roundUp(need, v.granularity)
	generous := v.reserved
	if need <= v.reserved/2 {
		generous = roundUp(2*need, v.granularity)
	}
	err := v.extend(generous)
	if err != nil && least < generous {
		err = v.extend(least)
	}
	return err
}

// extend has the first end bytes of the range mapped and accessible, end being a multiple of the granularity. It is all done or
// nothing. CUDA unmaps a mapping as a whole, so that Shrink can give back whole pieces only: the first is one granule,
// and each of the others at most as large as all before it together.
func (v *Vector) extend(end int64) error {
	for v.mapped < end {
		size := min(max(v.mapped, v.granularity), end-v.mapped)
		if err := v.attach(size); err != nil {
			return errors.Join(err, v.cut(v.usable))
		}
	}
	// Every new mapping begins without any access, also next to one that has it. One call does for all of them.
	readWrite := cuda.MemAccessDesc{Location: v.memory().Location, Flags: cuda.MemAccessFlagsProtReadWrite}
	if err := cuda.MemSetAccess(v.base+cuda.DevicePtr(v.usable), v.mapped-v.usable, []cuda.MemAccessDesc{readWrite}); err != nil {
		return errors.Join(err, v.cut(v.usable))
	}
	v.usable = v.mapped
	return nil
}

// attach maps one more piece of size bytes behind the others, as lesson 6 did, or nothing. It may not be used yet.
func (v *Vector) attach(size int64) error {
	at := v.base + cuda.DevicePtr(v.mapped)
	handle, err := cuda.MemCreate(size, v.memory(), 0)
	if err != nil {
		return err
	}
	if err := cuda.MemMap(at, size, 0, handle, 0); err != nil {
		return errors.Join(err, cuda.MemRelease(handle))
	}
	// A mapping keeps the memory alive, so the handle has done its work: from here on, unmapping gives all back.
	if err := cuda.MemRelease(handle); err != nil {
		return errors.Join(err, cuda.MemUnmap(at, size), cuda.MemRelease(handle))
	}
	v.pieces = append(v.pieces, size)
	v.mapped += size
	return nil
}

// cut unmaps the pieces that lie wholly behind the first keep bytes. Nobody may be using them.
func (v *Vector) cut(keep int64) error {
	pieces, end := v.pieces, v.mapped
	for len(pieces) > 0 && end-pieces[len(pieces)-1] >= keep {
		end -= pieces[len(pieces)-1]
		pieces = pieces[:len(pieces)-1]
	}
	if end == v.mapped {
		return nil
	}
	// One call takes any number of whole mappings away.
	if err := cuda.MemUnmap(v.base+cuda.DevicePtr(end), v.mapped-end); err != nil {
		return err
	}
	v.pieces, v.mapped, v.usable = pieces, end, min(v.usable, end)
	return nil
}

// Shrink keeps the first n elements and gives back memory behind them, so that no more is mapped than twice what they take, or one
// granule where that is more, rounded up to the granularity. What is kept is not touched. An n outside 0..Len is
// contract.ErrArgument. The slice of users is left as it is, and the caller may write to it afterwards.
//
// No stream orders MemUnmap, and the next Append may write where the elements were. So Shrink waits first, until the
// device is through with all that is now in the streams that have appended since New and in users; for no other stream.
// If a wait fails, its error is returned and nothing has changed. If a call fails that gives something back, its error
// is returned, the elements from n on may be gone, and a further Shrink goes on where this one stopped. An n of Len
// takes no element away: where nothing is unmapped either, it need not wait.
func (v *Vector) Shrink(n int64, users ...cuda.Stream) error {
	if v.closed {
		return contract.ErrClosed
	}
	if n < 0 || n > v.length {
		return fmt.Errorf("%d of %d elements: %w", n, v.length, contract.ErrArgument)
	}
	for _, s := range v.appended {
		if err := cuda.StreamSynchronize(s); err != nil {
			return err
		}
	}
	for _, s := range users {
		if err := cuda.StreamSynchronize(s); err != nil {
			return err
		}
	}
	v.length = n
	return v.cut(n * v.elem)
}

// Ptr is where the first element is: the same address from New to Close.
func (v *Vector) Ptr() cuda.DevicePtr { return v.base }

// Len is how many elements there are.
func (v *Vector) Len() int64 { return v.length }

// Cap is how many elements the memory that may be used has room for, at most max.
func (v *Vector) Cap() int64 { return min(v.usable/v.elem, v.max) }

// Close gives memory and addresses back. The caller has finished all use of the elements. Where CUDA answers an error, that is
// returned, and calling Close again gives back what is left; otherwise the vector is closed, and every later call that can answer an
// error answers contract.ErrClosed.
func (v *Vector) Close() error {
	if v.closed {
		return contract.ErrClosed
	}
	v.length = 0
	if err := v.cut(0); err != nil {
		return err
	}
	if err := cuda.MemAddressFree(v.base, v.reserved); err != nil {
		return err
	}
	v.closed = true
	return nil
}

// roundUp is the smallest multiple of unit that is not below n.
func roundUp(n, unit int64) int64 { return (n + unit - 1) / unit * unit }
