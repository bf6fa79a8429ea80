package streampool

import (
	"slices"

	"cudalab/grader/suite/allocator"
	"cudalab/grader/suite/sequence"
)

// nobody owns what is out, and what a pool may have made another stream's.
const nobody allocator.Stream = 0

// land is the chunks of a pool in parts: blocks that are out, and free bytes with the stream that a pool has to know as
// their owner.
type land struct {
	parts []part
	apart bool // what is free stays in the parts in which it came free
}

// settle takes in an operation that is over.
func (l *land) settle(x *allocator.Step) {
	entries(x.Seen(), func(what, size int64, at uint64) {
		switch what {
		case handedOut:
			l.grow(at, at+uint64(size), x.Stream)
		case takenBack:
			l.parts = slices.DeleteFunc(l.parts, func(p part) bool { return p.chunk == at })
		}
	})
	if x.Err != sequence.Nil {
		return
	}
	switch x.Kind {
	case allocator.KindAlloc:
		l.take(x.Addr, x.Addr+uint64(need(x.Size)), l.chunkOf(x.Addr), x.Stream)
	case allocator.KindFree, allocator.KindFreeInside, allocator.KindFreeUnknown:
		l.give(x.Addr, x.Stream)
	}
}

// chunkOf is the chunk that an address lies in.
func (l *land) chunkOf(at uint64) uint64 {
	for _, p := range l.parts {
		if p.lo <= at && at < p.hi {
			return p.chunk
		}
	}
	return at
}

// part is bytes of a chunk.
type part struct {
	lo, hi, chunk uint64
	owner         allocator.Stream
	out           bool
	fresh         bool   // nobody has had them
	whole         uint64 // the most of them that came free at once
}

// grow adds a chunk that a stream has made the pool get.
func (l *land) grow(lo, hi uint64, by allocator.Stream) {
	l.add(part{lo: lo, hi: hi, chunk: lo, owner: by, fresh: true, whole: hi - lo})
}

// add adds a part, and joins it with those beside it that are like it.
func (l *land) add(p part) {
	i, _ := slices.BinarySearchFunc(l.parts, p.lo, func(q part, lo uint64) int {
		if q.lo < lo {
			return -1
		}
		return 1
	})
	l.parts = slices.Insert(l.parts, i, p)
	if l.apart {
		return
	}
	l.joinAt(i)
	if i > 0 {
		l.joinAt(i - 1)
	}
}

// joinAt joins a part with the next, if they are alike.
func (l *land) joinAt(i int) {
	if i+1 >= len(l.parts) {
		return
	}
	p, q := &l.parts[i], l.parts[i+1]
	if p.hi == q.lo && p.chunk == q.chunk && !p.out && !q.out && p.owner == q.owner && p.fresh == q.fresh {
		p.hi, p.whole = q.hi, max(p.whole, q.whole)
		l.parts = slices.Delete(l.parts, i+1, i+2)
	}
}

// take hands bytes out to a stream. The rest of what it takes from others is nobody's from now on.
func (l *land) take(lo, hi, chunk uint64, by allocator.Stream) {
	for i := 0; i < len(l.parts); {
		p := l.parts[i]
		if p.out || p.hi <= lo || hi <= p.lo {
			i++
			continue
		}
		rest := p
		if rest.owner != by {
			rest.owner = nobody
		}
		var left []part
		if p.lo < lo {
			left = append(left, part{p.lo, lo, p.chunk, rest.owner, false, p.fresh, min(p.whole, lo-p.lo)})
		}
		if hi < p.hi {
			left = append(left, part{hi, p.hi, p.chunk, rest.owner, false, p.fresh, min(p.whole, p.hi-hi)})
		}
		l.parts = slices.Replace(l.parts, i, i+1, left...)
		i += len(left)
	}
	l.add(part{lo: lo, hi: hi, chunk: chunk, out: true})
}

// give takes a block back in a stream.
func (l *land) give(lo uint64, in allocator.Stream) {
	for i, p := range l.parts {
		if p.out && p.lo == lo {
			l.parts = slices.Delete(l.parts, i, i+1)
			l.add(part{lo: p.lo, hi: p.hi, chunk: p.chunk, owner: in, whole: p.hi - p.lo})
			return
		}
	}
}

// disown makes a stream's bytes nobody's.
func (l *land) disown(s allocator.Stream) {
	for i := range l.parts {
		if l.parts[i].owner == s {
			l.parts[i].owner = nobody
		}
	}
}

// mix makes nobody's what lies side by side and is of several owners: the pool may have joined it.
func (l *land) mix() {
	mixed := make([]bool, len(l.parts))
	for i := range l.parts[:max(len(l.parts)-1, 0)] {
		p, q := l.parts[i], l.parts[i+1]
		if !p.out && !q.out && p.chunk == q.chunk && p.hi == q.lo && p.owner != q.owner {
			mixed[i], mixed[i+1] = true, true
		}
	}
	for i := range l.parts {
		if mixed[i] {
			l.parts[i].owner = nobody
		}
	}
}

// suffices finds bytes of one owner that are enough: of a stream, or, for nobody, of any.
func (l *land) suffices(size uint64, s allocator.Stream) (part, bool) {
	for _, p := range l.parts {
		if !p.out && p.owner != nobody && (s == nobody || p.owner == s) && p.hi-p.lo >= size {
			return p, true
		}
	}
	return part{}, false
}
