// Package growable is the exercise growable: a vector on the device that grows by putting memory behind its end and shrinks by taking
// memory away from there. Its elements never move, and kernels may work on them while it grows.
package growable

import (
	"errors"

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
	// TODO(1a): Answer contract.ErrArgument to what the comment above rules out. elem times max may overflow.
	if err := contract.TODO("1a"); err != nil {
		return nil, err
	}
	v := &Vector{device: device, elem: elem, max: max}
	// TODO(1b): Ask the device for its minimum granularity, and reserve the addresses: elem*max bytes, rounded up to it.
	if err := contract.TODO("1b"); err != nil {
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
	// TODO(1c): Refuse what the comment above says, and everything after Close (contract.ErrClosed). Grow if what is usable does not
	// suffice, copy, and count the elements when all has succeeded. If the copy fails, go back to what was usable before.
	return contract.TODO("1c")
}

// grow has at least need bytes mapped. It asks for 1.25 to 2 times that, so that the next growths are few, and is content with what is
// needed if the device has not so much; after another error of CUDA's it may try that, too. Never is more mapped than twice what the
// elements take, or one granule where that is more, rounded up to the granularity, and nothing beyond the range.
func (v *Vector) grow(need int64) error {
	// TODO(1d): Decide up to where memory is to be mapped, and extend. Try again with less if the device refuses.
	return contract.TODO("1d")
}

// extend has the first end bytes of the range mapped and accessible, end being a multiple of the granularity. It is all done or
// nothing. CUDA unmaps a mapping as a whole, so that Shrink can give back whole pieces only: the first is one granule,
// and each of the others at most as large as all before it together.
func (v *Vector) extend(end int64) error {
	// TODO(1e): Attach one piece after the other, then allow the device to read and write all that is mapped and not
	// usable yet, in one call; then it is usable. If one of these fails, go back to what was usable before.
	return contract.TODO("1e")
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
	// TODO(1f): Find out which pieces these are, unmap them, and forget them, in mapped and in usable. Append and extend go back this
	// way where a call of theirs has failed, and Shrink and Close give memory back with it.
	return contract.TODO("1f")
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
	// TODO(1g): Refuse what the comment above says, and everything after Close (contract.ErrClosed). Wait for these streams, then cut.
	return contract.TODO("1g")
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
	// TODO(1h): Give back the memory and the addresses, also if an earlier Close stopped halfway.
	return contract.TODO("1h")
}

// roundUp is the smallest multiple of unit that is not below n.
func roundUp(n, unit int64) int64 { return (n + unit - 1) / unit * unit }
