// Package bugclinic is the exercise bug-clinic: eight functions out of other people's programs, none of them in order. Each is
// mended without making the host wait, with its memory in stream order, in the streams that its comment names. Where
// there are n, work or steps, n is at least 1, the others are at least 0, and all are at most math.MaxInt32.
package bugclinic

import (
	"errors"

	"cudalab/kernels"
	"cudalab/native/cuda"
)

const block = 256

// grid is how many blocks n words take.
func grid(n int) int { return (n + block - 1) / block }

// Upload copies all parts, however many, one behind the other, to dst, in s, by way of staging: pinned memory, as long
// as all parts together, 1 byte at least, which is the caller's again when s is done. A part may be empty. parts may be
// changed by the caller as soon as Upload returns, which leaves them as they are.
func Upload(s cuda.Stream, dst cuda.DevicePtr, staging cuda.HostBuffer, parts [][]byte) error {
	at := int64(0)
	for _, part := range parts {
		if err := staging.Write(at, part); err != nil {
			return err
		}
		if err := cuda.MemcpyHtoDAsync(dst+cuda.DevicePtr(at), staging.At(at), int64(len(part)), s); err != nil {
			return err
		}
		at += int64(len(part))
	}
	return nil
}

// Weights copies weights to dst and adds their digest, with no rounds of work, to the 8 bytes at out, in s. The length of
// weights is a multiple of 4 from 4 on. weights may be changed by the caller as soon as Weights returns.
func Weights(s cuda.Stream, dst cuda.DevicePtr, weights cuda.Pageable, out cuda.DevicePtr) error {
	size := int64(len(weights))
	if err := cuda.MemcpyHtoDAsync(dst, weights, size, s); err != nil {
		return err
	}
	n := int(size / 4)
	return kernels.Digest(grid(n), block, s, dst, n, 0, out)
}

// PingPong fills blocks[i%2], n words, with item i in a, and adds its digest to the 8 bytes at out+8*i in b, for every i below
// steps, both with so many rounds of work. The fill of item i runs beside the digest of item i-1.
func PingPong(a, b cuda.Stream, blocks [2]cuda.DevicePtr, n, work, steps int, out cuda.DevicePtr) (err error) {
	var full, empty [2]cuda.Event // by block: it was filled, it was digested
	for _, made := range []*cuda.Event{&full[0], &full[1], &empty[0], &empty[1]} {
		if *made, err = cuda.EventCreateWithFlags(cuda.EventDisableTiming); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, cuda.EventDestroy(*made)) }()
	}
	for i := range steps {
		at := i % 2
		if i >= 2 {
			if err := cuda.StreamWaitEvent(a, empty[at]); err != nil {
				return err
			}
		}
		if err := kernels.FillItem(grid(n), block, a, blocks[at], n, uint32(i), work); err != nil {
			return err
		}
		if err := follow(b, a, full[at]); err != nil {
			return err
		}
		if err := kernels.Digest(grid(n), block, b, blocks[at], n, work, out+cuda.DevicePtr(8*i)); err != nil {
			return err
		}
		if err := cuda.EventRecord(empty[at], b); err != nil {
			return err
		}
	}
	return nil
}

// follow makes what is enqueued in later from now on wait for what is in earlier by now. It is in order.
func follow(later, earlier cuda.Stream, event cuda.Event) error {
	if err := cuda.EventRecord(event, earlier); err != nil {
		return err
	}
	return cuda.StreamWaitEvent(later, event)
}

// edge does the same with an event of its own. It is in order.
func edge(later, earlier cuda.Stream) (err error) {
	event, err := cuda.EventCreateWithFlags(cuda.EventDisableTiming)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cuda.EventDestroy(event)) }()
	return follow(later, earlier, event)
}

// Merge digests data, n words, in b into the 8 bytes at out, and has a take over what b has given up. Then a fills other,
// n words, with item 1, and c, which is given data by a, fills it with item 2. All three have so many rounds of work. c may
// wait for b, or for what came into a before, and does not wait for a's work on other.
func Merge(a, b, c cuda.Stream, data, other cuda.DevicePtr, n, work int, out cuda.DevicePtr) (err error) {
	var given [2]cuda.Event
	for i := range given {
		if given[i], err = cuda.EventCreateWithFlags(cuda.EventDisableTiming); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, cuda.EventDestroy(given[i])) }()
	}
	if err := kernels.Digest(grid(n), block, b, data, n, work, out); err != nil {
		return err
	}
	if err := follow(a, b, given[0]); err != nil {
		return err
	}
	if err := cuda.EventRecord(given[1], a); err != nil {
		return err
	}
	if err := kernels.FillItem(grid(n), block, a, other, n, 1, work); err != nil {
		return err
	}
	if err := cuda.StreamWaitEvent(c, given[1]); err != nil {
		return err
	}
	return kernels.FillItem(grid(n), block, c, data, n, 2, work)
}

// Replace digests data, n words, in old into the 8 bytes at out, destroys old, on every way out, and fills data with item 1 in
// a stream made for that, which is the caller's from then on. Both have so many rounds of work. With an error
// there is no such stream.
func Replace(old cuda.Stream, data cuda.DevicePtr, n, work int, out cuda.DevicePtr) (fresh cuda.Stream, err error) {
	fresh, err = cuda.StreamCreateWithFlags(cuda.StreamNonBlocking)
	if err != nil {
		return cuda.Stream{}, errors.Join(err, cuda.StreamDestroy(old))
	}
	err = kernels.Digest(grid(n), block, old, data, n, work, out)
	if err == nil {
		err = edge(fresh, old)
	}
	if err == nil {
		err = kernels.FillItem(grid(n), block, fresh, data, n, 1, work)
	}
	if err = errors.Join(err, cuda.StreamDestroy(old)); err != nil {
		return cuda.Stream{}, errors.Join(err, cuda.StreamDestroy(fresh))
	}
	return fresh, nil
}

// Allocate answers n words of zeros, allocated and set in owner, ready for whatever is enqueued in user from then on. The
// caller frees them in user. With an error there is no memory.
func Allocate(owner, user cuda.Stream, n int) (p cuda.DevicePtr, err error) {
	size := 4 * int64(n)
	p, err = cuda.MallocAsync(size, owner)
	if err != nil {
		return 0, err
	}
	err = cuda.MemsetAsync(p, 0, size, owner)
	if err == nil {
		err = edge(user, owner)
	}
	if err != nil {
		return 0, errors.Join(err, cuda.FreeAsync(p, owner))
	}
	return p, nil
}

// Snapshot copies the n words at src, as the work in s has left them, to dst, and then fills src with item, with no rounds of
// work. Work that is enqueued in s later sees both.
func Snapshot(s cuda.Stream, dst, src cuda.DevicePtr, n int, item uint32) error {
	if err := cuda.MemcpyDtoDAsync(dst, src, 4*int64(n), s); err != nil {
		return err
	}
	return kernels.FillItem(grid(n), block, s, src, n, item, 0)
}

// Scratch fills n words of its own with item 7 and adds their digest to the 8 bytes at out, in b, both with so many rounds of
// work. a is busy with other things: neither a's work waits for b's nor b's for a's.
func Scratch(a, b cuda.Stream, n, work int, out cuda.DevicePtr) (err error) {
	p, err := cuda.MallocAsync(4*int64(n), b)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cuda.FreeAsync(p, b)) }()
	if err := kernels.FillItem(grid(n), block, b, p, n, 7, work); err != nil {
		return err
	}
	return kernels.Digest(grid(n), block, b, p, n, work, out)
}
