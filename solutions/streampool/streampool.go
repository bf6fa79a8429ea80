// Package streampool is the exercise stream-pool: one pool for blocks of every size and any number of streams. Nobody waits who need not,
// nothing is lost between streams, and the pool says quickly that it is full.
package streampool

import (
	"errors"
	"fmt"
	"slices"

	"cudalab/exercises/contract"
	"cudalab/native/cuda"
)

// Pool hands out blocks of the memory that it has from an upstream. That comes in chunks, and a chunk is cut into pieces: blocks that are
// out, and free bytes that were given back in one stream each. Any number of pools may be in use at once, in the same
// streams or in others, and a pool in any number of streams.
//
// As long as it was given one stream alone it needs no order, and makes no call for any. Events are used again: it
// makes two at most for each stream that comes and one for each piece, out or free, that there was at one time. When
// it makes one, it has eight at most left of forgotten streams that own nothing any more.
type Pool struct {
	up     contract.Upstream
	step   int64
	chunks []*chunk
	out    map[cuda.DevicePtr]*piece // what is handed out, by where it begins
	free   stretches                 // all that is free, whosever it is

	owners map[cuda.Stream]*owner // of the streams that may be used
	seen   []*owner               // the same, and those of forgotten streams that still own something, in the order in which they came
	shared bool                   // more than one stream may own something: every Free records, and every new chunk
	spare  []cuda.Event           // of owners that are gone

	refusedSize int64 // the least that the upstream has refused since it was given something back; 0: nothing
	refusal     error // what it said then

	reserved, inUse int64
	waits           int
	closed          bool // nothing is handed out any more
}

// chunk is one allocation of the upstream's.
type chunk struct {
	first *piece
	size  int64
	used  int    // blocks that are out
	spare *piece // the last that was joined to another, for the next that is split off
}

// piece is a part of a chunk: a block that is out, or free bytes side by side of one owner.
type piece struct {
	at         cuda.DevicePtr
	size       int64
	chunk      *chunk
	prev, next *piece // its neighbours in the chunk; nil at the ends
	owner      *owner // nil: it is handed out
}

// owner is a stream, or a forgotten one, with the free bytes that were given back in it, and those that came with a
// chunk and that nobody has had. Once the pool is shared they are free behind the event.
type owner struct {
	stream    cuda.Stream
	event     cuda.Event
	made      bool // there is an event
	recorded  bool // the event stands behind the last Free in the stream and its last chunk, and was not seen done since
	forgotten bool // no call may name the stream
	free      freeSet
}

// checkStep answers contract.ErrArgument, or an error that wraps it, to a step that is no multiple of 256 above 0.
func checkStep(step int64) error {
	if step <= 0 || step%256 != 0 {
		return fmt.Errorf("%w: a step of %d bytes, which is no multiple of 256 above 0", contract.ErrArgument, step)
	}
	return nil
}

// rounded is a size rounded up to a multiple of 256, or contract.ErrSize for one below 1 or above 1<<62.
func rounded(size int64) (int64, error) {
	if size < 1 || size > 1<<62 {
		return 0, fmt.Errorf("%w: %d bytes", contract.ErrSize, size)
	}
	return (size + 255) / 256 * 256, nil
}

// New makes a pool that takes memory from up when it needs it, step bytes at a time, or more where one block needs more. step has to be a
// multiple of 256 above 0, and may be any; else New answers contract.ErrArgument, and a nil Pool. It calls neither up
// nor CUDA. Memory goes back to up in Trim and Close, and where Alloc answers an error.
//
// A chunk is there for the stream that Alloc was given, and what the block leaves of it is that stream's, as if it had
// been given back there when the chunk came: who takes it elsewhere waits for that.
func New(up contract.Upstream, step int64) (*Pool, error) {
	if err := checkStep(step); err != nil {
		return nil, err
	}
	return &Pool{up: up, step: step, out: map[cuda.DevicePtr]*piece{}, owners: map[cuda.Stream]*owner{}}, nil
}

// Alloc hands out size bytes, rounded up to a multiple of 256, for the work that comes into s from now on. It never has the host wait. It
// takes, in this order:
//
//   - bytes of s: side by side in one chunk, given back in s, or come with a chunk that s made the pool get;
//   - bytes of another stream that is through with everything up to its last Free or its last new chunk here;
//   - new memory: a chunk of step bytes, or of what the block needs if that is more or if the upstream refuses the step;
//   - bytes of one other stream, or of several: then s waits for each of them, up to the same place.
//
// A size below 1 or above 1<<62 is contract.ErrSize. If there is no room, that is if no free bytes side by side in one chunk are enough,
// whosever they are, and the upstream has refused, Alloc answers an error that is contract.ErrFull and, where it has asked the upstream, also
// the upstream's. It answers contract.ErrClosed after Close. Another error of CUDA's is returned, and the pool is as it was before.
//
// One Alloc asks no event twice, and has s wait for none twice. It records in no stream but s, except in the first
// when the second comes.
func (p *Pool) Alloc(size int64, s cuda.Stream) (cuda.DevicePtr, error) {
	if p.closed {
		return 0, contract.ErrClosed
	}
	size, err := rounded(size)
	if err != nil {
		return 0, err
	}
	o, err := p.arrive(s)
	if err != nil {
		return 0, err
	}
	if err := p.hopeless(size); err != nil {
		return 0, err
	}
	var x *piece
	for _, way := range []func(*owner, int64) (*piece, error){p.fit, p.done, p.grow, p.steal, p.merge} {
		if x, err = way(o, size); err != nil {
			return 0, err
		}
		if x != nil {
			p.handOut(x)
			return x.at, nil
		}
	}
	return 0, p.noRoom()
}

// noRoom is contract.ErrFull with what the upstream has said.
func (p *Pool) noRoom() error { return fmt.Errorf("%w: %w", contract.ErrFull, p.refusal) }

// handOut counts a piece among those that are out.
func (p *Pool) handOut(x *piece) {
	p.free.occupy(x)
	p.out[x.at] = x
	x.chunk.used++
	p.inUse += x.size
}

// fit takes size bytes of the smallest free piece of o's that has as many, which then have no owner. What is too much of it stays o's. It
// answers nil if o has no such piece.
func (p *Pool) fit(o *owner, size int64) (*piece, error) {
	x := o.free.AtLeast(size)
	if x == nil {
		return nil, nil
	}
	o.remove(x)
	if x.size > size {
		o.add(x.split(size))
	}
	return x, nil
}

// add makes a piece free, and o's.
func (o *owner) add(x *piece) {
	x.owner = o
	o.free.Insert(x.size, x.at, x)
}

// remove makes a piece nobody's.
func (o *owner) remove(x *piece) {
	x.owner = nil
	o.free.Delete(x.size, x.at)
}

// split cuts a piece that is nobody's behind so many bytes, and answers the rest, which is nobody's either.
func (x *piece) split(size int64) *piece {
	rest := x.chunk.spare
	if x.chunk.spare = nil; rest == nil {
		rest = &piece{}
	}
	*rest = piece{at: x.at + cuda.DevicePtr(size), size: x.size - size, chunk: x.chunk, prev: x, next: x.next}
	if x.next != nil {
		x.next.prev = rest
	}
	x.size, x.next = size, rest
	return rest
}

// join makes a piece and its next neighbour, both nobody's, one: the neighbour is no more.
func (x *piece) join() {
	x.chunk.spare = x.next
	x.size += x.next.size
	if x.next = x.next.next; x.next != nil {
		x.next.prev = x
	}
}

// Free takes back the block that begins at ptr. All use of it comes before what is in s next: in s itself, or in streams that s waits
// for by now. It answers contract.ErrInvalidFree if ptr is not where a block begins that is handed out, before any CUDA call, and
// contract.ErrClosed after Close. An error of CUDA's is returned; then the block is still handed out, and Free may be called again.
//
// It has neither the host wait nor s. It records one event in s at most, and in no other stream, except in the first
// when the second comes.
func (p *Pool) Free(ptr cuda.DevicePtr, s cuda.Stream) error {
	if p.closed {
		return contract.ErrClosed
	}
	x := p.out[ptr]
	if x == nil {
		return contract.ErrInvalidFree
	}
	o, err := p.arrive(s)
	if err != nil {
		return err
	}
	if p.shared {
		if err := p.record(o); err != nil {
			return err
		}
	}
	delete(p.out, ptr)
	x.chunk.used--
	p.inUse -= x.size
	p.free.vacate(x)
	return p.giveBack(x, o)
}

// giveBack makes a piece that is nobody's a free one of o's, as one with those beside it that are o's.
func (p *Pool) giveBack(x *piece, o *owner) error {
	if next := x.next; next != nil && next.owner == o {
		o.remove(next)
		x.join()
	}
	if prev := x.prev; prev != nil && prev.owner == o {
		o.remove(prev)
		prev.join()
		x = prev
	}
	o.add(x)
	return nil
}

// arrive is the owner of a stream, made now if the stream is new here. As long as there is only one stream nothing is recorded: its order does
// all. When the second comes, the first has to record where its last Free was, or later.
func (p *Pool) arrive(s cuda.Stream) (*owner, error) {
	if o := p.owners[s]; o != nil {
		return o, nil
	}
	if !p.shared && len(p.seen) == 1 {
		if err := p.record(p.seen[0]); err != nil {
			return nil, err
		}
		p.shared = true
	}
	o := &owner{stream: s}
	p.owners[s] = o
	p.seen = append(p.seen, o)
	return o, nil
}

// record records o's event in its stream, behind all that is there now.
func (p *Pool) record(o *owner) (err error) {
	if !o.made && len(p.spare) == 0 {
		p.sweep()
	}
	if last := len(p.spare) - 1; !o.made && last >= 0 {
		o.event, o.made = p.spare[last], true
		p.spare = p.spare[:last]
	}
	if !o.made {
		if o.event, err = cuda.EventCreateWithFlags(cuda.EventDisableTiming); err != nil {
			return err
		}
		o.made = true
	}
	if err := cuda.EventRecord(o.event, o.stream); err != nil {
		return err
	}
	o.recorded = true
	return nil
}

// done takes size bytes of another owner whose stream is through with all up to its last Free or its last new chunk here.
// It answers nil if there is no such owner, and asks each with enough bytes side by side once.
func (p *Pool) done(o *owner, size int64) (*piece, error) {
	for _, other := range p.seen {
		if other == o || other.free.AtLeast(size) == nil {
			continue
		}
		if other.recorded {
			err := cuda.EventQuery(other.event)
			if errors.Is(err, cuda.ErrorNotReady) {
				continue
			}
			if err != nil {
				return nil, err
			}
			other.recorded = false // it need not be asked again before it is recorded again
		}
		return p.fit(other, size)
	}
	return nil, nil
}

// grow takes size bytes of a new chunk, whose rest is o's: step bytes, or size if that is more, or if the upstream refuses
// the step. The memory is there for o's stream, and for others behind o's event. What the upstream has refused it is
// not asked for again, nor for more, until it is given something back. It answers nil if it refuses all.
func (p *Pool) grow(o *owner, size int64) (*piece, error) {
	for _, bytes := range []int64{max(p.step, size), size} {
		if p.refused(bytes) {
			continue
		}
		at, err := p.up.Malloc(bytes, o.stream)
		if err != nil {
			p.refusedSize, p.refusal = bytes, err
			continue
		}
		if p.shared {
			if err := p.record(o); err != nil { // then no other stream could be made to wait for the chunk
				return nil, errors.Join(err, p.up.Free(at))
			}
		}
		x := &piece{at: at, size: bytes}
		x.chunk = &chunk{first: x, size: bytes}
		p.chunks = append(p.chunks, x.chunk)
		p.reserved += bytes
		p.free.vacate(x)
		o.add(x)
		return p.fit(o, size)
	}
	return nil, nil
}

// refused reports whether the upstream has refused so much, or less, since it was given something back.
func (p *Pool) refused(bytes int64) bool { return p.refusedSize > 0 && bytes >= p.refusedSize }

// steal takes size bytes of one other owner, and has o's stream wait for that. What is too much stays the other owner's, whose event it is
// free behind. It answers nil if nobody has so many bytes side by side.
func (p *Pool) steal(o *owner, size int64) (*piece, error) {
	for _, other := range p.seen {
		if other == o || other.free.AtLeast(size) == nil {
			continue
		}
		if err := cuda.StreamWaitEvent(o.stream, other.event); err != nil {
			return nil, err
		}
		p.waits++
		return p.fit(other, size)
	}
	return nil, nil
}

// merge takes size bytes of several owners, side by side in one chunk, and has o's stream wait for all the others of them. What is too much
// of the last piece stays its owner's. It answers nil if there are not so many free bytes side by side anywhere.
func (p *Pool) merge(o *owner, size int64) (*piece, error) {
	first := p.free.atLeast(size)
	if first == nil {
		return nil, nil
	}
	waited := map[*owner]bool{o: true}
	for x, bytes := first, int64(0); bytes < size; x = x.next {
		if other := x.owner; !waited[other] && other.recorded {
			if err := cuda.StreamWaitEvent(o.stream, other.event); err != nil {
				return nil, err
			}
			waited[other] = true
		}
		bytes += x.size
	}
	if len(waited) > 1 {
		p.waits++
	}
	first.owner.remove(first)
	for first.size < size {
		next := first.next
		owner := next.owner
		owner.remove(next)
		if first.size+next.size > size {
			owner.add(next.split(size - first.size))
		}
		first.join()
	}
	return first, nil
}

// hopeless answers that there is no room where that is known without a look at any owner: no free bytes side by side are enough, and the
// upstream has refused as much already. Else it answers nil.
func (p *Pool) hopeless(size int64) error {
	if p.refused(size) && p.free.longest() < size {
		return p.noRoom()
	}
	return nil
}

// Forget is called before the caller destroys s. From then on the pool makes no call with s, until it is given s again; what was freed there
// stays usable. It does not have the host wait. A stream that the pool does not know is forgotten already. It answers contract.ErrClosed after
// Close. An error of CUDA's is returned, and the stream is not forgotten.
func (p *Pool) Forget(s cuda.Stream) error {
	if p.closed {
		return contract.ErrClosed
	}
	o := p.owners[s]
	if o == nil {
		return nil
	}
	if !p.shared {
		if err := p.record(o); err != nil {
			return err
		}
		p.shared = true
	}
	o.forgotten = true
	delete(p.owners, s)
	p.sweep()
	return nil
}

// sweep takes those of forgotten streams off p.seen that own nothing any more, and keeps their events for others.
func (p *Pool) sweep() {
	p.seen = slices.DeleteFunc(p.seen, func(o *owner) bool {
		gone := o.forgotten && o.free.root == nil
		if gone && o.made {
			p.spare = append(p.spare, o.event)
		}
		return gone
	})
}

// Trim gives wholly free chunks back to the upstream, in any order, until none is left that can go with keep bytes still held. Before a chunk
// goes, the host waits until the device is through with what was given back in it. A keep below 0 is contract.ErrArgument.
// An error of CUDA's or of the upstream's is returned; what is not given back then is as usable as before.
func (p *Pool) Trim(keep int64) error {
	switch {
	case p.closed:
		return contract.ErrClosed
	case keep < 0:
		return fmt.Errorf("%w: to keep %d bytes", contract.ErrArgument, keep)
	}
	for _, c := range slices.Clone(p.chunks) {
		if c.used > 0 || p.reserved-c.size < keep {
			continue
		}
		for x := c.first; x != nil; x = x.next {
			if err := p.settle(x.owner); err != nil {
				return err
			}
		}
		if err := p.release(c); err != nil {
			return err
		}
		p.free.occupy(&piece{at: c.first.at, size: c.size})
		for x := c.first; x != nil; x = x.next {
			x.owner.remove(x)
		}
	}
	return nil
}

// settle has the host wait until the device is through with what was given back to an owner.
func (p *Pool) settle(o *owner) error {
	switch {
	case o.recorded:
		return cuda.EventSynchronize(o.event)
	case !p.shared:
		return cuda.StreamSynchronize(o.stream)
	}
	return nil // it was seen done
}

// release gives a chunk back to the upstream.
func (p *Pool) release(c *chunk) error {
	if err := p.up.Free(c.first.at); err != nil {
		return err
	}
	last := len(p.chunks) - 1
	p.chunks[slices.Index(p.chunks, c)] = p.chunks[last] // where there are many, moving all of them would take long
	p.chunks = p.chunks[:last]
	p.reserved -= c.size
	p.refusedSize, p.refusal = 0, nil
	return nil
}

// Stats is how the pool stands.
func (p *Pool) Stats() contract.PoolStats {
	return contract.PoolStats{Reserved: p.reserved, InUse: p.inUse, LargestFree: p.free.longest(), Chunks: len(p.chunks), Waits: p.waits}
}

// Close gives all chunks back to the upstream, blocks that are still out included, and the events to CUDA. Before, the host waits until the
// device is through with all that was given back; the caller has finished with the other blocks. It answers an error of CUDA's or of the
// upstream's, and can then be called again, for what is left; nothing that has gone is handed out, and the others may
// answer contract.ErrClosed by then. Once it has succeeded, every call that returns an error does.
func (p *Pool) Close() error {
	if p.closed && p.seen == nil { // which goes last
		return contract.ErrClosed
	}
	if !p.closed && len(p.chunks) > 0 {
		for _, o := range p.seen {
			if err := p.settle(o); err != nil {
				return err
			}
		}
	}
	for len(p.chunks) > 0 {
		if err := p.release(p.chunks[0]); err != nil {
			return err
		}
		p.closed = true // its bytes are still among the free ones
	}
	for _, o := range p.seen {
		if o.made {
			if err := cuda.EventDestroy(o.event); err != nil {
				return err
			}
			o.made, p.closed = false, true
		}
	}
	for len(p.spare) > 0 {
		if err := cuda.EventDestroy(p.spare[0]); err != nil {
			return err
		}
		p.spare = p.spare[1:]
	}
	p.seen, p.closed = nil, true
	return nil
}

// What follows is complete: two lists of free memory, which find in a number of steps that grows with the logarithm of their length.

// stretches are the longest free bytes side by side in a chunk, each of any number of pieces of any owners.
type stretches struct {
	bySize, byEnd freeSet
	late          *piece // occupied, but still in its stretch: mostly it is vacated next, and then nothing has to be done
}

// atLeast is the first piece of the shortest stretch of at least so many bytes; nil: there is none.
func (f *stretches) atLeast(size int64) *piece {
	f.catchUp()
	return f.bySize.AtLeast(size)
}

// longest is the size of the longest stretch.
func (f *stretches) longest() int64 {
	f.catchUp()
	return f.bySize.Largest()
}

// occupy takes the bytes of a piece out of their stretch, at the latest when another piece is occupied or vacated, or a stretch is looked for.
func (f *stretches) occupy(x *piece) {
	f.catchUp()
	f.late = x
}

// catchUp takes the bytes of the late piece out of their stretch.
func (f *stretches) catchUp() {
	x := f.late
	if f.late = nil; x == nil {
		return
	}
	n := f.byEnd.atLeast(int64(x.at) + 1)
	first, behind := n.piece, x.at+cuda.DevicePtr(x.size)
	if behind < cuda.DevicePtr(n.size) {
		f.begin(n, x.next)
	} else {
		f.take(n)
	}
	if first.at < x.at {
		f.put(first, x.at)
	}
}

// vacate makes one stretch of a piece and the free ones beside it.
func (f *stretches) vacate(x *piece) {
	if f.late == x {
		f.late = nil
		return
	}
	f.catchUp()
	first := x
	if x.prev != nil && x.prev.owner != nil {
		n := f.byEnd.atLeast(int64(x.at))
		first = n.piece
		f.take(n)
	}
	if x.next != nil && x.next.owner != nil {
		f.begin(f.byEnd.atLeast(int64(x.next.at)+1), first)
		return
	}
	f.put(first, x.at+cuda.DevicePtr(x.size))
}

// begin has a stretch begin at another piece, and end where it ends.
func (f *stretches) begin(n *node, first *piece) {
	f.bySize.Delete(n.size-int64(n.piece.at), n.piece.at)
	n.piece = first
	f.bySize.Insert(n.size-int64(first.at), first.at, first)
}

// take takes a stretch off.
func (f *stretches) take(n *node) {
	f.bySize.Delete(n.size-int64(n.piece.at), n.piece.at)
	f.byEnd.Delete(n.size, 0)
}

// put adds a stretch.
func (f *stretches) put(first *piece, end cuda.DevicePtr) {
	f.byEnd.Insert(int64(end), 0, first)
	f.bySize.Insert(int64(end-first.at), first.at, first)
}

// freeSet is free pieces, ordered by (size, address): a tree in which a node comes above those of lower priority. The priorities are as good as
// drawn at random, so the tree is about as deep as the logarithm of its size.
type freeSet struct {
	root  *node
	spare *node  // the last that was taken off, for the next that is added
	drawn uint64 // the last priority
}

type node struct {
	size        int64
	at          cuda.DevicePtr
	piece       *piece
	priority    uint64
	left, right *node
}

// before reports whether a node comes before a place in the order.
func (n *node) before(size int64, at cuda.DevicePtr) bool {
	return n.size < size || n.size == size && n.at < at
}

// Insert adds a piece under its size and address.
func (s *freeSet) Insert(size int64, at cuda.DevicePtr, x *piece) {
	n := s.spare
	if s.spare = nil; n == nil {
		n = &node{}
	}
	s.drawn = s.drawn*0x5851F42D4C957F2D + 0x14057B7EF767814F // the next of numbers without a pattern
	*n = node{size: size, at: at, piece: x, priority: s.drawn}
	link := &s.root
	for *link != nil && (*link).priority >= n.priority {
		if (*link).before(size, at) {
			link = &(*link).right
		} else {
			link = &(*link).left
		}
	}
	n.left, n.right = (*link).cut(size, at)
	*link = n
}

// cut cuts a tree in two: what comes before a place, and the rest.
func (n *node) cut(size int64, at cuda.DevicePtr) (before, rest *node) {
	switch {
	case n == nil:
		return nil, nil
	case n.before(size, at):
		n.right, rest = n.right.cut(size, at)
		return n, rest
	}
	before, n.left = n.left.cut(size, at)
	return before, n
}

// Delete takes off what was added under a size and an address, if anything was.
func (s *freeSet) Delete(size int64, at cuda.DevicePtr) {
	link := &s.root
	for *link != nil && ((*link).size != size || (*link).at != at) {
		if (*link).before(size, at) {
			link = &(*link).right
		} else {
			link = &(*link).left
		}
	}
	if *link != nil {
		s.spare = *link
		*link = glue(s.spare.left, s.spare.right)
	}
}

// glue makes one tree of two, of which one comes before the other.
func glue(before, rest *node) *node {
	switch {
	case before == nil:
		return rest
	case rest == nil:
		return before
	case before.priority >= rest.priority:
		before.right = glue(before.right, rest)
		return before
	}
	rest.left = glue(before, rest.left)
	return rest
}

// AtLeast is the smallest piece of at least so many bytes, of several the lowest; nil: there is none.
func (s *freeSet) AtLeast(size int64) *piece {
	if n := s.atLeast(size); n != nil {
		return n.piece
	}
	return nil
}

func (s *freeSet) atLeast(size int64) (found *node) {
	for n := s.root; n != nil; {
		if n.size >= size {
			found, n = n, n.left
		} else {
			n = n.right
		}
	}
	return found
}

// Largest is the size of the largest piece; 0: there is none.
func (s *freeSet) Largest() (size int64) {
	for n := s.root; n != nil; n = n.right {
		size = n.size
	}
	return size
}
