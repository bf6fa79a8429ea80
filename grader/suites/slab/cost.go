package slab

import (
	"fmt"
	"math/rand/v2"

	"cudalab/grader/suite/allocator"
	"cudalab/native/cuda"
)

// spare is how many blocks there are for one that is free while time is measured: a search for a free one takes long, but
// whoever takes any one out of a Go map, which looks through its empty places as well, finds one soon.
const spare = 50

// cost times an Alloc and a Free with most blocks handed out.
var cost = allocator.Cost[Make]{
	Name: "a block costs the same among 100 blocks and among 100,000", After: lastGap,
	Few: 100, Many: 100_000, Calls: "Alloc or Free",
	Load: func(make Make, blocks int, r *rand.Rand) allocator.Load {
		return &load{make: make, blocks: blocks, r: r}
	},
	Wrong: func(_ uint64, handed []uint64) string {
		if len(handed) == 2 && handed[0] != handed[1] {
			return fmt.Sprintf("While time was measured, %d blocks that were handed out together should have had as many addresses, but they had "+
				"only %d addresses.", handed[0], handed[1])
		}
		return ""
	},
	WrongWhy: "Two users of one block destroy each other's data; an allocator is no faster for that.",
	WrongFix: "Hand out only blocks that are free, in every call, whatever was done before.",
	GrowthWords: allocator.GrowthWords{
		Operation: "an Alloc and a Free", Things: "blocks",
		Why: "A search through all blocks takes a time that grows with their number, and an allocator is called in every innermost loop.",
		Fix: "Keep the free blocks of a class on a stack, so that one is at hand, and find a block from its address by arithmetic: " +
			"subtract where the class begins, divide by the block size.",
	},
}

// load is an allocator of two classes with most of its blocks handed out.
type load struct {
	make   Make
	blocks int
	a      Allocator
	held   []cuda.DevicePtr
	next   []int // the blocks that are out, in an order without a pattern: which is exchanged next
	at     int   // in next
	r      *rand.Rand
}

// handedOut is how many of so many blocks are handed out while time is measured.
func handedOut(blocks int) int { return blocks - blocks/spare }

// size is what is asked for as block i, so that the two classes take turns.
func size(i int) int64 { return int64(200 + 256*(i%2)) }

// Fill makes the allocator, where there is none yet, and hands blocks out.
func (l *load) Fill(blocks int) (err error) {
	if l.a == nil {
		if l.a, err = l.make([]int64{256, 512}, l.blocks/2); err != nil {
			return err
		}
	}
	for i := len(l.held); i < handedOut(blocks); i++ {
		p, err := l.a.Alloc(size(i))
		if err != nil {
			return err
		}
		l.held = append(l.held, p)
		l.next = allocator.Shuffled(l.r, l.next, i)
	}
	return nil
}

// Work gives blocks back and takes others of the same size in their place.
func (l *load) Work(operations int) error {
	for range operations {
		i := l.next[l.at]
		if l.at++; l.at == len(l.next) {
			l.at = 0
		}
		if err := l.a.Free(l.held[i]); err != nil {
			return err
		}
		p, err := l.a.Alloc(size(i))
		if err != nil {
			return err
		}
		l.held[i] = p
	}
	return nil
}

func (l *load) Close() error { return l.a.Close() }

// Handed is how many blocks are out together, and how many different addresses they have.
func (l *load) Handed() []uint64 {
	seen := make(map[cuda.DevicePtr]bool, len(l.held))
	for _, p := range l.held {
		seen[p] = true
	}
	return []uint64{uint64(len(l.held)), uint64(len(seen))}
}
