// Knows its blocks by address, in maps.
package slab

import (
	"math"

	"cudalab/exercises/contract"
	"cudalab/native/cuda"
)

type Allocator struct {
	memory cuda.DevicePtr
	sizes  []int64
	total  int
	free   map[int64]map[cuda.DevicePtr]bool // by block size
	live   map[cuda.DevicePtr]int64          // by address, the block size
	spills map[int64]int
	closed bool
}

func New(classes []int64, blocksPerClass int) (*Allocator, error) {
	if len(classes) == 0 || blocksPerClass < 1 {
		return nil, contract.ErrArgument
	}
	sum := int64(0)
	for i, size := range classes {
		if size < 1 || size%256 != 0 || i > 0 && classes[i-1] >= size {
			return nil, contract.ErrArgument
		}
		if sum += size; sum < 0 || sum > math.MaxInt64/int64(blocksPerClass) {
			return nil, contract.ErrArgument
		}
	}
	memory, err := cuda.Malloc(sum * int64(blocksPerClass))
	if err != nil {
		return nil, err
	}
	a := &Allocator{memory: memory, total: blocksPerClass, free: map[int64]map[cuda.DevicePtr]bool{},
		live: map[cuda.DevicePtr]int64{}, spills: map[int64]int{}}
	at := memory
	for _, size := range classes {
		a.sizes = append(a.sizes, size)
		a.free[size] = map[cuda.DevicePtr]bool{}
		for range blocksPerClass {
			a.free[size][at] = true
			at += cuda.DevicePtr(size)
		}
	}
	return a, nil
}

func (a *Allocator) Stats() []contract.ClassStats {
	var stats []contract.ClassStats
	for _, size := range a.sizes {
		stats = append(stats, contract.ClassStats{BlockSize: size, Total: a.total, InUse: a.total - len(a.free[size]),
			Spills: a.spills[size]})
	}
	return stats
}

func (a *Allocator) Alloc(size int64) (cuda.DevicePtr, error) {
	if a.closed {
		return 0, contract.ErrClosed
	}
	fits := int64(0)
	for _, blockSize := range a.sizes {
		if size < 1 || blockSize < size {
			continue
		}
		if fits == 0 {
			fits = blockSize
		}
		for p := range a.free[blockSize] {
			delete(a.free[blockSize], p)
			a.live[p] = blockSize
			if blockSize != fits {
				a.spills[fits]++
			}
			return p, nil
		}
	}
	if fits == 0 {
		return 0, contract.ErrSize
	}
	return 0, contract.ErrFull
}

func (a *Allocator) Free(p cuda.DevicePtr) error {
	if a.closed {
		return contract.ErrClosed
	}
	size, ok := a.live[p]
	if !ok {
		return contract.ErrInvalidFree
	}
	delete(a.live, p)
	a.free[size][p] = true
	return nil
}

func (a *Allocator) Close() error {
	if a.closed {
		return contract.ErrClosed
	}
	if err := cuda.Free(a.memory); err != nil {
		return err
	}
	a.closed = true
	return nil
}
