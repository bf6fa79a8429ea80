// Package tracker is the exercise tracker: a wrapper around any allocator that knows at each moment which blocks are live, who has
// them and how torn the free memory is, and that gives its user one chance to make room.
package tracker

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math/bits"
	"slices"

	"cudalab/exercises/contract"
	"cudalab/native/cuda"
)

// largestSize is the most bytes that a block may have: a power of two, so that the largest size class can be told.
const largestSize = 1 << 62

// Tracker keeps account of the blocks that another allocator hands out. It calls that allocator and never CUDA, and it looks
// into no block: what it knows, it knows from the calls that go through it. Any number of trackers may be in use at
// once.
type Tracker struct {
	inner  contract.Allocator
	memory cuda.DevicePtr // where the memory begins that inner's blocks are parts of
	bytes  int64          // of that memory
	limit  int64          // bytes that may be live at once
	onFull func(size int64) bool
	asking bool // onFull's function is running

	total    account
	failures int                       // see contract.MemoryReport
	live     map[cuda.DevicePtr]*block // by where they begin
	spare    []*block                  // of blocks that have come back: for those to come
	tags     map[string]*account
	classes  [63]account // class k is the blocks of at most 2^k bytes that are in no smaller class
}

// account counts blocks: all of them, or those under one tag, or those of one size class.
type account struct {
	live, peak       int64 // bytes
	count, peakCount int   // blocks
	allocs           int
}

// block is a live block.
type block struct {
	size   int64
	number int // see contract.LiveBlock
	tag    string
	shares [3]*account // all in which it is counted
}

// Wrap tracks inner, which hands out blocks from the bytes bytes at memory, and allows limit bytes to be live at once. It does not
// call inner, and neither it nor any method calls CUDA.
//
// It answers contract.ErrArgument, and a nil Tracker, if inner is nil, if bytes or limit is below 1, if memory is 0, or if the memory
// would reach beyond 1<<63.
func Wrap(inner contract.Allocator, memory cuda.DevicePtr, bytes, limit int64) (*Tracker, error) {
	switch {
	case inner == nil:
		return nil, fmt.Errorf("no allocator: %w", contract.ErrArgument)
	case bytes < 1 || limit < 1:
		return nil, fmt.Errorf("%d bytes with a limit of %d: %w", bytes, limit, contract.ErrArgument)
	case memory == 0 || uint64(memory) > 1<<63-uint64(bytes):
		return nil, fmt.Errorf("%d bytes at %#x: %w", bytes, uint64(memory), contract.ErrArgument)
	}
	return &Tracker{
		inner: inner, memory: memory, bytes: bytes, limit: limit,
		live: map[cuda.DevicePtr]*block{}, tags: map[string]*account{},
	}, nil
}

// try asks inner for size bytes, once. It answers contract.ErrSize if no Alloc could ever have so many, and contract.ErrFull if they
// would be more than limit together with what is live. In both cases inner is not asked. An error of inner's is returned.
func (t *Tracker) try(size int64) (cuda.DevicePtr, error) {
	if size < 1 || size > t.limit || size > largestSize {
		return 0, fmt.Errorf("%d bytes: %w", size, contract.ErrSize)
	}
	if size > t.limit-t.total.live {
		return 0, fmt.Errorf("%d bytes beside %d of at most %d: %w", size, t.total.live, t.limit, contract.ErrFull)
	}
	return t.inner.Alloc(size)
}

// book counts the block of size bytes that inner has just handed out at p.
func (t *Tracker) book(p cuda.DevicePtr, size int64, tag string) {
	of := t.tags[tag]
	if of == nil {
		of = &account{}
		t.tags[tag] = of
	}
	class := bits.Len64(uint64(size - 1)) // 2^class is the smallest power of two that is not below size
	var b *block
	if last := len(t.spare) - 1; last >= 0 { // the record of a block that is gone
		b, t.spare = t.spare[last], t.spare[:last]
	} else {
		b = &block{}
	}
	b.size, b.tag, b.shares = size, tag, [3]*account{&t.total, of, &t.classes[class]}
	for _, a := range b.shares {
		a.live += size
		a.peak = max(a.peak, a.live)
		a.count++
		a.peakCount = max(a.peakCount, a.count)
		a.allocs++
	}
	b.number = t.total.allocs
	t.live[p] = b
}

// Free gives the block at p back to inner. If no live block begins at p it answers contract.ErrInvalidFree, and inner is not asked. If
// inner answers an error, that is returned, and the block stays live.
func (t *Tracker) Free(p cuda.DevicePtr) error {
	b := t.live[p]
	if b == nil {
		return fmt.Errorf("%#x: %w", uint64(p), contract.ErrInvalidFree)
	}
	if err := t.inner.Free(p); err != nil {
		return err
	}
	t.unbook(p, b)
	return nil
}

// unbook takes b, the live block at p, off the books. Peaks, and the numbers of Allocs, stay as they are.
func (t *Tracker) unbook(p cuda.DevicePtr, b *block) {
	for _, a := range b.shares {
		a.live -= b.size
		a.count--
	}
	delete(t.live, p)
	t.spare = append(t.spare, b)
}

// Alloc asks inner for size bytes and books the block under tag, which may be any string.
//
// A size below 1, above limit, or above 1<<62 is contract.ErrSize, and inner is not asked. Where there is no room, since limit would
// be exceeded or inner answers contract.ErrFull, the function that OnFull was given is called once, with size. If it says true,
// all is tried once more: limit is looked at again, then inner is asked, and what comes of that is the answer. If it says false, if
// there is none, or if it is running already, the answer is the error that there was: inner's own, or contract.ErrFull for limit.
// Any other error of inner's is returned at once. An Alloc that fails books nothing, but for one of Failures where the answer
// is contract.ErrFull.
func (t *Tracker) Alloc(size int64, tag string) (cuda.DevicePtr, error) {
	p, err := t.try(size)
	if errors.Is(err, contract.ErrFull) && t.onFull != nil && !t.asking {
		t.asking = true
		again := t.onFull(size)
		t.asking = false
		if again {
			p, err = t.try(size)
		}
	}
	if errors.Is(err, contract.ErrFull) {
		t.failures++
	}
	if err != nil {
		return 0, err
	}
	t.book(p, size, tag)
	return p, nil
}

// OnFull has Alloc call f where there is no room, in place of what it called before; nil: nothing. f may call all methods of the
// Tracker. While it runs, an Alloc that finds no room fails at once, and a new function is for the Allocs that come after.
func (t *Tracker) OnFull(f func(size int64) bool) { t.onFull = f }

// Report is how things stand. Its slices are the caller's own: no later call changes them, and whatever the caller does to them changes
// no later Report.
func (t *Tracker) Report() contract.MemoryReport {
	r := contract.MemoryReport{
		Live: t.total.live, Peak: t.total.peak, Count: t.total.count, PeakCount: t.total.peakCount, Allocs: t.total.allocs,
		Failures: t.failures,
	}
	t.gaps(&r)
	t.groups(&r)
	return r
}

// gaps fills in what a report says of the free memory: Free, LargestFree and Fragmentation.
func (t *Tracker) gaps(r *contract.MemoryReport) {
	end := t.memory // of the block before
	for _, p := range slices.Sorted(maps.Keys(t.live)) {
		r.LargestFree = max(r.LargestFree, int64(p-end))
		end = p + cuda.DevicePtr(t.live[p].size)
	}
	r.LargestFree = max(r.LargestFree, int64(t.memory+cuda.DevicePtr(t.bytes)-end))
	r.Free = t.bytes - t.total.live
	if r.Free > 0 {
		r.Fragmentation = 1 - float64(r.LargestFree)/float64(r.Free)
	}
}

// groups fills in BySize, ByTag and Blocks of a report, each in its order.
func (t *Tracker) groups(r *contract.MemoryReport) {
	for k, a := range t.classes {
		if a.allocs > 0 {
			r.BySize = append(r.BySize, contract.SizeUse{UpTo: 1 << k, Live: a.live, Count: a.count, Allocs: a.allocs})
		}
	}
	r.ByTag = make([]contract.TagUse, 0, len(t.tags))
	for tag, a := range t.tags {
		r.ByTag = append(r.ByTag, contract.TagUse{Tag: tag, Live: a.live, Peak: a.peak, Count: a.count, Allocs: a.allocs})
	}
	slices.SortFunc(r.ByTag, func(a, b contract.TagUse) int {
		if a.Live != b.Live {
			return cmp.Compare(b.Live, a.Live)
		}
		return cmp.Compare(a.Tag, b.Tag)
	})
	r.Blocks = make([]contract.LiveBlock, 0, len(t.live))
	for p, b := range t.live {
		r.Blocks = append(r.Blocks, contract.LiveBlock{Ptr: p, Size: b.size, Tag: b.tag, Number: b.number})
	}
	slices.SortFunc(r.Blocks, func(a, b contract.LiveBlock) int { return cmp.Compare(a.Number, b.Number) })
}
