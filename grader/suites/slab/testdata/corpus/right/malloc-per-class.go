// Gets the memory of each class by a call of its own.
package slab

import (
	"errors"
	"math"

	"cudalab/exercises/contract"
	"cudalab/native/cuda"
)

type Allocator struct {
	classes []class
	closed  bool
	gone    bool // Close has given a class back
}

type class struct {
	contract.ClassStats
	memory cuda.DevicePtr
	free   []cuda.DevicePtr
	live   map[cuda.DevicePtr]bool
}

func New(classes []int64, blocksPerClass int) (*Allocator, error) {
	if blocksPerClass < 1 || len(classes) < 1 {
		return nil, contract.ErrArgument
	}
	room := int64(math.MaxInt64)
	for i, size := range classes {
		if size < 256 || size&255 != 0 || i > 0 && size <= classes[i-1] || size > room/int64(blocksPerClass) {
			return nil, contract.ErrArgument
		}
		room -= size * int64(blocksPerClass)
	}
	a := &Allocator{}
	for _, size := range classes {
		memory, err := cuda.Malloc(size * int64(blocksPerClass))
		if err != nil {
			return nil, errors.Join(err, a.release())
		}
		c := class{ClassStats: contract.ClassStats{BlockSize: size, Total: blocksPerClass}, memory: memory,
			live: map[cuda.DevicePtr]bool{}}
		for i := range blocksPerClass {
			c.free = append(c.free, memory+cuda.DevicePtr(int64(i)*size))
		}
		a.classes = append(a.classes, c)
	}
	return a, nil
}

// release frees every class that is not freed yet.
func (a *Allocator) release() error {
	var all error
	for i := range a.classes {
		c := &a.classes[i]
		if c.memory == 0 {
			continue
		}
		if err := cuda.Free(c.memory); err != nil {
			all = errors.Join(all, err)
			continue
		}
		c.memory, a.gone = 0, true
	}
	return all
}

func (a *Allocator) Stats() (stats []contract.ClassStats) {
	for _, c := range a.classes {
		stats = append(stats, c.ClassStats)
	}
	return stats
}

func (a *Allocator) Alloc(size int64) (cuda.DevicePtr, error) {
	if a.closed || a.gone {
		return 0, contract.ErrClosed
	}
	fits := -1
	for i := range a.classes {
		c := &a.classes[i]
		if size < 1 || size > c.BlockSize {
			continue
		}
		if fits < 0 {
			fits = i
		}
		if n := len(c.free); n > 0 {
			p := c.free[n-1]
			c.free = c.free[:n-1]
			c.live[p] = true
			c.InUse++
			if i != fits {
				a.classes[fits].Spills++
			}
			return p, nil
		}
	}
	if fits < 0 {
		return 0, contract.ErrSize
	}
	return 0, contract.ErrFull
}

func (a *Allocator) Free(p cuda.DevicePtr) error {
	if a.closed || a.gone {
		return contract.ErrClosed
	}
	for i := range a.classes {
		if c := &a.classes[i]; c.live[p] {
			delete(c.live, p)
			c.free = append(c.free, p)
			c.InUse--
			return nil
		}
	}
	return contract.ErrInvalidFree
}

func (a *Allocator) Close() error {
	if a.closed {
		return contract.ErrClosed
	}
	err := a.release()
	a.closed = err == nil
	return err
}
