package buddy

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"cudalab/exercises/contract"
	"cudalab/grader/suite"
	"cudalab/grader/suite/allocator"
	"cudalab/native/cuda"
)

// The two loads of the timed case: a thousand times as many blocks in a root a thousand times as large.
const (
	fewBlocks  = 32
	manyBlocks = 1024 * fewBlocks
	blockRoom  = 64 * kib / fewBlocks // bytes of the root for each, so that it is about half full
)

// cost times an Alloc and a Free of random sizes in a root that is about half full.
var cost = allocator.Cost[Make]{
	Name: "the cost does not grow with the number of blocks", After: lastGap,
	Few: fewBlocks, Many: manyBlocks, Calls: "Alloc or Free",
	Load:     func(make Make, blocks int, r *rand.Rand) allocator.Load { return newLoad(make, blocks, r) },
	Wrong:    wrongWhenTimed,
	WrongWhy: "Two users of one block destroy each other's data; an allocator is no faster for that.",
	WrongFix: "Do the same work whatever the size of the root and the number of blocks.",
	GrowthWords: allocator.GrowthWords{
		Operation: "an Alloc and a Free", Things: "blocks",
		Why: "A root of 2^n minimal blocks is n halvings deep, so nothing need take more steps than that; a search through all blocks takes " +
			"a thousand times as many steps when there are a thousand times as many blocks.",
		Fix: "Keep the free blocks of each order apart, so that one is at hand, and ask of one buddy whether it is free without looking at " +
			"the others: by a bit, or a table indexed by the block's number.",
	},
	Versus: plain, VersusName: "a cuda.Malloc and a cuda.Free for each block",
}

// wrongWhenTimed looks at the blocks that were handed out under the clock, and at what was left when all were freed.
func wrongWhenTimed(blocks uint64, handed []uint64) string {
	if len(handed) != 3 {
		return ""
	}
	switch out, apart, whole := handed[0], handed[1], handed[2]; {
	case apart < out:
		return fmt.Sprintf("With %d blocks handed out, none should overlap another, but some did.", out)
	case out < blocks*3/4:
		return fmt.Sprintf("A root that is half full should have had room for nearly all of %d blocks, but only %d could be allocated.", blocks, out)
	case whole == 0:
		return fmt.Sprintf("When all of %d blocks had been freed, the root should have been one free block, but it was not.", blocks)
	}
	return ""
}

// plainPairs is how many pairs of cuda.Malloc and cuda.Free are timed for comparison.
const plainPairs = 50

// plain times what the lesson argues against: a cuda.Malloc and a cuda.Free for every block.
func plain(b *suite.Bench, sample func(nanoseconds int64)) error {
	clock := b.Session.Device()
	for range plainPairs {
		began := clock.Now()
		p, err := cuda.Malloc(2 * leastBlock)
		if err != nil {
			return err
		}
		if err := cuda.Free(p); err != nil {
			return err
		}
		sample(clock.Now() - began)
	}
	return nil
}

// load is an allocator with many blocks handed out.
type load struct {
	make   Make
	layout layout
	a      Allocator
	held   []held
	order  []int   // the blocks that are held, in an order without a pattern: which is exchanged next
	sizes  []int64 // what is asked for next
	at     int     // in order
	turn   int     // in sizes
	whole  bool    // the root was one free block when all had been freed
	r      *rand.Rand
}

// held is one block; at is 0 where there was no room for it.
type held struct {
	at   cuda.DevicePtr
	size int64
}

// sizesCount is how many sizes a load asks for in turns: a prime, so that no block gets the same size each time.
const sizesCount = 4093

func newLoad(make Make, blocks int, r *rand.Rand) *load {
	l := &load{make: make, layout: layout{int64(blocks) * blockRoom, leastBlock}, r: r}
	for range sizesCount {
		size := l.layout.least() << r.IntN(4)
		l.sizes = append(l.sizes, size-r.Int64N(size/2))
	}
	return l
}

// Fill makes the allocator, where there is none yet, and takes blocks, of one to eight minimal blocks each.
func (l *load) Fill(blocks int) (err error) {
	if l.a == nil {
		if l.a, err = l.make(l.layout.total, l.layout.minBlock); err != nil {
			return err
		}
	}
	for len(l.held) < blocks {
		h, err := l.take()
		if err != nil {
			return err
		}
		l.order = allocator.Shuffled(l.r, l.order, len(l.held))
		l.held = append(l.held, h)
	}
	return nil
}

// take allocates the next size. That there may be no room for it, in pieces as the root is, is no error.
func (l *load) take() (h held, err error) {
	h.size = l.sizes[l.turn]
	if l.turn++; l.turn == len(l.sizes) {
		l.turn = 0
	}
	if h.at, err = l.a.Alloc(h.size); errors.Is(err, contract.ErrFull) {
		return held{}, nil
	}
	return h, err
}

// Work gives blocks back and takes others, of other sizes, in their place.
func (l *load) Work(operations int) (err error) {
	for range operations {
		h := &l.held[l.order[l.at]]
		if l.at++; l.at == len(l.order) {
			l.at = 0
		}
		if h.at != 0 {
			if err := l.a.Free(h.at); err != nil {
				return err
			}
		}
		if *h, err = l.take(); err != nil {
			return err
		}
	}
	return nil
}

// Close gives all blocks back first.
func (l *load) Close() (err error) {
	for _, h := range l.held {
		if h.at != 0 {
			err = errors.Join(err, l.a.Free(h.at))
		}
	}
	stats := l.a.Stats()
	l.whole = stats.FreeBlocks == 1 && stats.LargestFree == l.layout.root()
	return errors.Join(err, l.a.Close())
}

// Handed is how many blocks were handed out, how many of them nobody else had a part of, and 1 if the root was whole again.
func (l *load) Handed() []uint64 {
	blocks := slices.DeleteFunc(slices.Clone(l.held), func(h held) bool { return h.at == 0 })
	slices.SortFunc(blocks, func(a, b held) int { return cmp.Compare(a.at, b.at) })
	apart, whole, end := uint64(0), uint64(0), cuda.DevicePtr(0)
	for _, h := range blocks {
		if h.at >= end {
			apart++
		}
		end = max(end, h.at+cuda.DevicePtr(l.layout.block(h.size)))
	}
	if l.whole {
		whole = 1
	}
	return []uint64{uint64(len(blocks)), apart, whole}
}
