// An event for each block, made when the block first comes back, and a list of blocks for each stream.
package blockpool

import (
	"errors"
	"math"

	"cudalab/exercises/contract"
	"cudalab/native/cuda"
)

type block struct {
	out     bool
	has     bool // an event
	event   cuda.Event
	pending bool // the event was not seen to be done since it was recorded
}

type Pool struct {
	memory cuda.DevicePtr
	size   int64
	blocks []block
	unused []int // nobody has had these
	lists  map[cuda.Stream]*[]int
	order  []cuda.Stream
	inUse  int
	waits  int
	closed bool
}

func New(blockSize int64, blocks int) (*Pool, error) {
	if blockSize < 256 || blockSize%256 != 0 || blocks < 1 || int64(blocks) > math.MaxInt64/blockSize {
		return nil, contract.ErrArgument
	}
	memory, err := cuda.Malloc(blockSize * int64(blocks))
	if err != nil {
		return nil, err
	}
	p := &Pool{memory: memory, size: blockSize, blocks: make([]block, blocks), lists: map[cuda.Stream]*[]int{}}
	for i := range blocks {
		p.unused = append(p.unused, i) // the last one goes first
	}
	return p, nil
}

func (p *Pool) Alloc(s cuda.Stream) (cuda.DevicePtr, error) {
	if p.closed {
		return 0, contract.ErrClosed
	}
	if list := p.lists[s]; list != nil && len(*list) > 0 {
		return p.hand(list, len(*list)-1), nil
	}
	if len(p.unused) > 0 {
		return p.hand(&p.unused, len(p.unused)-1), nil
	}
	var any *[]int
	for _, stream := range p.order {
		list := p.lists[stream]
		if len(*list) == 0 {
			continue
		}
		// The oldest of a stream's blocks is the first to be done.
		switch b := &p.blocks[(*list)[0]]; {
		case !b.pending:
			return p.hand(list, 0), nil
		default:
			err := cuda.EventQuery(b.event)
			if err == nil {
				b.pending = false
				return p.hand(list, 0), nil
			}
			if !errors.Is(err, cuda.ErrorNotReady) {
				return 0, err
			}
			any = list
		}
	}
	if any == nil {
		return 0, contract.ErrFull
	}
	if err := cuda.StreamWaitEvent(s, p.blocks[(*any)[0]].event); err != nil {
		return 0, err
	}
	p.waits++
	return p.hand(any, 0), nil
}

func (p *Pool) hand(list *[]int, i int) cuda.DevicePtr {
	n := (*list)[i]
	if i == 0 {
		*list = (*list)[1:]
	} else {
		*list = (*list)[:i]
	}
	p.blocks[n].out = true
	p.inUse++
	return p.memory + cuda.DevicePtr(n)*cuda.DevicePtr(p.size)
}

func (p *Pool) Free(ptr cuda.DevicePtr, s cuda.Stream) error {
	if p.closed {
		return contract.ErrClosed
	}
	offset := ptr - p.memory
	n := offset / cuda.DevicePtr(p.size)
	if ptr < p.memory || n >= cuda.DevicePtr(len(p.blocks)) || offset%cuda.DevicePtr(p.size) != 0 || !p.blocks[n].out {
		return contract.ErrInvalidFree
	}
	b := &p.blocks[n]
	if !b.has {
		event, err := cuda.EventCreate()
		if err != nil {
			return err
		}
		b.event, b.has = event, true
	}
	if err := cuda.EventRecord(b.event, s); err != nil {
		return err
	}
	if p.lists[s] == nil {
		p.lists[s] = &[]int{}
		p.order = append(p.order, s)
	}
	*p.lists[s] = append(*p.lists[s], int(n))
	b.out, b.pending = false, true
	p.inUse--
	return nil
}

func (p *Pool) Stats() contract.BlockPoolStats {
	return contract.BlockPoolStats{BlockSize: p.size, Total: len(p.blocks), InUse: p.inUse, Waits: p.waits}
}

func (p *Pool) Close() error {
	if p.closed && p.memory == 0 {
		return contract.ErrClosed
	}
	for i := range p.blocks {
		if b := &p.blocks[i]; b.has {
			if err := cuda.EventDestroy(b.event); err != nil {
				return err
			}
			b.has, p.closed = false, true
		}
	}
	if err := cuda.Free(p.memory); err != nil {
		return err
	}
	p.memory, p.closed = 0, true
	return nil
}
