package vmmarena

import (
	"fmt"
	"math/rand/v2"

	"cudalab/grader/suite/allocator"
	"cudalab/grader/suite/sequence"
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
	Between: lab.Between,
	Few:     fewBlocks, Many: manyBlocks, Calls: "New, Alloc, Reset or Close",
	Load: func(make Make, blocks int, _ *rand.Rand) allocator.Load {
		if blocks == fewBlocks {
			return &load{make: make, high: 2 * fewBlocks}
		}
		return &load{make: make, high: costRoom}
	},
	Model: func(from sequence.Source, _ int) allocator.Model {
		return newModel(&workload{Layout: layout{reserve: costRoom * alignment, granularity: from.Granularity}})
	},
	Granular: true,
	Behind:   behind,
	Missed: func(misses uint64) string {
		return fmt.Sprintf("%d blocks should have been handed out right behind the block before, but they were elsewhere",
			misses)
	},
	MissedWhy: "Two users of one address destroy each other's data; an arena is no faster for that.",
	MissedFix: "Hand out the next bytes in every call, whatever was done before.",
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
	said      []sequence.Answer // to the operations by which it got its memory
}

// Make makes an arena that has its memory.
func (l *load) Make() (err error) {
	if l.arena, err = l.make(0, costRoom*alignment); err != nil {
		return err
	}
	if l.base, err = l.arena.Alloc(costRoom * alignment); err != nil {
		return err
	}
	stats := subject(l.arena).Stats
	l.said = []sequence.Answer{sequence.Answer{Addr: uint64(l.base)}.With(sequence.Details{Stats: stats()})}
	if err = l.arena.Reset(); err != nil {
		return err
	}
	l.said = append(l.said, sequence.Answer{}.With(sequence.Details{Stats: stats()}))
	return nil
}

// Fill hands the first blocks out.
func (l *load) Fill(blocks int) (err error) {
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
	for l.n < l.low {
		if err := l.next(); err != nil {
			return err
		}
	}
	return nil
}

// next has the next block handed out.
func (l *load) next() error {
	p, err := l.arena.Alloc(alignment)
	if err != nil {
		return err
	}
	if p != l.base+cuda.DevicePtr(alignment*l.n) {
		l.misplaced++
	}
	l.n++
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
		if err := l.next(); err != nil {
			return err
		}
	}
	return nil
}

func (l *load) Close() error { return l.arena.Close() }

func (l *load) Subject() allocator.Subject { return subject(l.arena) }

// Past: the blocks that are out are one piece, from Base on.
func (l *load) Past() ([]allocator.Op, []sequence.Answer) {
	return []allocator.Op{alloc(costRoom * alignment), reset, alloc(int64(l.n) * alignment)},
		append(l.said, sequence.Answer{Addr: uint64(l.base)})
}

// Misses is how many of the blocks were not where they belong.
func (l *load) Misses() uint64 { return l.misplaced }

// costTurns is how many operations of each kind there are when the clock has stopped.
const costTurns = 100

// behind draws mistakes and blocks of all sizes, behind those that are out and from the beginning.
func behind(r *rand.Rand, past []allocator.Op) (ops []allocator.Op) {
	left := past[0].Size - past[2].Size
	for range 2 {
		for range costTurns {
			ops = append(ops, alloc([]int64{0, -1, past[0].Size + 1<<30, 1 << 62, 1<<63 - 1, -1 << 63}[r.IntN(6)]),
				alloc(1+r.Int64N(1+left/costTurns/2)))
		}
		ops, left = append(ops, reset), past[0].Size
	}
	return append(ops, alloc(left), shut, shut)
}
