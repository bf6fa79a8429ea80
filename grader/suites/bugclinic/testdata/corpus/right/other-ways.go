// Each function the other way round: one copy for all parts, edges from and to the legacy default stream, one event for all of
// PingPong's blocks, c behind b itself, the new stream before the old one is gone.
package bugclinic

import (
	"errors"

	"cudalab/kernels"
	"cudalab/native/cuda"
)

const threads = 128

func blocksFor(n int) int { return (n + threads - 1) / threads }

func Upload(s cuda.Stream, dst cuda.DevicePtr, staging cuda.HostBuffer, parts [][]byte) error {
	total := int64(0)
	for _, part := range parts {
		if err := staging.Write(total, part); err != nil {
			return err
		}
		total += int64(len(part))
	}
	return cuda.MemcpyHtoDAsync(dst, staging, total, s)
}

// edge makes later wait for what is in earlier by now, with an event of its own.
func edge(earlier, later cuda.Stream) (err error) {
	e, err := cuda.EventCreateWithFlags(cuda.EventDisableTiming)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cuda.EventDestroy(e)) }()
	if err := cuda.EventRecord(e, earlier); err != nil {
		return err
	}
	return cuda.StreamWaitEvent(later, e)
}

func Weights(s cuda.Stream, dst cuda.DevicePtr, weights cuda.Pageable, out cuda.DevicePtr) error {
	if err := cuda.MemcpyHtoD(dst, weights, int64(len(weights))); err != nil {
		return err
	}
	if err := edge(cuda.Stream{}, s); err != nil {
		return err
	}
	return kernels.Digest(blocksFor(len(weights)/4), threads, s, dst, len(weights)/4, 0, out)
}

// PingPong enqueues the fill of the next item before it has a wait for the digest of this one, so that one edge each way does.
func PingPong(a, b cuda.Stream, blocks [2]cuda.DevicePtr, n, work, steps int, out cuda.DevicePtr) (err error) {
	fill := func(i int) error {
		if i >= steps {
			return nil
		}
		return kernels.FillItem(blocksFor(n), threads, a, blocks[i%2], n, uint32(i), work)
	}
	if err := fill(0); err != nil {
		return err
	}
	for i := range steps {
		if err := edge(a, b); err != nil {
			return err
		}
		if err := fill(i + 1); err != nil {
			return err
		}
		if err := kernels.Digest(blocksFor(n), threads, b, blocks[i%2], n, work, out+cuda.DevicePtr(8*i)); err != nil {
			return err
		}
		if err := edge(b, a); err != nil {
			return err
		}
	}
	return nil
}

func Merge(a, b, c cuda.Stream, data, other cuda.DevicePtr, n, work int, out cuda.DevicePtr) (err error) {
	digested, err := cuda.EventCreateWithFlags(cuda.EventDisableTiming)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cuda.EventDestroy(digested)) }()
	if err := kernels.Digest(blocksFor(n), threads, b, data, n, work, out); err != nil {
		return err
	}
	if err := cuda.EventRecord(digested, b); err != nil {
		return err
	}
	for _, s := range []cuda.Stream{a, c} {
		if err := cuda.StreamWaitEvent(s, digested); err != nil {
			return err
		}
	}
	if err := kernels.FillItem(blocksFor(n), threads, c, data, n, 2, work); err != nil {
		return err
	}
	return kernels.FillItem(blocksFor(n), threads, a, other, n, 1, work)
}

func Replace(old cuda.Stream, data cuda.DevicePtr, n, work int, out cuda.DevicePtr) (cuda.Stream, error) {
	fresh, err := cuda.StreamCreateWithFlags(cuda.StreamNonBlocking)
	if err != nil {
		return cuda.Stream{}, errors.Join(err, cuda.StreamDestroy(old))
	}
	err = kernels.Digest(blocksFor(n), threads, old, data, n, work, out)
	if err == nil {
		err = edge(old, fresh)
	}
	if err == nil {
		err = kernels.FillItem(blocksFor(n), threads, fresh, data, n, 1, work)
	}
	if err = errors.Join(err, cuda.StreamDestroy(old)); err != nil {
		return cuda.Stream{}, errors.Join(err, cuda.StreamDestroy(fresh))
	}
	return fresh, nil
}

func Allocate(owner, user cuda.Stream, n int) (cuda.DevicePtr, error) {
	p, err := cuda.MallocAsync(4*int64(n), owner)
	if err != nil {
		return 0, err
	}
	if err = cuda.MemsetAsync(p, 0, 4*int64(n), owner); err == nil {
		err = edge(owner, user)
	}
	if err != nil {
		return 0, errors.Join(err, cuda.FreeAsync(p, owner))
	}
	return p, nil
}

func Snapshot(s cuda.Stream, dst, src cuda.DevicePtr, n int, item uint32) error {
	var legacy cuda.Stream
	if err := edge(s, legacy); err != nil {
		return err
	}
	if err := cuda.MemcpyDtoD(dst, src, 4*int64(n)); err != nil {
		return err
	}
	if err := edge(legacy, s); err != nil {
		return err
	}
	return kernels.FillItem(blocksFor(n), threads, s, src, n, item, 0)
}

func Scratch(_, b cuda.Stream, n, work int, out cuda.DevicePtr) error {
	p, err := cuda.MallocAsync(4*int64(n), b)
	if err != nil {
		return err
	}
	err = kernels.FillItem(blocksFor(n), threads, b, p, n, 7, work)
	if err == nil {
		err = kernels.Digest(blocksFor(n), threads, b, p, n, work, out)
	}
	return errors.Join(err, cuda.FreeAsync(p, b))
}
