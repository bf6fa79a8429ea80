package buddy

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"cudalab/exercises/contract"
	"cudalab/grader/suite"
	"cudalab/grader/suite/allocator"
	"cudalab/grader/suite/sequence"
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
	Load: func(make Make, blocks int, r *rand.Rand) allocator.Load { return newLoad(make, blocks, r) },
	Model: func(_ sequence.Source, blocks int) allocator.Model {
		return newModel(&workload{Layout: costLayout(blocks)})
	},
	Behind:  behind,
	Between: lab.Between,
	Missed: func(misses uint64) string {
		return fmt.Sprintf("a root that is half full should have had room for nearly all blocks, but for %d it had none",
			misses)
	},
	MissedWhy: "Half of the root is free, and blocks that are freed are made whole with their buddies.",
	MissedFix: "Do the same work whatever the size of the root and the number of blocks.",
	GrowthWords: allocator.GrowthWords{
		Operation: "an Alloc and a Free", Things: "blocks",
		Why: "A root of 2^n minimal blocks is n halvings deep, so nothing need take more steps than that; a search through " +
			"all blocks takes a thousand times as many steps when there are a thousand times as many blocks.",
		Fix: "Keep the free blocks of each order apart, so that one is at hand, and ask of one buddy whether it is free " +
			"without looking at the others: by a bit, or a table indexed by the block's number.",
	},
	Versus: plain, VersusName: "a cuda.Malloc and a cuda.Free for each block",
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
	root   cuda.DevicePtr
	held   []held
	order  []int          // the blocks that are held, in an order without a pattern: which is exchanged next
	sizes  []int64        // what is asked for next
	at     int            // in order
	turn   int            // in sizes
	past   []allocator.Op // by which the root is known
	said   []sequence.Answer
	r      *rand.Rand
}

// held is one block; at is 0 where there was no room for it.
type held struct {
	at   cuda.DevicePtr
	size int64
}

// sizesCount is how many sizes a load asks for in turns: a prime, so that no block gets the same size each time.
const sizesCount = 4093

// costLayout is the allocator of a load for so many blocks.
func costLayout(blocks int) layout { return layout{int64(blocks) * blockRoom, leastBlock} }

func newLoad(make Make, blocks int, r *rand.Rand) *load {
	l := &load{make: make, layout: costLayout(blocks), r: r}
	for range sizesCount {
		size := l.layout.least() << r.IntN(4)
		l.sizes = append(l.sizes, size-r.Int64N(size/2))
	}
	return l
}

func (l *load) Make() (err error) {
	if l.a, err = l.make(l.layout.total, l.layout.minBlock); err != nil {
		return err
	}
	return l.findRoot()
}

// Fill takes blocks, of one to eight minimal blocks each.
func (l *load) Fill(blocks int) (err error) {
	l.held, l.order = slices.Grow(l.held, blocks-len(l.held)), slices.Grow(l.order, blocks-len(l.order))
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

// findRoot takes all of the root once: it lies where that does.
func (l *load) findRoot() error {
	p, err := l.a.Alloc(l.layout.root())
	if err != nil {
		return err
	}
	l.root = p
	stats := subject(l.a, p).Stats
	told := func() sequence.Answer {
		return sequence.Answer{Addr: uint64(p)}.With(sequence.Details{Stats: stats()})
	}
	l.past, l.said = []allocator.Op{alloc(l.layout.root()), free(1)}, []sequence.Answer{told()}
	if err := l.a.Free(p); err != nil {
		return err
	}
	l.said = append(l.said, told())
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

func (l *load) Close() error { return l.a.Close() }

func (l *load) Subject() allocator.Subject { return subject(l.a, l.root) }

// Past: the blocks that are out, one after the other.
func (l *load) Past() ([]allocator.Op, []sequence.Answer) {
	for _, h := range l.held {
		if h.at != 0 {
			l.past, l.said = append(l.past, alloc(h.size)), append(l.said, sequence.Answer{Addr: uint64(h.at)})
		}
	}
	return l.past, l.said
}

// Misses are the blocks for which there was no room, where that are more than what lies about in pieces may be the
// cause of.
func (l *load) Misses() (refused uint64) {
	for _, h := range l.held {
		if h.at == 0 {
			refused++
		}
	}
	if 4*refused <= uint64(len(l.held)) {
		return 0
	}
	return refused
}

// costTurns is how many operations of each kind there are when the clock has stopped.
const costTurns = 200

// behind draws mistakes, frees and allocations of all sizes, and then frees all that is out.
func behind(r *rand.Rand, past []allocator.Op) (ops []allocator.Op) {
	blocks := len(past) - 1 // of the first two operations one is an Alloc
	largest := past[0].Size
	for range costTurns {
		any := 2 + r.IntN(blocks-1)
		ops = append(ops, free(any), free(any), inside(any, 1+r.Int64N(leastBlock)), inside(any, 1<<32),
			alloc([]int64{0, -1, largest + 1, 1 << 62, 1<<63 - 1}[r.IntN(5)]), alloc(1+r.Int64N(leastBlock<<r.IntN(5))))
	}
	for i := range blocks + 2*costTurns {
		ops = append(ops, free(1+i))
	}
	return append(ops, alloc(largest), alloc(1), shut, shut)
}
