package blockpool

import (
	"math/rand/v2"
	"slices"

	"cudalab/grader/suite/allocator"
	"cudalab/grader/suite/sequence"
	"cudalab/native/cuda"
)

// Of the blocks that are out while time is measured so many are given back and taken in turns, each in one of so many
// streams.
const costStreams = 16

// cost times a Free and an Alloc with nearly all blocks handed out.
var cost = allocator.Cost[Make]{
	Name: "a block costs the same among 100 blocks and among 100,000", After: lastGap,
	Few: 100, Many: 100_000, Calls: "Alloc or Free",
	Load: func(make Make, blocks int, r *rand.Rand) allocator.Load {
		return &load{make: make, blocks: blocks, r: r}
	},
	Model:   func(_ sequence.Source, blocks int) allocator.Model { return modelOf(layout{costSize, blocks}) },
	Behind:  behind,
	Between: lab.Between,
	GrowthWords: allocator.GrowthWords{
		Operation: "a Free and an Alloc", Things: "blocks",
		Why: "A search through all blocks takes a time that grows with their number, and a pool is called in every " +
			"innermost loop.",
		Fix: "Keep the free blocks of each stream on a stack of its own, and find a block from its address by arithmetic: " +
			"subtract where the memory begins, divide by the block size.",
	},
}

// costSize is how many bytes a block has.
const costSize = 512

// load is a pool with most of its blocks handed out, over several streams.
type load struct {
	make    Make
	blocks  int
	p       Pool
	streams []cuda.Stream
	held    []cuda.DevicePtr
	next    []int // the blocks that are out, in an order without a pattern: which is exchanged next
	at      int   // in next
	r       *rand.Rand
}

func (l *load) Make() (err error) {
	if l.p, err = l.make(costSize, l.blocks); err != nil {
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

// Fill hands blocks out.
func (l *load) Fill(blocks int) (err error) {
	l.held, l.next = slices.Grow(l.held, blocks-len(l.held)), slices.Grow(l.next, blocks-len(l.next))
	for i := len(l.held); i < blocks; i++ {
		p, err := l.p.Alloc(l.streams[i%costStreams])
		if err != nil {
			return err
		}
		l.held = append(l.held, p)
		l.next = allocator.Shuffled(l.r, l.next, i)
	}
	return nil
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
		if err := l.p.Free(l.held[i], s); err != nil {
			return err
		}
		p, err := l.p.Alloc(s)
		if err != nil {
			return err
		}
		l.held[i] = p
	}
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

func (l *load) Subject() allocator.Subject { return subject(l.p, layout{costSize, l.blocks}) }

// Past: the blocks that are out, one after the other.
func (l *load) Past() (ops []allocator.Op, answers []sequence.Answer) {
	ops, answers = make([]allocator.Op, 0, len(l.held)), make([]sequence.Answer, 0, len(l.held))
	for i, p := range l.held {
		ops, answers = append(ops, alloc(allocator.Stream(1+i%costStreams))),
			append(answers, sequence.Answer{Addr: uint64(p)})
	}
	return ops, answers
}

// Misses: which blocks were wrong shows by those that are out.
func (*load) Misses() uint64 { return 0 }

// costTurns is how many operations of each kind there are when the clock has stopped.
const costTurns = 300

// behind draws mistakes while all is handed out, and gives back some of it and takes it again, in other streams.
func behind(r *rand.Rand, past []allocator.Op) (ops []allocator.Op) {
	stream := func() allocator.Stream { return allocator.Stream(1 + r.IntN(costStreams)) }
	for range costTurns {
		any := 1 + r.IntN(len(past))
		ops = append(ops, alloc(stream()), free(any, stream()), free(any, stream()), inside(any, 1+r.Int64N(255), stream()),
			alloc(stream()))
	}
	for range costTurns {
		ops = append(ops, free(1+r.IntN(len(past)), stream()))
	}
	for range costTurns {
		ops = append(ops, alloc(stream()))
	}
	return append(ops, shut, shut)
}
