// Three allocators around each other, each with one thing to do: a limit, an account, a second chance.
package tracker

import (
	"errors"
	"maps"
	"math/bits"
	"slices"
	"strings"

	"cudalab/exercises/contract"
	"cudalab/native/cuda"
)

// limiter lets no more than limit bytes be live.
type limiter struct {
	contract.Allocator
	*ledger
	limit int64
}

func (l limiter) Alloc(size int64) (cuda.DevicePtr, error) {
	if l.limit-l.live < size {
		return 0, contract.ErrFull
	}
	return l.Allocator.Alloc(size)
}

// chance tries twice where there is no room.
type chance struct {
	contract.Allocator
	room  func(int64) bool
	inUse bool
}

func (c *chance) Alloc(size int64) (cuda.DevicePtr, error) {
	p, err := c.Allocator.Alloc(size)
	if !errors.Is(err, contract.ErrFull) || c.inUse || c.room == nil {
		return p, err
	}
	c.inUse = true
	defer func() { c.inUse = false }()
	if c.room(size) {
		return c.Allocator.Alloc(size)
	}
	return p, err
}

// use is what one group of blocks comes to.
type use struct {
	live, peak    int64
	count, allocs int
}

func (u use) and(size int64) use {
	u.live += size
	u.count++
	u.allocs++
	u.peak = max(u.peak, u.live)
	return u
}

func (u use) without(size int64) use {
	u.live -= size
	u.count--
	return u
}

// ledger is who has what.
type ledger struct {
	use
	peakCount, failures int
	blocks              map[cuda.DevicePtr]contract.LiveBlock
	tags                map[string]use
	sizes               map[int]use // by the power of two
}

type Tracker struct {
	ledger
	chance
	limiter limiter
	start   cuda.DevicePtr
	bytes   int64
}

func Wrap(inner contract.Allocator, memory cuda.DevicePtr, bytes, limit int64) (*Tracker, error) {
	end, carry := bits.Add64(uint64(memory), uint64(bytes), 0)
	if inner == nil || memory == 0 || bytes < 1 || limit < 1 || carry != 0 || end > 1<<63 {
		return nil, contract.ErrArgument
	}
	t := &Tracker{start: memory, bytes: bytes}
	t.blocks, t.tags, t.sizes = map[cuda.DevicePtr]contract.LiveBlock{}, map[string]use{}, map[int]use{}
	t.limiter = limiter{inner, &t.ledger, limit}
	t.chance.Allocator = t.limiter
	return t, nil
}

func (t *Tracker) OnFull(f func(size int64) bool) { t.room = f }

func power(size int64) int {
	n := bits.Len64(uint64(size))
	if size&(size-1) == 0 {
		n--
	}
	return n
}

func (t *Tracker) Alloc(size int64, tag string) (cuda.DevicePtr, error) {
	if size <= 0 || size > t.limiter.limit || size > 1<<62 {
		return 0, contract.ErrSize
	}
	p, err := t.chance.Alloc(size)
	switch {
	case errors.Is(err, contract.ErrFull):
		t.failures++
		return 0, err
	case err != nil:
		return 0, err
	}
	t.use = t.use.and(size)
	t.tags[tag] = t.tags[tag].and(size)
	t.sizes[power(size)] = t.sizes[power(size)].and(size)
	t.peakCount = max(t.peakCount, t.count)
	t.blocks[p] = contract.LiveBlock{Ptr: p, Size: size, Tag: strings.Clone(tag), Number: t.allocs}
	return p, nil
}

func (t *Tracker) Free(p cuda.DevicePtr) error {
	b, ok := t.blocks[p]
	if !ok {
		return contract.ErrInvalidFree
	}
	if err := t.limiter.Allocator.Free(p); err != nil {
		return err
	}
	t.use = t.use.without(b.Size)
	t.tags[b.Tag] = t.tags[b.Tag].without(b.Size)
	t.sizes[power(b.Size)] = t.sizes[power(b.Size)].without(b.Size)
	delete(t.blocks, p)
	return nil
}

func (t *Tracker) Report() (r contract.MemoryReport) {
	r.Live, r.Peak, r.Count, r.PeakCount, r.Allocs, r.Failures = t.live, t.peak, t.count, t.peakCount, t.allocs, t.failures
	r.Free = t.bytes - t.live
	at := t.start
	for _, p := range append(slices.Sorted(maps.Keys(t.blocks)), t.start+cuda.DevicePtr(t.bytes)) {
		if gap := int64(p - at); gap > r.LargestFree {
			r.LargestFree = gap
		}
		at = p + cuda.DevicePtr(t.blocks[p].Size)
	}
	if r.Free > r.LargestFree {
		r.Fragmentation = 1 - float64(r.LargestFree)/float64(r.Free)
	}
	for _, k := range slices.Sorted(maps.Keys(t.sizes)) {
		u := t.sizes[k]
		r.BySize = append(r.BySize, contract.SizeUse{UpTo: 1 << k, Live: u.live, Count: u.count, Allocs: u.allocs})
	}
	tags := slices.Sorted(maps.Keys(t.tags))
	slices.SortStableFunc(tags, func(a, b string) int {
		switch x, y := t.tags[a].live, t.tags[b].live; {
		case x > y:
			return -1
		case x < y:
			return 1
		}
		return 0
	})
	for _, tag := range tags {
		u := t.tags[tag]
		r.ByTag = append(r.ByTag, contract.TagUse{Tag: tag, Live: u.live, Peak: u.peak, Count: u.count, Allocs: u.allocs})
	}
	r.Blocks = slices.SortedFunc(maps.Values(t.blocks), func(a, b contract.LiveBlock) int { return a.Number - b.Number })
	return r
}
