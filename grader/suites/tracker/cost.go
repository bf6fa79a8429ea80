package tracker

import (
	"math/rand/v2"
	"slices"

	"cudalab/exercises/contract"
	"cudalab/grader/suite/allocator"
	"cudalab/grader/suite/sequence"
	"cudalab/native/cuda"
)

// cost times an Alloc and a Free with many blocks live, under many tags.
var cost = allocator.Cost[Make]{
	Name: "a block costs the same among 100 blocks and among 100,000, under many tags", After: reporting,
	Between: lab.Between,
	Few:     100, Many: 100_000, Calls: "Alloc or Free",
	Load: func(wrap Make, blocks int, r *rand.Rand) allocator.Load {
		return &load{wrap: wrap, books: newBooks(blocks, blocks/blocksOfTag), blocks: blocks, r: r}
	},
	Model: func(sequence.Source, int) allocator.Model {
		return newModel(&workload{Layout: costLayout})
	},
	Behind: func(*rand.Rand, []allocator.Op) []allocator.Op { return []allocator.Op{shut} },
	GrowthWords: allocator.GrowthWords{
		Operation: "an Alloc and a Free", Things: "blocks",
		Why: "A search through all blocks, or a list that is kept in order by moving it, takes a time that grows with " +
			"their number, and a tracker is part of every single allocation.",
		Fix: "Find a block by its address in a map, and a tag's account as well. Sort in Report, which is called when " +
			"somebody wants to look.",
	},
	Missed: func(misses uint64) string {
		return "the tracker should have booked every block, but a report behind the last of them differed from what was done"
	},
	MissedWhy: "What is not booked when nobody looks is not there when somebody does.",
	MissedFix: "Do the same in every call, whatever the number of blocks and however fast they come.",
}

// costLayout is a load's tracker: no report is asked for but by the load itself.
var costLayout = layout{inner: bumping, memory: somewhere, bytes: 1 << 40, limit: 1 << 40, silent: true}

// Of a load's blocks all have one size, and some are under one tag.
const (
	costSize    = 256
	blocksOfTag = 8
)

// stack is the quickest allocator there is: of one size, and it believes every word.
type stack struct {
	spare []cuda.DevicePtr
	next  cuda.DevicePtr
}

func (s *stack) Alloc(int64) (p cuda.DevicePtr, err error) {
	if last := len(s.spare) - 1; last >= 0 {
		p, s.spare = s.spare[last], s.spare[:last]
		return p, nil
	}
	s.next += costSize
	return s.next - costSize, nil
}

func (s *stack) Free(p cuda.DevicePtr) error {
	s.spare = append(s.spare, p)
	return nil
}

// slot is one of the blocks that a load has: all that is looked at on the clock lies in one place.
type slot struct {
	at     cuda.DevicePtr
	tag    string
	allocs int // how often it was handed out
	number int // of the last of these
}

// load is a tracker with many live blocks.
type load struct {
	wrap   Make
	blocks int
	t      Tracker
	held   []slot
	count  int   // Allocs
	next   []int // the blocks in an order without a pattern: which is exchanged next
	at     int   // in next
	books  books
	r      *rand.Rand
}

func (l *load) Make() (err error) {
	l.t, err = l.wrap(lend(&stack{next: somewhere}), costLayout.memory, costLayout.bytes, costLayout.limit)
	return err
}

// Fill asks the tracker for blocks.
func (l *load) Fill(blocks int) (err error) {
	l.held, l.next = slices.Grow(l.held, blocks-len(l.held)), slices.Grow(l.next, blocks-len(l.next))
	tag := ""
	for i := len(l.held); i < blocks; i++ {
		if i%blocksOfTag == 0 || tag == "" {
			tag = tagName(2 + i/blocksOfTag)
		}
		l.held = append(l.held, slot{tag: tag})
		if err := l.take(&l.held[i]); err != nil {
			return err
		}
		l.next = allocator.Shuffled(l.r, l.next, i)
	}
	return nil
}

// take asks for a block.
func (l *load) take(s *slot) (err error) {
	l.count++
	s.number = l.count
	s.allocs++
	s.at, err = l.t.Alloc(costSize, s.tag)
	return err
}

// Work gives blocks back and takes others in their place.
func (l *load) Work(operations int) error {
	for range operations {
		s := &l.held[l.next[l.at]]
		if l.at++; l.at == len(l.next) {
			l.at = 0
		}
		if err := l.t.Free(s.at); err != nil {
			return err
		}
		if err := l.take(s); err != nil {
			return err
		}
	}
	return nil
}

// Close has nothing to close.
func (l *load) Close() error { return nil }

func (l *load) Subject() allocator.Subject {
	u := &user{layout: costLayout, t: l.t}
	return allocator.Subject{Allocator: u, Student: l.t, Stats: u.stats}
}

// Past is empty: what was done shows by the Misses.
func (*load) Past() ([]allocator.Op, []sequence.Answer) { return nil, nil }

// Misses is 1 where a report is not what comes of all that was done.
func (l *load) Misses() uint64 {
	for _, s := range l.held {
		l.books.book(uint64(s.at), costSize, s.tag)
		l.books.live[uint64(s.at)] = contract.LiveBlock{Ptr: s.at, Size: costSize, Tag: s.tag, Number: s.number}
		l.books.tags[s.tag].Allocs += s.allocs - 1
	}
	l.books.total.Allocs = l.count
	for _, u := range l.books.sizes {
		u.Allocs = l.count
	}
	r := l.t.Report()
	gaps := l.books.gaps(uint64(costLayout.memory), costLayout.bytes)
	right := r.Live == l.books.total.Live && r.Peak == l.books.total.Peak && r.Count == len(l.held) &&
		r.PeakCount == len(l.held) &&
		r.Allocs == l.count && r.LargestFree == largest(gaps) && slices.Equal(r.BySize, l.books.bySize()) &&
		l.books.sameTags(r.ByTag) && l.books.sameBlocks(r.Blocks)
	if right {
		return 0
	}
	return 1
}
