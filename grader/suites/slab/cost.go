package slab

import (
	"math/rand/v2"
	"slices"

	"cudalab/grader/suite/allocator"
	"cudalab/grader/suite/sequence"
	"cudalab/native/cuda"
)

// spare is how many blocks there are for one that is free while time is measured: a search for a free one takes long,
// but whoever takes any one out of a Go map, which looks through its empty places as well, finds one soon.
const spare = 50

// cost times an Alloc and a Free with most blocks handed out.
var cost = allocator.Cost[Make]{
	Name: "a block costs the same among 100 blocks and among 100,000", After: lastGap,
	Few: 100, Many: 100_000, Calls: "Alloc or Free",
	Load: func(make Make, blocks int, r *rand.Rand) allocator.Load {
		return &load{make: make, blocks: blocks, r: r}
	},
	Model: func(_ sequence.Source, blocks int) allocator.Model {
		return newModel(&workload{Layout: costLayout(blocks)})
	},
	Behind:  behind,
	Between: lab.Between,
	GrowthWords: allocator.GrowthWords{
		Operation: "an Alloc and a Free", Things: "blocks",
		Why: "A search through all blocks takes a time that grows with their number, and an allocator is called in every " +
			"innermost loop.",
		Fix: "Keep the free blocks of a class on a stack, so that one is at hand, and find a block from its address by " +
			"arithmetic: subtract where the class begins, divide by the block size.",
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

// costLayout is the allocator of a load for so many blocks.
func costLayout(blocks int) layout { return layout{[]int64{256, 512}, blocks / 2} }

// size is what is asked for as block i, so that the two classes take turns.
func size(i int) int64 { return int64(200 + 256*(i%2)) }

func (l *load) Make() (err error) {
	classes := costLayout(l.blocks).classes
	l.a, err = l.make(lent(classes)[:len(classes)], costLayout(l.blocks).blocks)
	return err
}

// Fill hands blocks out.
func (l *load) Fill(blocks int) error {
	l.held, l.next = slices.Grow(l.held, handedOut(blocks)-len(l.held)), slices.Grow(l.next, handedOut(blocks)-len(l.next))
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

func (l *load) Subject() allocator.Subject { return subject(l.a) }

// Past: the blocks that are out, one after the other.
func (l *load) Past() (ops []allocator.Op, answers []sequence.Answer) {
	ops, answers = make([]allocator.Op, 0, len(l.held)), make([]sequence.Answer, 0, len(l.held))
	for i, p := range l.held {
		ops, answers = append(ops, alloc(size(i))), append(answers, sequence.Answer{Addr: uint64(p)})
	}
	return ops, answers
}

// Misses: which blocks were wrong shows by those that are out.
func (*load) Misses() uint64 { return 0 }

// costTurns is how many operations of each kind there are when the clock has stopped.
const costTurns = 300

// behind draws mistakes while all is handed out, frees some of it, takes what is left, and spills.
func behind(r *rand.Rand, past []allocator.Op) (ops []allocator.Op) {
	for range costTurns {
		any := 1 + r.IntN(len(past))
		ops = append(ops, free(any), free(any), inside(any, 1+r.Int64N(511)), alloc([]int64{0, -1, 513, 1 << 32, 1<<32 + 256,
			1<<63 - 1}[r.IntN(6)]), alloc(2+r.Int64N(511)))
	}
	for range len(past)/(spare-1) + 2*costTurns {
		ops = append(ops, alloc(2+r.Int64N(255)))
	}
	for range costTurns {
		any := 1 + r.IntN(len(past))
		ops = append(ops, free(any), alloc(257+r.Int64N(256)))
	}
	return append(ops, shut, shut)
}
