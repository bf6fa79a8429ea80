// The blocks of a class on a stack, in few words.
package slab

import (
	"math"

	"cudalab/exercises/contract"
	"cudalab/native/cuda"
)

type Allocator struct {
	memory  cuda.DevicePtr
	classes []*class
	closed  bool
}

type class struct {
	size   int64
	first  cuda.DevicePtr
	free   []int
	live   []bool
	spills int
}

func New(classes []int64, blocksPerClass int) (*Allocator, error) {
	if len(classes) == 0 || blocksPerClass < 1 {
		return nil, contract.ErrArgument
	}
	total, last := int64(0), int64(0)
	for _, size := range classes {
		if size <= last || size%256 != 0 || size > (math.MaxInt64-total)/int64(blocksPerClass) {
			return nil, contract.ErrArgument
		}
		total += size * int64(blocksPerClass)
		last = size
	}
	memory, err := cuda.Malloc(total)
	if err != nil {
		return nil, err
	}
	a := &Allocator{memory: memory}
	first := memory
	for _, size := range classes {
		c := &class{size: size, first: first, live: make([]bool, blocksPerClass)}
		for i := blocksPerClass - 1; i >= 0; i-- {
			c.free = append(c.free, i)
		}
		a.classes = append(a.classes, c)
		first += cuda.DevicePtr(size * int64(blocksPerClass))
	}
	return a, nil
}

func (a *Allocator) Stats() []contract.ClassStats {
	var stats []contract.ClassStats
	for _, c := range a.classes {
		stats = append(stats, contract.ClassStats{BlockSize: c.size, Total: len(c.live), InUse: len(c.live) - len(c.free),
			Spills: c.spills})
	}
	return stats
}

func (a *Allocator) Alloc(size int64) (cuda.DevicePtr, error) {
	if a.closed {
		return 0, contract.ErrClosed
	}
	if size < 1 || size > a.classes[len(a.classes)-1].size {
		return 0, contract.ErrSize
	}
	var fits *class
	for _, c := range a.classes {
		if c.size < size {
			continue
		}
		if fits == nil {
			fits = c
		}
		if len(c.free) == 0 {
			continue
		}
		if c != fits {
			fits.spills++
		}
		block := c.free[len(c.free)-1]
		c.free = c.free[:len(c.free)-1]
		c.live[block] = true
		return c.first + cuda.DevicePtr(int64(block)*c.size), nil
	}
	return 0, contract.ErrFull
}

func (a *Allocator) Free(p cuda.DevicePtr) error {
	if a.closed {
		return contract.ErrClosed
	}
	for _, c := range a.classes {
		end := c.first + cuda.DevicePtr(c.size*int64(len(c.live)))
		if p < c.first || p >= end {
			continue
		}
		offset := int64(p - c.first)
		block := int(offset / c.size)
		if offset%c.size != 0 || !c.live[block] {
			return contract.ErrInvalidFree
		}
		c.live[block] = false
		c.free = append(c.free, block)
		return nil
	}
	return contract.ErrInvalidFree
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
