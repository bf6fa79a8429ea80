// Blocks are linked in one array; streams have heads of lists, and a spare event that waits for the next stream.
package blockpool

import (
	"errors"
	"fmt"

	"cudalab/exercises/contract"
	"cudalab/native/cuda"
)

const (
	none  = -1 // the end of a list
	taken = -2
)

type head struct {
	first int
	event cuda.Event
	done  bool
}

type Pool struct {
	memory cuda.DevicePtr
	size   cuda.DevicePtr
	next   []int // by block: the next free one of the same stream, or taken
	began  int   // so many blocks were handed out at some time
	heads  []*head
	known  map[cuda.Stream]*head
	spare  []cuda.Event
	freeds int
	stats  contract.BlockPoolStats
	closed bool
}

func New(blockSize int64, blocks int) (*Pool, error) {
	switch {
	case blockSize <= 0, blockSize&255 != 0:
		return nil, fmt.Errorf("block size %d: %w", blockSize, contract.ErrArgument)
	case blocks <= 0:
		return nil, fmt.Errorf("%d blocks: %w", blocks, contract.ErrArgument)
	case blockSize*int64(blocks)/int64(blocks) != blockSize || blockSize*int64(blocks) < 0:
		return nil, fmt.Errorf("%d blocks of %d: %w", blocks, blockSize, contract.ErrArgument)
	}
	memory, err := cuda.Malloc(blockSize * int64(blocks))
	if err != nil {
		return nil, fmt.Errorf("block pool: %w", err)
	}
	event, err := cuda.EventCreateWithFlags(cuda.EventDisableTiming)
	if err != nil {
		return nil, errors.Join(err, cuda.Free(memory))
	}
	return &Pool{memory: memory, size: cuda.DevicePtr(blockSize), next: make([]int, blocks), known: map[cuda.Stream]*head{}, spare: []cuda.Event{event},
		stats: contract.BlockPoolStats{BlockSize: blockSize, Total: blocks}}, nil
}

func (p *Pool) pop(h *head) cuda.DevicePtr {
	i := h.first
	h.first = p.next[i]
	return p.give(i)
}

func (p *Pool) give(i int) cuda.DevicePtr {
	p.next[i] = taken
	p.stats.InUse++
	return p.memory + cuda.DevicePtr(i)*p.size
}

func (p *Pool) Alloc(s cuda.Stream) (cuda.DevicePtr, error) {
	if p.closed {
		return 0, contract.ErrClosed
	}
	if p.began < len(p.next) {
		p.began++
		return p.give(p.began - 1), nil
	}
	if h := p.known[s]; h != nil && h.first != none {
		return p.pop(h), nil
	}
	var last *head
	for _, h := range p.heads {
		if h.first == none {
			continue
		}
		if !h.done {
			err := cuda.EventQuery(h.event)
			if err != nil && !errors.Is(err, cuda.ErrorNotReady) {
				return 0, err
			}
			h.done = err == nil
		}
		if h.done {
			return p.pop(h), nil
		}
		last = h
	}
	if last == nil {
		return 0, fmt.Errorf("all %d blocks are out: %w", len(p.next), contract.ErrFull)
	}
	if err := cuda.StreamWaitEvent(s, last.event); err != nil {
		return 0, err
	}
	p.stats.Waits++
	return p.pop(last), nil
}

func (p *Pool) Free(ptr cuda.DevicePtr, s cuda.Stream) error {
	if p.closed {
		return contract.ErrClosed
	}
	i := (ptr - p.memory) / p.size
	if ptr < p.memory || i >= cuda.DevicePtr(len(p.next)) || p.memory+i*p.size != ptr || p.next[i] != taken {
		return contract.ErrInvalidFree
	}
	h := p.known[s]
	if h == nil {
		if len(p.spare) == 0 {
			event, err := cuda.EventCreateWithFlags(cuda.EventDisableTiming)
			if err != nil {
				return err
			}
			p.spare = append(p.spare, event)
		}
		h = &head{first: none, event: p.spare[0]}
	}
	if err := cuda.EventRecord(h.event, s); err != nil {
		return err
	}
	if p.known[s] == nil {
		p.known[s], p.spare = h, p.spare[1:]
		p.heads = append(p.heads, h)
	}
	p.next[i], h.first, h.done = h.first, int(i), false
	p.stats.InUse--
	return nil
}

func (p *Pool) Stats() contract.BlockPoolStats { return p.stats }

func (p *Pool) Close() error {
	if p.closed && len(p.heads)+len(p.spare) == 0 {
		return contract.ErrClosed
	}
	if !p.closed {
		if err := cuda.Free(p.memory); err != nil {
			return err
		}
		p.closed = true
	}
	for _, h := range p.heads {
		p.spare = append(p.spare, h.event)
	}
	p.heads = nil
	for len(p.spare) > 0 {
		if err := cuda.EventDestroy(p.spare[0]); err != nil {
			return err
		}
		p.spare = p.spare[1:]
	}
	return nil
}
