package tracker

import (
	"encoding/binary"
	"errors"
	"slices"

	"cudalab/exercises/contract"
	"cudalab/grader/suite"
	"cudalab/grader/suite/allocator"
	"cudalab/grader/suite/sequence"
	"cudalab/kernels"
	"cudalab/kernels/oracle"
	"cudalab/native/cuda"
	"cudalab/native/device"
	"cudalab/native/session"
)

// user calls a tracker as an allocator of the kit, and keeps all that happens by the way: what the allocator below is
// asked, when the function of OnFull is called, and what that does. Its blocks it marks on the device as its own.
type user struct {
	layout  layout
	inner   *inner
	t       Tracker
	memory  cuda.DevicePtr
	counts  cuda.DevicePtr // of a census; 0 where there is no memory
	held    []block        // in the user's hands, the oldest first; of a rarely reporting one, none
	marks   []mark         // to be written
	events  []int64        // since the operation began
	reports []int64        // the same
	last    error          // that inner answered since then
	rooms   int            // how often the function of OnFull was called since then
	ops     int
	gap     *contract.Gap         // of Report, where that is still to be written
	kept    contract.MemoryReport // what was reported last
	keptAs  uint64                // and the digest of what that was; 0 where there was none
	again   []int64               // what it is by now
}

// block is one in the user's hands.
type block struct {
	at   cuda.DevicePtr
	size int64
	tag  int
}

// mark is what a block's bytes are to hold.
type mark struct {
	at   cuda.DevicePtr
	size int64
	v    byte
}

// newSubject makes a tracker over an allocator of its own.
func newSubject(wrap Make, l layout) (allocator.Subject, error) {
	u := &user{layout: l, memory: l.memory}
	if err := u.obtain(); err != nil {
		return allocator.Subject{}, err
	}
	u.inner = newInner(l, u.memory, u.answered)
	t, err := wrap(lend(u.inner), u.memory, l.bytes, l.limit)
	if t == nil {
		return allocator.Subject{}, errors.Join(err, u.giveBack())
	}
	u.t = t
	s := allocator.Subject{Allocator: u, Student: t, Stats: u.stats}
	if err != nil {
		_ = u.giveBack()
	}
	return s, err
}

// obtain gets the memory that the layout asks for.
func (u *user) obtain() (err error) {
	if u.memory != 0 {
		return nil
	}
	if u.memory, err = cuda.Malloc(u.layout.bytes); err != nil {
		return err
	}
	if u.counts, err = cuda.Malloc(kernels.CensusBytes); err != nil {
		return errors.Join(err, cuda.Free(u.memory))
	}
	return cuda.Memset(u.memory, 0, u.layout.bytes)
}

func (u *user) giveBack() error {
	if u.counts == 0 {
		return nil
	}
	return errors.Join(cuda.Free(u.memory), cuda.Free(u.counts))
}

// answered is told what inner was asked and has answered.
func (u *user) answered(k eventKind, p cuda.DevicePtr, size int64, err error) {
	u.last = err
	if k == eventAsk {
		u.note(k, size, int64(kindOf(err)), int64(p))
		return
	}
	u.note(k, int64(p), int64(kindOf(err)), 0)
}

// kindOf is which of the contract's errors one of inner's is.
func kindOf(err error) sequence.Err {
	switch {
	case err == nil:
		return sequence.Nil
	case errors.Is(err, contract.ErrFull):
		return sequence.ErrFull
	case errors.Is(err, contract.ErrSize):
		return sequence.ErrSize
	case errors.Is(err, contract.ErrInvalidFree):
		return sequence.ErrInvalidFree
	case errors.Is(err, contract.ErrClosed):
		return sequence.ErrClosed
	}
	return sequence.ErrOther
}

func (u *user) begin() { u.events, u.reports, u.last, u.rooms = u.events[:0], u.reports[:0], nil, 0 }

// Alloc is there for the kit, which asks for tags.
func (u *user) Alloc(size int64) (cuda.DevicePtr, error) { return u.AllocAs(size, 1) }

// AllocAs asks the tracker for a block under the n-th tag.
func (u *user) AllocAs(size int64, tag int) (cuda.DevicePtr, error) {
	u.begin()
	p, err := u.alloc(size, tag)
	u.note(eventSame, u.same(err), 0, 0)
	return p, err
}

func (u *user) alloc(size int64, tag int) (cuda.DevicePtr, error) {
	p, err := u.t.Alloc(size, tagName(tag))
	if err == nil && !u.layout.rarely {
		u.held = append(u.held, block{p, size, tag})
		u.mark(p, size, byte(tag))
	}
	return p, err
}

// Free gives a block back to the tracker.
func (u *user) Free(p cuda.DevicePtr) error {
	u.begin()
	err := u.free(p)
	u.note(eventSame, u.same(err), 0, 0)
	return err
}

func (u *user) free(p cuda.DevicePtr) error {
	err := u.t.Free(p)
	if i := slices.IndexFunc(u.held, func(b block) bool { return b.at == p }); err == nil && i >= 0 {
		u.mark(p, u.held[i].size, 0)
		u.held = slices.Delete(u.held, i, i+1)
	}
	return err
}

// same is 1 where an error is the last of inner's, or wraps it.
func (u *user) same(err error) int64 {
	if err != nil && u.last != nil && errors.Is(err, u.last) {
		return 1
	}
	return 0
}

// OnFull sets the function that does so.
func (u *user) OnFull(does full) {
	u.begin()
	u.set(does)
}

// set is not inlined: what OnFull is given is printed as the place of its code, which is to be one.
//
//go:noinline
func (u *user) set(does full) {
	if does == noFunction {
		u.t.OnFull(nil)
		return
	}
	u.t.OnFull(func(size int64) bool {
		u.note(eventFull, size, int64(does), 0)
		if u.rooms++; u.rooms > mostRooms {
			return false // who asks for ever is to come to an end
		}
		before := u.last
		said := u.makeRoom(does, size)
		u.last = before // for who goes on with the Alloc
		u.note(eventSaid, int64(map[bool]int{true: 1}[said]), 0, 0)
		return said
	})
}

// mostRooms is how often a function of OnFull makes room in one operation.
const mostRooms = 100

// makeRoom does what a function of OnFull is to do.
func (u *user) makeRoom(does full, size int64) bool {
	switch does {
	case freeOldest, freeOldestNo:
		u.freeHeld(0)
		return does == freeOldest
	case freeNewest:
		u.freeHeld(len(u.held) - 1)
	case freeAll:
		for n := len(u.held); n > 0; n-- {
			u.freeHeld(0)
		}
	case allocSame:
		u.allocWithin(size)
		u.freeHeld(0)
	case allocSmall:
		u.freeHeld(0)
		u.freeHeld(0)
		u.allocWithin(1)
	case reportToo:
		u.note(eventReport, 0, 0, 0)
		u.reports = u.report(u.reports)
		u.freeHeld(0)
	case freeTwice:
		if len(u.held) > 0 {
			oldest := u.held[0].at
			u.freeHeld(0)
			u.freeWithin(oldest)
		}
	case replaceItself, removeItself:
		next := map[full]full{replaceItself: sayNo, removeItself: noFunction}[does]
		u.note(eventOnFull, int64(next), 0, 0)
		u.set(next)
		if does == removeItself {
			return false
		}
		u.freeHeld(0)
	case sayNo:
		return false
	}
	return true
}

// tagWithin is the tag of blocks that a function of OnFull asks for.
const tagWithin = 27

func (u *user) allocWithin(size int64) {
	u.note(eventAlloc, size, tagWithin, 0)
	u.last = nil
	p, err := u.alloc(size, tagWithin)
	endAtGap(err)
	u.note(eventAllocated, int64(sequence.Classify(err)), int64(p), u.same(err))
}

// endAtGap ends an operation in which a function of OnFull has called what is still to be written: the Alloc around it
// goes on without a word of that.
func endAtGap(err error) {
	if gap := (*contract.Gap)(nil); errors.As(suite.Sound(err), &gap) {
		panic(gap)
	}
}

func (u *user) freeHeld(i int) {
	if i >= 0 && i < len(u.held) {
		u.freeWithin(u.held[i].at)
	}
}

func (u *user) freeWithin(p cuda.DevicePtr) {
	u.note(eventFree, int64(p), 0, 0)
	u.last = nil
	err := u.free(p)
	endAtGap(err)
	u.note(eventFreed, int64(sequence.Classify(err)), 0, u.same(err))
}

// Close ends the use of a tracker, which has no Close: the memory is given back.
func (u *user) Close() error {
	u.begin()
	u.ops = 0
	u.settle()
	u.census()
	if err := u.giveBack(); err != nil || u.gap == nil {
		return err
	}
	return u.gap
}

// mark has a value written to all bytes of a block on the device, behind the operation: within it, the call would be
// one that the tracker has made.
func (u *user) mark(p cuda.DevicePtr, size int64, v byte) {
	if u.counts != 0 {
		u.marks = append(u.marks, mark{p, size, v})
	}
}

// settle writes the marks, unless there is no memory: a try has none that is traced.
func (u *user) settle() {
	for _, m := range u.marks {
		if session.Current().Holds(device.Ptr(m.at), m.size) {
			_ = cuda.MemsetAsync(m.at, m.v, m.size, cuda.Stream{})
		}
	}
	u.marks = u.marks[:0]
}

// census has the device count the bytes that are marked.
func (u *user) census() {
	if u.counts == 0 || !session.Current().Holds(device.Ptr(u.memory), u.layout.bytes) {
		return
	}
	counts := make(cuda.Pageable, kernels.CensusBytes)
	err := errors.Join(cuda.MemsetAsync(u.counts, 0, kernels.CensusBytes, cuda.Stream{}),
		kernels.Census(64, 256, cuda.Stream{}, u.memory, u.layout.bytes, u.counts),
		cuda.MemcpyDtoH(counts, u.counts, kernels.CensusBytes))
	if err != nil {
		return // the device is lost, which ends the case
	}
	for v := range oracle.ByteValues {
		if n := binary.LittleEndian.Uint64(counts[8*v:]); n > 0 {
			u.note(eventCensus, int64(v), int64(n), 0)
		}
	}
}

// When there are a census and, of a rarely reporting one, a report besides the first and that at the end, in
// operations.
const (
	censusEvery  = 16
	reportBehind = 500
)

// stats is all that happened in the last operation, and a report.
func (u *user) stats() []int64 {
	u.settle()
	if u.ops%censusEvery == censusEvery-1 {
		u.census()
	}
	all := slices.Concat([]int64{int64(len(u.events) / eventSize)}, u.events, []int64{int64(u.memory)}, u.reports)
	if !u.layout.silent && (!u.layout.rarely || u.ops == 0 || u.ops == reportBehind) {
		all = u.report(all)
	}
	u.ops++
	return all
}

// report takes a report, and appends it to others. The one before has to be as it was, also behind this one, and is
// then written over: nothing of that may be in the new one. Where Report is still to be written there is none: what the
// other calls do can be seen without it.
func (u *user) report(to []int64) (all []int64) {
	all = to // also where it comes to a gap
	defer func() {
		v := recover()
		if gap, ok := v.(*contract.Gap); ok && gap != nil {
			u.gap = gap
		} else if v != nil {
			panic(v)
		}
	}()
	now := u.t.Report()
	changed := sharedNot
	u.again = encode(u.again[:0], &u.kept)
	if u.keptAs != 0 && digest(u.again) != u.keptAs {
		changed = sharedLater
	}
	all = encode(append(to, sharedNot), &now)
	u.keptAs = digest(all[len(to)+1:])
	scribble(&u.kept)
	if scribbled(&now) {
		changed = sharedBack
	}
	all[len(to)] = int64(changed)
	u.kept = now
	return all
}
