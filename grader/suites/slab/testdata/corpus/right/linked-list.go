// Strings the free blocks together: the number of the next one stands in a slice.
package slab

import (
	"math"

	"cudalab/exercises/contract"
	"cudalab/native/cuda"
)

const (
	end  = -1
	used = -2
)

type Allocator struct {
	memory cuda.DevicePtr
	open   bool
	blocks int
	size   []int64
	begin  []int64 // by class, bytes from memory on
	head   []int   // by class, the first free block, counted through all classes
	next   []int   // by block
	in     []int
	spills []int
}

func New(classes []int64, blocksPerClass int) (*Allocator, error) {
	a := &Allocator{open: true, blocks: blocksPerClass, size: classes}
	if len(classes) == 0 || blocksPerClass <= 0 {
		return nil, contract.ErrArgument
	}
	a.size = append([]int64{}, classes...)
	bytes := int64(0)
	for i, size := range classes {
		if size <= 0 || size%256 > 0 || i > 0 && size <= classes[i-1] || (math.MaxInt64-bytes)/size < int64(blocksPerClass) {
			return nil, contract.ErrArgument
		}
		a.begin = append(a.begin, bytes)
		bytes += size * int64(blocksPerClass)
		a.head = append(a.head, i*blocksPerClass)
		for b := range blocksPerClass {
			link := i*blocksPerClass + b + 1
			if b == blocksPerClass-1 {
				link = end
			}
			a.next = append(a.next, link)
		}
	}
	a.in, a.spills = make([]int, len(classes)), make([]int, len(classes))
	var err error
	if a.memory, err = cuda.Malloc(bytes); err != nil {
		return nil, err
	}
	return a, nil
}

func (a *Allocator) Stats() []contract.ClassStats {
	s := make([]contract.ClassStats, len(a.size))
	for i := range s {
		s[i] = contract.ClassStats{BlockSize: a.size[i], Total: a.blocks, InUse: a.in[i], Spills: a.spills[i]}
	}
	return s
}

func (a *Allocator) Alloc(size int64) (cuda.DevicePtr, error) {
	if !a.open {
		return 0, contract.ErrClosed
	}
	fits := 0
	for fits < len(a.size) && a.size[fits] < size {
		fits++
	}
	if size < 1 || fits == len(a.size) {
		return 0, contract.ErrSize
	}
	for i := fits; i < len(a.size); i++ {
		b := a.head[i]
		if b == end {
			continue
		}
		a.head[i], a.next[b] = a.next[b], used
		a.in[i]++
		if i != fits {
			a.spills[fits]++
		}
		return a.memory + cuda.DevicePtr(a.begin[i]+int64(b-i*a.blocks)*a.size[i]), nil
	}
	return 0, contract.ErrFull
}

func (a *Allocator) Free(p cuda.DevicePtr) error {
	if !a.open {
		return contract.ErrClosed
	}
	for i := len(a.size) - 1; i >= 0 && p >= a.memory; i-- {
		offset := int64(p-a.memory) - a.begin[i]
		if offset < 0 {
			continue
		}
		b := offset / a.size[i]
		if offset%a.size[i] != 0 || b >= int64(a.blocks) || a.next[i*a.blocks+int(b)] != used {
			break
		}
		at := i*a.blocks + int(b)
		a.next[at], a.head[i] = a.head[i], at
		a.in[i]--
		return nil
	}
	return contract.ErrInvalidFree
}

func (a *Allocator) Close() error {
	if !a.open {
		return contract.ErrClosed
	}
	if err := cuda.Free(a.memory); err != nil {
		return err
	}
	a.open = false
	return nil
}
