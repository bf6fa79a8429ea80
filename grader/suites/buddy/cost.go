package buddy

import (
	"cmp"
	"errors"
	"math/rand/v2"
	"slices"

	"cudalab/exercises/contract"
	"cudalab/grader/suite"
	"cudalab/native/cuda"
)

// The two loads of the timed case: a thousand times as many blocks in a root a thousand times as large.
const (
	fewBlocks  = 32
	manyBlocks = 1024 * fewBlocks
	fewRoot    = 64 * kib
	manyRoot   = 1024 * fewRoot
)

// Names of what the timed case notes.
const (
	noteOut     = "blocks when timed"
	noteApart   = "blocks apart when timed"
	noteWhole   = "whole when timed"
	seriesPlain = "cuda.Malloc"
)

// plainPairs is how many pairs of cuda.Malloc and cuda.Free are timed for comparison.
const plainPairs = 50

// cost times an Alloc and a Free of random sizes in a root that is about half full.
func (d driver) cost(b *suite.Bench) {
	r := b.Rand()
	few := newLoad(d.student, layout{fewRoot, leastBlock}, fewBlocks, r)
	many := newLoad(d.student, layout{manyRoot, leastBlock}, manyBlocks, r)
	var solution *load
	var reference *suite.Load
	if d.solution != nil {
		solution = newLoad(d.solution, many.layout, manyBlocks, r)
		reference = &solution.Load
	}
	if !b.Growth("an allocator with many blocks", few.Load, many.Load, reference) {
		return
	}
	if solution != nil {
		_, err := solution.empty()
		b.Must(err)
	}
	loads := []*load{few, many}
	for _, l := range loads {
		out, apart := l.out()
		b.Value(noteOut, uint64(out))
		b.Value(noteApart, uint64(apart))
		b.Call("a Free of every block, and Close", func() error {
			whole, err := l.empty()
			if whole {
				b.Value(noteWhole, uint64(len(l.held)))
			}
			return err
		})
	}
	b.Must(baseline(b))
}

// baseline is what the lesson argues against: a cuda.Malloc and a cuda.Free for every block.
func baseline(b *suite.Bench) error {
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
		b.Notes.Sample(seriesPlain, clock.Now()-began)
	}
	return nil
}

// load is an allocator with many blocks handed out.
type load struct {
	suite.Load
	make   Make
	layout layout
	a      Allocator
	held   []held
	order  []int   // the blocks that are held, in an order without a pattern: which is exchanged next
	sizes  []int64 // what is asked for next
	at     int     // in order
	turn   int     // in sizes
	r      *rand.Rand
}

// held is one block; at is 0 where there was no room for it.
type held struct {
	at   cuda.DevicePtr
	size int64
}

// sizesCount is how many sizes a load asks for in turns: a prime, so that no block gets the same size each time.
const sizesCount = 4093

func newLoad(make Make, of layout, blocks int, r *rand.Rand) *load {
	l := &load{make: make, layout: of, r: r}
	l.Load = suite.Load{Things: blocks, Fill: l.fill, Work: l.exchange}
	for range sizesCount {
		size := of.least() << r.IntN(4)
		l.sizes = append(l.sizes, size-r.Int64N(size/2))
	}
	return l
}

// fill makes the allocator, where there is none yet, and takes blocks, of one to eight minimal blocks each.
func (l *load) fill(blocks int) (err error) {
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
		l.order = suite.Shuffled(l.r, l.order, len(l.held))
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

// exchange gives blocks back and takes others, of other sizes, in their place.
func (l *load) exchange(operations int) (err error) {
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

// out is how many blocks are handed out, and apart how many of them nobody else has a part of.
func (l *load) out() (out, apart int) {
	blocks := slices.DeleteFunc(slices.Clone(l.held), func(h held) bool { return h.at == 0 })
	slices.SortFunc(blocks, func(a, b held) int { return cmp.Compare(a.at, b.at) })
	end := cuda.DevicePtr(0)
	for _, h := range blocks {
		if h.at >= end {
			apart++
		}
		end = max(end, h.at+cuda.DevicePtr(l.layout.block(h.size)))
	}
	return len(blocks), apart
}

// empty gives all blocks back and closes the allocator. whole reports whether the root was one free block then.
func (l *load) empty() (whole bool, err error) {
	for _, h := range l.held {
		if h.at != 0 {
			err = errors.Join(err, l.a.Free(h.at))
		}
	}
	stats := l.a.Stats()
	return stats.FreeBlocks == 1 && stats.LargestFree == l.layout.root(), errors.Join(err, l.a.Close())
}
