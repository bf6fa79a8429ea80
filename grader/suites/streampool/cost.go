package streampool

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"cudalab/exercises/contract"
	"cudalab/grader/suite/allocator"
	"cudalab/grader/suite/sequence"
	"cudalab/native/cuda"
)

// What is out while time is measured, and in how many streams.
const (
	costStreams = 16
	costFew     = 100
	costMany    = 100_000
	costLargest = 4096   // bytes of a block
	costBeside  = 4      // so many blocks lie between two holes
	costHoles   = 2048   // of one that leaves a hole
	costAsked   = 65_536 // in vain
)

// cost times a Free and an Alloc with many blocks handed out, of sizes that differ, in streams that take turns.
var cost = allocator.Cost[Make]{
	Name: "a block costs the same among 100 pieces and among 100,000", After: lastGap,
	Few: costFew, Many: costMany, Calls: "Alloc or Free",
	Load: func(make Make, blocks int, r *rand.Rand) allocator.Load {
		return &load{make: make, layout: costLayout(blocks), r: r}
	},
	Model:   func(_ sequence.Source, blocks int) allocator.Model { return modelOf(costLayout(blocks), blocks) },
	Behind:  behind,
	Between: lab.Between,
	GrowthWords: allocator.GrowthWords{
		Operation: "a Free and an Alloc", Things: "blocks",
		Why: "A search through all pieces takes a time that grows with their number, and a pool is called in every " +
			"innermost loop.",
		Fix: "Keep each owner's free pieces in a freeSet, find neighbours by the chunk's list, and blocks that are out by " +
			"a map.",
	},
}

// failure times an Alloc that fails, among many holes that are too small.
var failure = allocator.Cost[Make]{
	ID: "failure", Name: "to say that there is no room costs the same among 100 holes and among 100,000", After: lastGap,
	Few: costFew, Many: costMany, Calls: "Alloc",
	Load: func(make Make, blocks int, r *rand.Rand) allocator.Load {
		return &holes{load: load{make: make, layout: costLayout(blocks), r: r}}
	},
	Model:   func(_ sequence.Source, blocks int) allocator.Model { return modelOf(costLayout(blocks), blocks) },
	Behind:  behind,
	Between: lab.Between,
	Missed: func(misses uint64) string {
		return fmt.Sprintf("Alloc should have answered contract.ErrFull, since no free bytes side by side were enough, but "+
			"%d times it answered something else", misses)
	},
	MissedWhy: "A block that lies over another one's bytes destroys what is there.",
	MissedFix: "Do the same work whatever the number of pieces.",
	GrowthWords: allocator.GrowthWords{
		Operation: "an Alloc that fails", Things: "holes",
		Why: "Who is out of memory asks again and again while it makes room, and a search through all pieces for each of " +
			"these takes seconds.",
		Fix: "Keep the stretches of free bytes in order of their length: the longest says at once whether there is room.",
	},
}

// costLayout is the pool of a load for so many blocks: all its memory is one chunk.
func costLayout(blocks int) layout {
	all := int64(blocks)*2*costLargest + 2*costAsked
	return layout{step: all, limit: all}
}

// load is a pool with many blocks handed out, over several streams.
type load struct {
	make    Make
	layout  layout
	up      *upstream
	p       Pool
	chunk   uint64
	streams []cuda.Stream
	held    []held
	next    []int // the blocks that are out, in an order without a pattern: which is exchanged next
	at      int   // in next
	misses  uint64
	r       *rand.Rand
}

// held is a block; at is 0 where it was given back.
type held struct {
	at   cuda.DevicePtr
	size int64
}

func (l *load) Make() (err error) {
	l.up = newUpstream(l.layout)
	if l.p, err = l.make(l.up.lend(), l.layout.step); err != nil {
		return err
	}
	for range costStreams {
		s, err := cuda.StreamCreateWithFlags(cuda.StreamNonBlocking)
		if err != nil {
			return err
		}
		l.streams = append(l.streams, s)
	}
	return nil
}

// Fill hands blocks out, and leaves holes between them, which come back in the order of their addresses: a tree that is
// not kept balanced becomes a list by that.
func (l *load) Fill(blocks int) error {
	var holes []cuda.DevicePtr
	l.held, l.next = slices.Grow(l.held, blocks-len(l.held)), slices.Grow(l.next, blocks-len(l.next))
	for i := len(l.held); i < blocks; i++ {
		if err := l.take(l.draw(), i); err != nil {
			return err
		}
		l.next = allocator.Shuffled(l.r, l.next, i)
		if i%costBeside > 0 {
			continue
		}
		at, err := l.p.Alloc(l.draw(), l.streams[i%costStreams])
		if err != nil {
			return err
		}
		holes = append(holes, at)
	}
	for i, at := range holes {
		if err := l.p.Free(at, l.streams[i%costStreams]); err != nil {
			return err
		}
	}
	l.settle()
	return nil
}

func (l *load) draw() int64 { return 2 + l.r.Int64N(costLargest-1) }

// take takes one more block.
func (l *load) take(size int64, i int) error {
	at, err := l.p.Alloc(size, l.streams[i%costStreams])
	l.held = append(l.held, held{at, size})
	return err
}

// settle forgets what the upstream was asked so far, but for the chunk.
func (l *load) settle() {
	entries(append([]int64{0}, l.up.log...), func(what, _ int64, at uint64) {
		if what == handedOut {
			l.chunk = at
		}
	})
	l.up.log = l.up.log[:0]
}

// Work gives blocks back and takes others in their place: half of them in one stream, and half in streams that take
// turns.
func (l *load) Work(operations int) error {
	for n := range operations {
		i := l.next[l.at]
		if l.at++; l.at == len(l.next) {
			l.at = 0
		}
		s := l.streams[0]
		if n%2 == 1 {
			s = l.streams[n/2%costStreams]
		}
		h := &l.held[i]
		if err := l.p.Free(h.at, s); err != nil {
			return err
		}
		if n%8 == 0 {
			h.size = l.draw()
		}
		at, err := l.p.Alloc(h.size, s)
		if err != nil {
			return err
		}
		h.at = at
	}
	l.settle()
	return nil
}

func (l *load) Close() error {
	if err := l.p.Close(); err != nil {
		return err
	}
	return l.Leave()
}

// Leave gives the streams back when the pool is closed.
func (l *load) Leave() error {
	for _, s := range l.streams {
		if err := cuda.StreamDestroy(s); err != nil {
			return err
		}
	}
	l.streams = nil
	return nil
}

func (l *load) Subject() allocator.Subject { return subject(l.p, l.up) }

// Past: the blocks that are out, one after the other, from what the upstream has handed out.
func (l *load) Past() (ops []allocator.Op, answers []sequence.Answer) {
	l.settle()
	ops, answers = make([]allocator.Op, 0, len(l.held)), make([]sequence.Answer, 0, len(l.held))
	for i, h := range l.held {
		if h.at == 0 {
			continue
		}
		a := sequence.Answer{Addr: uint64(h.at)}
		if len(ops) == 0 {
			seen := []int64{past, handedOut, l.layout.step, int64(l.chunk)}
			if l.up.least > 0 {
				seen = append(seen, refused, l.up.least, 0)
			}
			a = a.With(sequence.Details{Seen: seen})
		}
		ops, answers = append(ops, alloc(h.size, allocator.Stream(1+i%costStreams))), append(answers, a)
	}
	return ops, answers
}

// Misses is how many Allocs did not fail that should have.
func (l *load) Misses() uint64 { return l.misses }

// holes is a pool with nothing free but holes between blocks.
type holes struct {
	load
	plug cuda.DevicePtr // what takes the rest
	size int64          // of that
}

// Fill makes as many holes.
func (l *holes) Fill(blocks int) error {
	if l.plug != 0 {
		if err := l.p.Free(l.plug, l.streams[0]); err != nil {
			return err
		}
	}
	made := len(l.held)
	l.held = slices.Grow(l.held, 2*blocks-made)
	for i := made; i < 2*blocks; i++ {
		if err := l.take(2+l.r.Int64N(costHoles-1), i/2); err != nil {
			return err
		}
	}
	for i := made; i < 2*blocks; i += 2 {
		if err := l.p.Free(l.held[i].at, l.streams[i/2%costStreams]); err != nil {
			return err
		}
		l.held[i].at = 0
	}
	l.size = l.p.Stats().LargestFree
	plug, err := l.p.Alloc(l.size, l.streams[0])
	l.plug = plug
	l.settle()
	return err
}

// Work asks in vain, in streams that take turns.
func (l *holes) Work(operations int) error {
	for n := range operations {
		if _, err := l.p.Alloc(costAsked, l.streams[n%costStreams]); !errors.Is(err, contract.ErrFull) {
			l.misses++
		}
	}
	l.settle()
	return nil
}

// Past: the plug is out as well.
func (l *holes) Past() ([]allocator.Op, []sequence.Answer) {
	l.held = append(l.held, held{l.plug, l.size})
	return l.load.Past()
}

// costTurns is how many operations of each kind there are when the clock has stopped.
const costTurns = 200

// behind draws mistakes while all is handed out, and gives back some of it and takes it again, in other streams.
func behind(r *rand.Rand, past []allocator.Op) (ops []allocator.Op) {
	stream := func() allocator.Stream { return allocator.Stream(1 + r.IntN(costStreams)) }
	size := func() int64 { return 2 + r.Int64N(costLargest-1) }
	for range costTurns {
		any := 1 + r.IntN(len(past))
		ops = append(ops, alloc(size(), stream()), free(any, stream()), free(any, stream()), inside(any, 1+r.Int64N(255),
			stream()), alloc(size(), stream()), alloc(1<<40, stream()))
	}
	for range costTurns {
		ops = append(ops, free(1+r.IntN(len(past)), stream()))
	}
	for range costTurns {
		ops = append(ops, alloc(size(), stream()))
	}
	return append(ops, shut, shut)
}
