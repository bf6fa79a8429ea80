// Takes a pool and its word from one stream, the word in front, and has events say so to the others. Reset makes all edges at once.
package devicebump

import (
	"errors"
	"slices"

	"cudalab/exercises/contract"
	"cudalab/kernels"
	"cudalab/native/cuda"
)

func up(size uint64) uint64 { return (size + 15) / 16 * 16 }

func Alloc(w contract.Word, capacity, size uint64) (uint64, bool) {
	if size == 0 || size > capacity {
		return 0, false
	}
	for old := w.Load(); ; {
		if old+up(size) < old || old+up(size) > capacity {
			return 0, false
		}
		now := w.CompareAndSwap(old, old+up(size))
		if now == old {
			return old, true
		}
		old = now
	}
}

func AllocWarp(w contract.Word, capacity uint64, sizes, offsets []uint64) {
	for i := range offsets {
		offsets[i] = contract.NoRoom
	}
	if !slices.ContainsFunc(sizes, func(size uint64) bool { return size != 0 && size <= capacity }) {
		return
	}
	old := w.Load()
	for {
		end := old
		for i, size := range sizes {
			if size == 0 || size > capacity || up(size) > capacity-end {
				offsets[i] = contract.NoRoom
				continue
			}
			offsets[i] = end
			end += up(size)
		}
		if end == old {
			return
		}
		now := w.CompareAndSwap(old, end)
		if now == old {
			return
		}
		old = now
	}
}

const front = 256

type pool struct{ memory cuda.DevicePtr }

type Pools struct {
	streams []cuda.Stream
	pools   []pool
	bytes   int64
	events  []cuda.Event
	owed    []cuda.Stream // streams that have to wait for an event that is recorded again first, after an error
	after   int
	closed  bool
}

func New(streams []cuda.Stream, bytes int64, shared bool) (*Pools, error) {
	n := len(streams)
	if shared {
		n = min(n, 1)
	}
	if n == 0 || bytes < 16 || bytes%16 != 0 || bytes > (1<<63-1)/int64(n) {
		return nil, contract.ErrArgument
	}
	for i := range streams {
		if slices.Contains(streams[:i], streams[i]) {
			return nil, contract.ErrArgument
		}
	}
	p := &Pools{streams: slices.Clone(streams), bytes: bytes}
	if err := p.begin(n, shared); err != nil {
		return nil, errors.Join(err, cuda.DeviceSynchronize(), p.Close())
	}
	return p, nil
}

func (p *Pools) begin(n int, shared bool) error {
	for _, s := range p.streams[:n] {
		memory, err := cuda.MallocAsync(front+p.bytes, s)
		if err != nil {
			return err
		}
		p.pools = append(p.pools, pool{memory})
		if err := cuda.MemsetAsync(memory, 0, 8, s); err != nil {
			return err
		}
	}
	if !shared {
		return nil
	}
	for range p.streams {
		event, err := cuda.EventCreate()
		if err != nil {
			return err
		}
		p.events = append(p.events, event)
	}
	return p.tell(0)
}

// tell has every other stream wait for what is in streams[i] now.
func (p *Pools) tell(i int) error {
	p.after = i
	p.owed = slices.Clone(p.streams)
	return p.settle()
}

// settle has those wait that still have to.
func (p *Pools) settle() error {
	if len(p.owed) == 0 {
		return nil
	}
	if err := cuda.EventRecord(p.events[p.after], p.streams[p.after]); err != nil {
		return err
	}
	for len(p.owed) > 0 {
		if s := p.owed[0]; s != p.streams[p.after] {
			if err := cuda.StreamWaitEvent(s, p.events[p.after]); err != nil {
				return err
			}
		}
		p.owed = p.owed[1:]
	}
	return nil
}

func (p *Pools) of(i int) pool { return p.pools[min(i, len(p.pools)-1)] }

func (p *Pools) Memory(i int) cuda.DevicePtr { return p.of(i).memory + front }

func (p *Pools) Launch(i int, sizes cuda.DevicePtr, n int, tag uint32, offsets cuda.DevicePtr) error {
	switch {
	case p.closed:
		return contract.ErrClosed
	case i < 0 || i >= len(p.streams) || n < 1 || n > 1<<30:
		return contract.ErrArgument
	}
	if err := p.settle(); err != nil {
		return err
	}
	return kernels.BumpWarp((n+127)/128, 128, p.streams[i], kernels.BumpPool{Memory: p.Memory(i), Bytes: p.bytes, Word: p.of(i).memory}, sizes, n, tag, offsets)
}

func (p *Pools) Reset(i int) error {
	switch {
	case p.closed:
		return contract.ErrClosed
	case i < 0 || i >= len(p.streams):
		return contract.ErrArgument
	}
	if len(p.pools) == len(p.streams) {
		return cuda.MemsetAsync(p.of(i).memory, 0, 8, p.streams[i])
	}
	for j := range p.streams {
		if j == i {
			continue
		}
		if err := cuda.EventRecord(p.events[j], p.streams[j]); err != nil {
			return err
		}
		if err := cuda.StreamWaitEvent(p.streams[i], p.events[j]); err != nil {
			return err
		}
	}
	if err := cuda.MemsetAsync(p.of(i).memory, 0, 8, p.streams[i]); err != nil {
		return err
	}
	return p.tell(i)
}

func (p *Pools) Close() (err error) {
	if p.closed {
		return contract.ErrClosed
	}
	for len(p.events) > 0 && err == nil {
		if err = cuda.EventDestroy(p.events[0]); err == nil {
			p.events = p.events[1:]
		}
	}
	for len(p.pools) > 0 && err == nil {
		if err = cuda.FreeAsync(p.pools[0].memory, p.streams[0]); err == nil {
			p.pools = p.pools[1:]
		}
	}
	p.closed = err == nil
	return err
}
