// Package blockpool is the exercise block-pool: blocks of one size, for work in any number of streams. A block that is given back in a
// stream is free behind what is in that stream by then, and the pool sees to it that nobody gets it earlier.
package blockpool

import (
	"errors"
	"fmt"
	"math"

	"cudalab/exercises/contract"
	"cudalab/native/cuda"
)

// Pool hands out blocks of one size. Its memory is one allocation of CUDA's, in which the blocks lie side by side. Any
// number of pools may be in use at once, in the same streams or in others, and a pool in any number of streams.
type Pool struct {
	memory    cuda.DevicePtr
	blockSize int64
	out       []bool // by block: it is handed out
	fresh     int    // blocks from here on were never handed out
	inUse     int
	waits     int // see contract.BlockPoolStats

	queues map[cuda.Stream]*queue
	recent *queue   // the one of them that was asked for last
	seen   []*queue // the same, in the order in which the streams came
	closed bool     // nothing is handed out any more
}

// queue is the blocks that were given back in one stream. They are all free once the stream has come to the event.
type queue struct {
	stream cuda.Stream // only to know it by: it may be destroyed
	event  cuda.Event  // recorded behind the last Free in the stream
	free   []int       // the last of them is handed out next
}

// checkArguments is how many bytes all blocks have together. It answers contract.ErrArgument, or an error that wraps it,
// to what New cannot work with.
func checkArguments(blockSize int64, blocks int) (bytes int64, err error) {
	if blockSize <= 0 || blockSize%256 != 0 {
		return 0, fmt.Errorf("%w: blocks of %d bytes, which is no multiple of 256 above 0", contract.ErrArgument, blockSize)
	}
	if blocks < 1 {
		return 0, fmt.Errorf("%w: %d blocks", contract.ErrArgument, blocks)
	}
	if int64(blocks) > math.MaxInt64/blockSize {
		return 0, fmt.Errorf("%w: %d blocks of %d bytes are more than anybody can count", contract.ErrArgument, blocks, blockSize)
	}
	return blockSize * int64(blocks), nil
}

// New gets memory for blocks blocks of blockSize bytes, in one call of cuda.Malloc, before it makes anything else.
//
// blockSize has to be a multiple of 256 above 0, there has to be at least one block, and all together must not have more bytes than
// an int64 can count. Else New answers contract.ErrArgument before any CUDA call. An error of CUDA's is returned, and nothing is left
// behind. With any error the Pool is nil.
func New(blockSize int64, blocks int) (*Pool, error) {
	bytes, err := checkArguments(blockSize, blocks)
	if err != nil {
		return nil, err
	}
	memory, err := cuda.Malloc(bytes)
	if err != nil {
		return nil, err
	}
	return &Pool{memory: memory, blockSize: blockSize, out: make([]bool, blocks), queues: map[cuda.Stream]*queue{}}, nil
}

// Alloc hands out a block for the work that comes into s from now on. It never has the host wait. It takes, in this order:
//
//   - a block that was given back in s, or one that nobody has had, whichever it likes: no stream has to wait;
//   - a block that was given back in a stream which is through with everything up to its last Free here: no stream has to wait;
//   - any other free block: then s waits for the stream that it was given back in, up to its last Free here at most.
//
// It answers contract.ErrFull if all blocks are out, and contract.ErrClosed after Close. An error of CUDA's is returned, and the
// pool is as it was before.
func (p *Pool) Alloc(s cuda.Stream) (cuda.DevicePtr, error) {
	if p.closed {
		return 0, contract.ErrClosed
	}
	block, ok, err := p.own(s)
	if !ok && err == nil {
		block, ok, err = p.done()
	}
	if !ok && err == nil {
		block, ok, err = p.wait(s)
	}
	switch {
	case err != nil:
		return 0, err
	case !ok:
		return 0, contract.ErrFull
	}
	p.out[block] = true
	p.inUse++
	return p.memory + cuda.DevicePtr(block)*cuda.DevicePtr(p.blockSize), nil
}

// own takes a block that needs no edge at all: one that was given back in s, or one that nobody has had. It is not ok if
// there is neither.
func (p *Pool) own(s cuda.Stream) (block int, ok bool, err error) {
	if q := p.known(s); q != nil && len(q.free) > 0 {
		return q.take(), true, nil
	}
	if p.fresh < len(p.out) {
		p.fresh++
		return p.fresh - 1, true, nil
	}
	return 0, false, nil
}

// take takes the block off that was given back last.
func (q *queue) take() int {
	last := len(q.free) - 1
	block := q.free[last]
	q.free = q.free[:last]
	return block
}

// done takes a block of a stream that is through with all up to its last Free here. It is not ok if no stream with free blocks is, and
// asks each of them once.
func (p *Pool) done() (block int, ok bool, err error) {
	for _, q := range p.seen {
		if len(q.free) == 0 {
			continue
		}
		switch err := cuda.EventQuery(q.event); {
		case err == nil:
			return q.take(), true, nil
		case !errors.Is(err, cuda.ErrorNotReady):
			return 0, false, err
		}
	}
	return 0, false, nil
}

// wait takes any free block, and has s wait for the stream that it was given back in. It is not ok if no block is free.
func (p *Pool) wait(s cuda.Stream) (block int, ok bool, err error) {
	for _, q := range p.seen {
		if len(q.free) == 0 {
			continue
		}
		if err := cuda.StreamWaitEvent(s, q.event); err != nil {
			return 0, false, err
		}
		p.waits++
		return q.take(), true, nil
	}
	return 0, false, nil
}

// Free takes back the block that begins at ptr. All use of it comes before what is in s next: in s itself, or in streams that s waits
// for by now. It answers contract.ErrInvalidFree if ptr is not where a block begins that is handed out, before any CUDA call, and
// contract.ErrClosed after Close. An error of CUDA's is returned; then the block is still handed out, and Free may be called again.
func (p *Pool) Free(ptr cuda.DevicePtr, s cuda.Stream) error {
	if p.closed {
		return contract.ErrClosed
	}
	block, ok := p.blockAt(ptr)
	if !ok || !p.out[block] {
		return contract.ErrInvalidFree
	}
	q, err := p.queueOf(s)
	if err != nil {
		return err
	}
	if err := cuda.EventRecord(q.event, s); err != nil {
		return err
	}
	q.free = append(q.free, block)
	p.out[block] = false
	p.inUse--
	return nil
}

// blockAt is the block that begins at ptr.
func (p *Pool) blockAt(ptr cuda.DevicePtr) (block int, ok bool) {
	offset, size := ptr-p.memory, cuda.DevicePtr(p.blockSize)
	number := offset / size
	if ptr < p.memory || number*size != offset || number >= cuda.DevicePtr(len(p.out)) {
		return 0, false
	}
	return int(number), true
}

// known is the queue of a stream; nil if nothing was given back there yet.
func (p *Pool) known(s cuda.Stream) *queue {
	if p.recent == nil || p.recent.stream != s {
		p.recent = p.queues[s]
	}
	return p.recent
}

// queueOf is the queue of a stream, made now if the stream is new here.
func (p *Pool) queueOf(s cuda.Stream) (*queue, error) {
	if q := p.known(s); q != nil {
		return q, nil
	}
	event, err := cuda.EventCreateWithFlags(cuda.EventDisableTiming)
	if err != nil {
		return nil, err
	}
	q := &queue{stream: s, event: event}
	p.queues[s] = q
	p.seen = append(p.seen, q)
	return q, nil
}

// Stats is how the pool stands.
func (p *Pool) Stats() contract.BlockPoolStats {
	return contract.BlockPoolStats{BlockSize: p.blockSize, Total: len(p.out), InUse: p.inUse, Waits: p.waits}
}

// Close gives the memory and the events back to CUDA, blocks that are still out included; the caller has finished with all of them on
// the device, and may have destroyed streams by now. It answers an error of CUDA's, and can then be called again, for what is left;
// nothing that has gone is handed out, and Alloc and Free may answer contract.ErrClosed by then. Once it has succeeded,
// every call that returns an error does.
func (p *Pool) Close() error {
	if p.closed && len(p.seen) == 0 {
		return contract.ErrClosed
	}
	if !p.closed {
		if err := cuda.Free(p.memory); err != nil {
			return err
		}
		p.closed = true // without memory there is nothing to hand out, whatever is left
	}
	for len(p.seen) > 0 {
		if err := cuda.EventDestroy(p.seen[0].event); err != nil {
			return err
		}
		p.seen = p.seen[1:]
	}
	return nil
}
