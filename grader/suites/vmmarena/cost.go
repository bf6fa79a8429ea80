package vmmarena

import (
	"fmt"
	"math/rand/v2"

	"cudalab/grader/suite/allocator"
	"cudalab/native/cuda"
)

// How many blocks lie before those that are handed out while the cost is measured.
const (
	fewBlocks  = 100
	manyBlocks = 100_000
)

// costRoom is how many blocks an arena has memory for from the beginning, so that none has to grow on the clock.
const costRoom = 12 * manyBlocks

// cost times an Alloc behind few blocks and behind many.
var cost = allocator.Cost[Make]{
	Name: "a block costs the same behind 100 blocks and behind 100,000", After: lastGap,
	Few: fewBlocks, Many: manyBlocks, Calls: "New, Alloc, Reset or Close",
	Load: func(make Make, blocks int, _ *rand.Rand) allocator.Load {
		if blocks == fewBlocks {
			return &load{make: make, high: 2 * fewBlocks}
		}
		return &load{make: make, high: costRoom}
	},
	Wrong: func(_ uint64, handed []uint64) string {
		if len(handed) == 0 || handed[0] == 0 {
			return ""
		}
		return fmt.Sprintf("When time was measured, %d blocks should have been handed out right behind the block before, but they were elsewhere.",
			handed[0])
	},
	WrongWhy: "Two users of one address destroy each other's data; an arena is no faster for that.",
	WrongFix: "Hand out the next bytes in every call, whatever was done before.",
	GrowthWords: allocator.GrowthWords{
		Operation: "an Alloc", Things: "blocks handed out",
		Why: "An arena takes its blocks back all at once, so it need not know them: where the next one begins is one number.",
		Fix: "Keep no list of blocks, or never walk through it in Alloc: add the rounded size to what is used, and compare.",
	},
}

// load is an arena with some blocks handed out.
type load struct {
	make      Make
	arena     Arena
	base      cuda.DevicePtr
	n         int // blocks handed out
	low, high int // it has so many of them at least, and at most
	misplaced uint64
}

// Fill makes an arena that has its memory, where there is none yet, and hands the first blocks out.
func (l *load) Fill(blocks int) (err error) {
	if l.arena == nil {
		if l.arena, err = l.make(0, costRoom*alignment); err != nil {
			return err
		}
		if l.base, err = l.arena.Alloc(costRoom * alignment); err != nil {
			return err
		}
		if err = l.arena.Reset(); err != nil {
			return err
		}
	}
	l.low = blocks
	return l.handFirst()
}

// again begins with the first blocks once more.
func (l *load) again() error {
	if err := l.arena.Reset(); err != nil {
		return err
	}
	l.n = 0
	return l.handFirst()
}

// handFirst hands those of the first blocks out that are not.
func (l *load) handFirst() error {
	for ; l.n < l.low; l.n++ {
		if _, err := l.arena.Alloc(alignment); err != nil {
			return err
		}
	}
	return nil
}

// Work has blocks handed out.
func (l *load) Work(operations int) error {
	for range operations {
		if l.n == l.high {
			if err := l.again(); err != nil {
				return err
			}
		}
		p, err := l.arena.Alloc(alignment)
		if err != nil {
			return err
		}
		if p != l.base+cuda.DevicePtr(alignment*l.n) {
			l.misplaced++
		}
		l.n++
	}
	return nil
}

func (l *load) Close() error { return l.arena.Close() }

// Handed is how many of the blocks that were handed out on the clock were not where they belong.
func (l *load) Handed() []uint64 { return []uint64{l.misplaced} }
