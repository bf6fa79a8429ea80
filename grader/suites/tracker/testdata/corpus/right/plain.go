// A map of blocks and a map of tags, in few words.
package tracker

import (
	"errors"
	"math/bits"
	"sort"

	"cudalab/exercises/contract"
	"cudalab/native/cuda"
)

type Tracker struct {
	inner        contract.Allocator
	memory       cuda.DevicePtr
	bytes, limit int64
	full         func(int64) bool
	busy         bool
	r            contract.MemoryReport
	blocks       map[cuda.DevicePtr]contract.LiveBlock
	tags         map[string]*contract.TagUse
	sizes        [63]contract.SizeUse
}

func Wrap(inner contract.Allocator, memory cuda.DevicePtr, bytes, limit int64) (*Tracker, error) {
	if inner == nil || memory == 0 || bytes < 1 || limit < 1 {
		return nil, contract.ErrArgument
	}
	if uint64(memory) > 1<<63-uint64(bytes) {
		return nil, contract.ErrArgument
	}
	return &Tracker{
		inner:  inner,
		memory: memory,
		bytes:  bytes,
		limit:  limit,
		blocks: map[cuda.DevicePtr]contract.LiveBlock{},
		tags:   map[string]*contract.TagUse{},
	}, nil
}

func (t *Tracker) OnFull(f func(size int64) bool) {
	t.full = f
}

func (t *Tracker) once(size int64) (cuda.DevicePtr, error) {
	if size > t.limit-t.r.Live {
		return 0, contract.ErrFull
	}
	return t.inner.Alloc(size)
}

func (t *Tracker) Alloc(size int64, tag string) (cuda.DevicePtr, error) {
	if size < 1 || size > t.limit || size > 1<<62 {
		return 0, contract.ErrSize
	}
	p, err := t.once(size)
	if errors.Is(err, contract.ErrFull) && t.full != nil && !t.busy {
		t.busy = true
		again := t.full(size)
		t.busy = false
		if again {
			p, err = t.once(size)
		}
	}
	if err != nil {
		if errors.Is(err, contract.ErrFull) {
			t.r.Failures++
		}
		return 0, err
	}
	t.add(p, size, tag)
	return p, nil
}

func class(size int64) int {
	return bits.Len64(uint64(size - 1))
}

func (t *Tracker) add(p cuda.DevicePtr, size int64, tag string) {
	t.r.Allocs++
	t.blocks[p] = contract.LiveBlock{Ptr: p, Size: size, Tag: tag, Number: t.r.Allocs}
	t.r.Live += size
	t.r.Peak = max(t.r.Peak, t.r.Live)
	t.r.Count++
	t.r.PeakCount = max(t.r.PeakCount, t.r.Count)
	u := t.tags[tag]
	if u == nil {
		u = &contract.TagUse{Tag: tag}
		t.tags[tag] = u
	}
	u.Live += size
	u.Peak = max(u.Peak, u.Live)
	u.Count++
	u.Allocs++
	c := &t.sizes[class(size)]
	c.UpTo = 1 << class(size)
	c.Live += size
	c.Count++
	c.Allocs++
}

func (t *Tracker) Free(p cuda.DevicePtr) error {
	b, ok := t.blocks[p]
	if !ok {
		return contract.ErrInvalidFree
	}
	if err := t.inner.Free(p); err != nil {
		return err
	}
	delete(t.blocks, p)
	t.r.Live -= b.Size
	t.r.Count--
	u := t.tags[b.Tag]
	u.Live -= b.Size
	u.Count--
	c := &t.sizes[class(b.Size)]
	c.Live -= b.Size
	c.Count--
	return nil
}

func (t *Tracker) Report() contract.MemoryReport {
	r := t.r
	for _, b := range t.blocks {
		r.Blocks = append(r.Blocks, b)
	}
	sort.Slice(r.Blocks, func(i, j int) bool { return r.Blocks[i].Ptr < r.Blocks[j].Ptr })
	end := t.memory
	for _, b := range r.Blocks {
		r.LargestFree = max(r.LargestFree, int64(b.Ptr-end))
		end = b.Ptr + cuda.DevicePtr(b.Size)
	}
	r.LargestFree = max(r.LargestFree, int64(t.memory+cuda.DevicePtr(t.bytes)-end))
	sort.Slice(r.Blocks, func(i, j int) bool { return r.Blocks[i].Number < r.Blocks[j].Number })
	r.Free = t.bytes - r.Live
	if r.Free > 0 {
		r.Fragmentation = 1 - float64(r.LargestFree)/float64(r.Free)
	}
	for _, c := range t.sizes {
		if c.Allocs > 0 {
			r.BySize = append(r.BySize, c)
		}
	}
	for _, u := range t.tags {
		r.ByTag = append(r.ByTag, *u)
	}
	sort.Slice(r.ByTag, func(i, j int) bool {
		a, b := r.ByTag[i], r.ByTag[j]
		return a.Live > b.Live || a.Live == b.Live && a.Tag < b.Tag
	})
	return r
}
