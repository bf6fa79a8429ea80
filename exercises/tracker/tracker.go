// Package tracker is the exercise tracker: a wrapper around any allocator that knows at each moment which blocks are live, who has
// them and how torn the free memory is, and that gives its user one chance to make room.
package tracker

import (
	"errors"

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
	// TODO(1a): Answer contract.ErrArgument to what the comment above names. Mind that memory + bytes may run over.
	if err := contract.TODO("1a"); err != nil {
		return nil, err
	}
	return &Tracker{
		inner: inner, memory: memory, bytes: bytes, limit: limit,
		live: map[cuda.DevicePtr]*block{}, tags: map[string]*account{},
	}, nil
}

// try asks inner for size bytes, once. It answers contract.ErrSize if no Alloc could ever have so many, and contract.ErrFull if they
// would be more than limit together with what is live. In both cases inner is not asked. An error of inner's is returned.
func (t *Tracker) try(size int64) (cuda.DevicePtr, error) {
	// TODO(1b): Answer contract.ErrSize to a size that no Alloc can have, and contract.ErrFull where limit has no room for it.
	// Otherwise ask inner.
	return 0, contract.TODO("1b")
}

// book counts the block of size bytes that inner has just handed out at p.
func (t *Tracker) book(p cuda.DevicePtr, size int64, tag string) {
	// TODO(1c): Keep the block in live, and count it in all three accounts: that of all blocks, its tag's and its size class's.
	panic(contract.TODO("1c")) // a gap in a function that answers no error panics
}

// Free gives the block at p back to inner. If no live block begins at p it answers contract.ErrInvalidFree, and inner is not asked. If
// inner answers an error, that is returned, and the block stays live.
func (t *Tracker) Free(p cuda.DevicePtr) error {
	// TODO(1d): Answer contract.ErrInvalidFree if no live block begins at p. Otherwise have inner take it back, and if it does, unbook it.
	return contract.TODO("1d")
}

// unbook takes b, the live block at p, off the books. Peaks, and the numbers of Allocs, stay as they are.
func (t *Tracker) unbook(p cuda.DevicePtr, b *block) {
	// TODO(1e): Take the block out of live and of its three accounts.
	panic(contract.TODO("1e"))
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
	if errors.Is(err, contract.ErrFull) {
		// TODO(1f): Ask onFull's function for room, unless there is none or it is running, and if it says true, try once more. Count an
		// Alloc that is full in the end in failures.
		return 0, contract.TODO("1f")
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
	// TODO(1g): Go through the live blocks by address and find the longest stretch before, between and behind them. Work out
	// Free and Fragmentation.
	panic(contract.TODO("1g"))
}

// groups fills in BySize, ByTag and Blocks of a report, each in its order.
func (t *Tracker) groups(r *contract.MemoryReport) {
	// TODO(1h): Fill in the size classes and the tags that were ever used, and the live blocks. Sort each as contract.MemoryReport says.
	panic(contract.TODO("1h"))
}
