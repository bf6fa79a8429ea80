package slab

import (
	"fmt"
	"math/rand/v2"

	"cudalab/grader/suite"
	"cudalab/native/cuda"
)

// How many blocks the cost is measured with.
const (
	fewBlocks  = 100
	manyBlocks = 100_000
)

// spare is how many blocks there are for one that is free while time is measured: a search for a free one takes long, but
// whoever takes any one out of a Go map, which looks through its empty places as well, finds one soon.
const spare = 50

// What is noted of the blocks that are out together: how many there are, and how many different addresses they have.
const (
	noteOut      = "blocks out"
	noteDistinct = "distinct addresses"
)

// cost times an Alloc and a Free with most blocks handed out.
func (d driver) cost(b *suite.Bench) {
	r := b.Rand()
	few, many := newLoad(d.student, fewBlocks, r), newLoad(d.student, manyBlocks, r)
	loads, reference := []*load{few, many}, (*suite.Load)(nil)
	if d.solution != nil {
		solution := newLoad(d.solution, manyBlocks, r)
		loads, reference = append(loads, solution), &solution.Load
	}
	if !b.Growth("an allocator with many blocks", few.Load, many.Load, reference) {
		return
	}
	for _, l := range []*load{few, many} {
		b.Value(noteOut, uint64(len(l.held)))
		b.Value(noteDistinct, uint64(l.distinct()))
	}
	for _, l := range loads {
		b.Call("Close", l.a.Close)
	}
}

// load is an allocator of two classes with most of its blocks handed out.
type load struct {
	suite.Load
	make Make
	a    Allocator
	held []cuda.DevicePtr
	next []int // the blocks that are out, in an order without a pattern: which is exchanged next
	at   int   // in next
	r    *rand.Rand
}

func newLoad(make Make, blocks int, r *rand.Rand) *load {
	l := &load{make: make, r: r}
	l.Load = suite.Load{Things: blocks, Fill: l.fill, Work: l.exchange}
	return l
}

// out is how many of so many blocks are handed out while time is measured.
func out(blocks int) int { return blocks - blocks/spare }

// size is what is asked for as block i, so that the two classes take turns.
func size(i int) int64 { return int64(200 + 256*(i%2)) }

// fill makes the allocator, where there is none yet, and hands blocks out.
func (l *load) fill(blocks int) (err error) {
	if l.a == nil {
		if l.a, err = l.make([]int64{256, 512}, l.Things/2); err != nil {
			return err
		}
	}
	for i := len(l.held); i < out(blocks); i++ {
		p, err := l.a.Alloc(size(i))
		if err != nil {
			return err
		}
		l.held = append(l.held, p)
		l.next = suite.Shuffled(l.r, l.next, i)
	}
	return nil
}

// exchange gives blocks back and takes others of the same size in their place.
func (l *load) exchange(operations int) error {
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

// distinct is how many different addresses are out.
func (l *load) distinct() int {
	seen := make(map[cuda.DevicePtr]bool, len(l.held))
	for _, p := range l.held {
		seen[p] = true
	}
	return len(seen)
}

func judgeCost(e *suite.Evidence) suite.Answer {
	notes := e.Cases[caseCost]
	if spoilt := notes.Spoilt("Alloc or Free", wrongWhenTimed); spoilt != nil {
		return suite.Answer{Findings: spoilt}
	}
	return suite.JudgeGrowth(notes, suite.GrowthWords{
		Operation: "an Alloc and a Free", Things: "blocks",
		Why: "A search through all blocks takes a time that grows with their number, and an allocator is called in every innermost loop.",
		Fix: "Keep the free blocks of a class on a stack, so that one is at hand, and find a block from its address by arithmetic: " +
			"subtract where the class begins, divide by the block size.",
	})
}

// wrongWhenTimed looks at the blocks that were handed out under the clock.
func wrongWhenTimed(notes *suite.CaseNotes) []suite.Finding {
	out := notes.Values[noteOut]
	for i, distinct := range notes.Values[noteDistinct] {
		if i < len(out) && distinct != out[i] {
			return []suite.Finding{{
				Rule: "wrong-when-timed", Severity: suite.Error, Record: -1, Function: "Alloc",
				Message: fmt.Sprintf("While time was measured, %d blocks that were handed out together should have had as many addresses, but they had "+
					"only %d addresses.", out[i], distinct),
				Why: "Two users of one block destroy each other's data; an allocator is no faster for that.",
				Fix: "Hand out only blocks that are free, in every call, whatever was done before.",
			}}
		}
	}
	return nil
}
