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
	few, ok := newLoad(b, d.student, fewBlocks, r)
	if !ok {
		return
	}
	many, ok := newLoad(b, d.student, manyBlocks, r)
	if !ok {
		return
	}
	loads, exchange := []*load{few, many}, (func(int) error)(nil)
	if d.solution != nil {
		solution, ok := newLoad(b, d.solution, manyBlocks, r)
		if !ok {
			return
		}
		loads, exchange = append(loads, solution), solution.exchange
	}
	b.Growth(few.exchange, many.exchange, exchange)
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
	a    Allocator
	held []cuda.DevicePtr
	size []int64 // by block, what was asked for
	next []int32 // which block is exchanged next, in an order without a pattern
	at   int
}

func newLoad(b *suite.Bench, make Make, blocks int, r *rand.Rand) (*load, bool) {
	l := &load{}
	out := blocks - blocks/spare
	for _, i := range r.Perm(out) {
		l.next = append(l.next, int32(i))
	}
	o := b.Call("an allocator with many blocks", func() (err error) {
		l.a, err = make([]int64{256, 512}, blocks/2)
		for i := 0; i < out && err == nil; i++ {
			var p cuda.DevicePtr
			size := int64(200 + 256*(i%2))
			p, err = l.a.Alloc(size)
			l.held = append(l.held, p)
			l.size = append(l.size, size)
		}
		return err
	})
	return l, o.OK()
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
		p, err := l.a.Alloc(l.size[i])
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
	for _, o := range notes.Outcomes {
		if !o.OK() {
			return suite.Answer{Findings: []suite.Finding{suite.UnexpectedError("Alloc or Free", o)}}
		}
	}
	out := notes.Values[noteOut]
	for i, distinct := range notes.Values[noteDistinct] {
		if i < len(out) && distinct != out[i] {
			return suite.Answer{Findings: []suite.Finding{{
				Rule: "wrong-when-timed", Severity: suite.Error, Record: -1, Function: "Alloc",
				Message: fmt.Sprintf("While time was measured, %d blocks that were handed out together should have had as many addresses, but they had "+
					"only %d addresses.", out[i], distinct),
				Why: "Two users of one block destroy each other's data; an allocator is no faster for that.",
				Fix: "Hand out only blocks that are free, in every call, whatever was done before.",
			}}}
		}
	}
	return suite.JudgeGrowth(notes, suite.GrowthWords{
		Operation: "an Alloc and a Free", Few: "100 blocks", Many: "100,000 blocks",
		Why: "A search through all blocks takes a time that grows with their number, and an allocator is called in every innermost loop.",
		Fix: "Keep the free blocks of a class on a stack, so that one is at hand, and find a block from its address by arithmetic: " +
			"subtract where the class begins, divide by the block size.",
	})
}
