// A bit for every block, and a hint where to look for the next one that is free.
package slab

import (
	"fmt"
	"math"
	"math/bits"
	"slices"

	"cudalab/exercises/contract"
	"cudalab/native/cuda"
)

// bitmap has a 1 for every block that is free. Above the words lies a summary with a 1 for every word that is not 0, and
// so on up to a single word, so that a free block is found in a few steps.
type bitmap struct{ levels [][]uint64 }

func newBitmap(n int) bitmap {
	var b bitmap
	for {
		words := make([]uint64, (n+63)/64)
		for i := range n {
			words[i/64] |= 1 << (i % 64)
		}
		b.levels = append(b.levels, words)
		if len(words) == 1 {
			return b
		}
		n = len(words)
	}
}

// first is a free block, or -1.
func (b bitmap) first() int {
	at := 0
	for l := len(b.levels) - 1; l >= 0; l-- {
		word := b.levels[l][at]
		if word == 0 {
			return -1
		}
		at = 64*at + bits.TrailingZeros64(word)
	}
	return at
}

func (b bitmap) has(i int) bool { return b.levels[0][i/64]>>(i%64)&1 == 1 }

func (b bitmap) set(i int) {
	for _, words := range b.levels {
		words[i/64] |= 1 << (i % 64)
		i /= 64
	}
}

func (b bitmap) clear(i int) {
	for _, words := range b.levels {
		words[i/64] &^= 1 << (i % 64)
		if words[i/64] != 0 {
			return
		}
		i /= 64
	}
}

type Allocator struct {
	base  cuda.DevicePtr
	sizes []int64
	n     int
	free  []bitmap
	stats []contract.ClassStats
}

func New(classes []int64, blocksPerClass int) (*Allocator, error) {
	a := &Allocator{sizes: slices.Clone(classes), n: blocksPerClass}
	if len(classes) == 0 || blocksPerClass < 1 {
		return nil, fmt.Errorf("%v, %d: %w", classes, blocksPerClass, contract.ErrArgument)
	}
	total := int64(0)
	for i, size := range classes {
		if size < 256 || size%256 != 0 || i > 0 && size <= classes[i-1] || size > (math.MaxInt64-total)/int64(blocksPerClass) {
			return nil, fmt.Errorf("class %d of %v: %w", i, classes, contract.ErrArgument)
		}
		a.free = append(a.free, newBitmap(blocksPerClass))
		a.stats = append(a.stats, contract.ClassStats{BlockSize: size, Total: blocksPerClass})
		total += size * int64(blocksPerClass)
	}
	var err error
	a.base, err = cuda.Malloc(total)
	if err != nil {
		return nil, fmt.Errorf("slab.New: %w", err)
	}
	return a, nil
}

func (a *Allocator) Stats() []contract.ClassStats { return slices.Clone(a.stats) }

func (a *Allocator) Alloc(size int64) (cuda.DevicePtr, error) {
	if a.base == 0 {
		return 0, contract.ErrClosed
	}
	if size <= 0 {
		return 0, fmt.Errorf("Alloc(%d): %w", size, contract.ErrSize)
	}
	fits, found := slices.BinarySearch(a.sizes, size)
	if !found && fits == len(a.sizes) {
		return 0, fmt.Errorf("Alloc(%d): %w", size, contract.ErrSize)
	}
	at := a.base
	for i := range a.sizes {
		if block := a.free[i].first(); i >= fits && block >= 0 {
			a.free[i].clear(block)
			a.stats[i].InUse++
			if i > fits {
				a.stats[fits].Spills++
			}
			return at + cuda.DevicePtr(int64(block)*a.sizes[i]), nil
		}
		at += cuda.DevicePtr(a.sizes[i] * int64(a.n))
	}
	return 0, fmt.Errorf("Alloc(%d): %w", size, contract.ErrFull)
}

func (a *Allocator) Free(p cuda.DevicePtr) error {
	if a.base == 0 {
		return contract.ErrClosed
	}
	left := int64(p - a.base)
	for i, size := range a.sizes {
		if p < a.base || left < 0 {
			break
		}
		if bytes := size * int64(a.n); left >= bytes {
			left -= bytes
			continue
		}
		if block := int(left / size); left%size == 0 && !a.free[i].has(block) {
			a.free[i].set(block)
			a.stats[i].InUse--
			return nil
		}
		break
	}
	return fmt.Errorf("Free(%#x): %w", p, contract.ErrInvalidFree)
}

func (a *Allocator) Close() error {
	if a.base == 0 {
		return contract.ErrClosed
	}
	err := cuda.Free(a.base)
	if err == nil {
		a.base = 0
	}
	return err
}
