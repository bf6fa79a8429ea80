package tracker

import (
	"fmt"
	"slices"

	"cudalab/exercises/contract"
	"cudalab/grader/suite"
	"cudalab/native/cuda"
	"cudalab/native/device"
)

// lent is an allocator as a tracker gets it.
type lent suite.Lent[contract.Allocator]

func lend(in contract.Allocator) contract.Allocator { return lent(suite.Lend(in)) }

func (l lent) Alloc(size int64) (cuda.DevicePtr, error) { return l().Alloc(size) }
func (l lent) Free(p cuda.DevicePtr) error              { return l().Free(p) }

// Report lies: a tracker has to know by itself what it tells.
func (lent) Report() contract.MemoryReport {
	return contract.MemoryReport{Live: 1, Peak: 1, Free: 1, LargestFree: 1, Count: 1, PeakCount: 1, Allocs: 1, Failures: 1}
}

// Stats lies as well.
func (l lent) Stats() contract.MemoryReport { return l.Report() }

// inner is the allocator that is tracked. Every call is told.
type inner struct {
	kind   kind
	memory cuda.DevicePtr
	bytes  int64
	told   func(eventKind, cuda.DevicePtr, int64, error)

	live          []extent                   // by address
	spare         map[int64][]cuda.DevicePtr // of a bumping one: the blocks that came back, by their size
	out           map[cuda.DevicePtr]int64   // of a bumping one: the blocks that are out, and their sizes
	next          cuda.DevicePtr             // of a bumping one
	allocs, frees int
}

// extent is a block as the allocator has it.
type extent struct {
	at    cuda.DevicePtr
	bytes int64 // rounded up
}

func newInner(l layout, memory cuda.DevicePtr, told func(eventKind, cuda.DevicePtr, int64, error)) *inner {
	return &inner{kind: l.inner, memory: memory, bytes: l.bytes, told: told, spare: map[int64][]cuda.DevicePtr{},
		out: map[cuda.DevicePtr]int64{}, next: memory}
}

// Alloc hands out a block.
func (in *inner) Alloc(size int64) (cuda.DevicePtr, error) {
	p, err := in.alloc(size)
	if in.kind == wrapping && err != nil {
		err = fmt.Errorf("inner, asked for %d bytes: %w", size, err)
	}
	in.told(eventAsk, p, size, err)
	if err != nil {
		p = in.memory // what stands beside an error is nothing to go by
	}
	return p, err
}

func (in *inner) alloc(size int64) (cuda.DevicePtr, error) {
	in.allocs++
	switch {
	case size < 1 || in.kind == sizing && size > largestOfSizing:
		return 0, contract.ErrSize
	case in.kind == failing && in.allocs%3 == 0:
		return 0, &cuda.Error{Call: "cudaMalloc", Code: device.ErrorOutOfMemory}
	case in.kind == disowning && in.allocs%3 == 0:
		return 0, contract.ErrInvalidFree
	case in.kind == bumping:
		return in.bump(size)
	}
	const unit = 256
	if size > in.bytes {
		return 0, contract.ErrFull
	}
	rounded := (size + unit - 1) / unit * unit
	at := in.memory
	for i, x := range in.live {
		if int64(x.at-at) >= rounded {
			in.live = slices.Insert(in.live, i, extent{at, rounded})
			return at, nil
		}
		at = x.at + cuda.DevicePtr(x.bytes)
	}
	if int64(in.memory-at)+in.bytes < rounded {
		return 0, contract.ErrFull
	}
	in.live = append(in.live, extent{at, rounded})
	return at, nil
}

// bump hands out the next addresses, or such as came back and are as many.
func (in *inner) bump(size int64) (p cuda.DevicePtr, err error) {
	if spare := in.spare[size]; len(spare) > 0 {
		p, in.spare[size] = spare[len(spare)-1], spare[:len(spare)-1]
	} else {
		if size > int64(in.memory-in.next)+in.bytes {
			return 0, contract.ErrFull
		}
		p = in.next
		in.next += cuda.DevicePtr(size)
	}
	in.out[p] = size
	return p, nil
}

// Free takes a block back.
func (in *inner) Free(p cuda.DevicePtr) error {
	err := in.free(p)
	in.told(eventGive, p, 0, err)
	return err
}

func (in *inner) free(p cuda.DevicePtr) error {
	in.frees++
	if in.kind == failing && in.frees%2 == 1 {
		return &cuda.Error{Call: "cudaFree", Code: device.ErrorIllegalAddress}
	}
	if in.kind == disowning && in.frees%2 == 1 {
		return []error{contract.ErrInvalidFree, contract.ErrClosed, contract.ErrFull, contract.ErrSize}[in.frees/2%4]
	}
	if in.kind == bumping {
		size, ok := in.out[p]
		if !ok {
			return contract.ErrInvalidFree
		}
		delete(in.out, p)
		in.spare[size] = append(in.spare[size], p)
		return nil
	}
	i := slices.IndexFunc(in.live, func(x extent) bool { return x.at == p })
	if i < 0 {
		return contract.ErrInvalidFree
	}
	in.live = slices.Delete(in.live, i, i+1)
	return nil
}
