package tracker

import (
	"fmt"
	"strings"

	"cudalab/exercises/contract"
	"cudalab/grader/suite/allocator"
	"cudalab/grader/suite/sequence"
)

// model is a tracker without an allocator: it knows from what is noted of the calls what each should come back with,
// and what a report should say then.
type model struct {
	layout layout
	books
	does   full          // the function of OnFull
	asking bool          // it is running
	within bool          // it has set the function, or removed it, while it ran
	called map[bool]bool // whether it has been called since, where inner had no room (true) and where limit had none
	start  uint64        // where the memory begins; 0 where that is not known
	right  bool          // what the last report said
	lost   bool          // a fault has left it without a notion of what is right

	blocks int // Allocs of the sequence so far
	names  names
	log    *log
	faults []sequence.Fault // of reports in the midst of the operation
	roomed bool             // in this operation the function was called
	gained contract.TagUse  // by what it did, what is live
	asked  int64            // for how many bytes inner was asked last in this operation
}

func newModel(w *workload) allocator.Model {
	m := &model{layout: w.Layout, books: newBooks(len(w.Ops), len(w.Ops))}
	m.set(noFunction, false)
	return m
}

// set takes down which function of OnFull there is from now on.
func (m *model) set(does full, within bool) {
	m.does, m.within, m.called = does, within, map[bool]bool{}
}

// Blind: what one part tells of spoils no other.
func (m *model) Blind(string) bool { return false }

// Step judges one answer and the report behind it. After a wrong answer it says no more: what follows may come of it.
func (m *model) Step(op allocator.Op, a sequence.Answer) []sequence.Fault {
	if m.lost {
		return nil
	}
	m.log, m.faults = newLog(a.Stats()), nil
	m.roomed, m.gained, m.asked = false, contract.TagUse{}, 0
	m.start = m.log.memory
	if f := m.answer(op, a); f != nil {
		m.lost = true
		return append(m.faults, *f)
	}
	if f := m.census(); f != nil {
		m.faults = append(m.faults, *f)
	}
	m.compare(op, a.Err)
	return m.faults
}

// answer judges what an operation came back with, and brings the books up to date.
func (m *model) answer(op allocator.Op, a sequence.Answer) *sequence.Fault {
	done := func() reply {
		return reply{err: a.Err, addr: a.Addr, same: m.log.skip().a == 1, says: a.Says()}
	}
	switch op.Kind {
	case allocator.KindAlloc:
		m.blocks++
		return m.alloc(op.Size, m.names.of(int64(max(op.Block, 1))), done)
	case allocator.KindOwn:
		m.set(full(op.Size), false)
		return m.uncalled(ofFull, "should have kept the function for later")
	case allocator.KindClose:
		return nil
	}
	return m.free(a.Addr, done)
}

// alloc judges an Alloc, by the user or by a function of OnFull. done is what it came back with: to be asked when all
// that happened before has been taken off the log.
func (m *model) alloc(size int64, tag string, done func() reply) *sequence.Fault {
	if why := m.never(size); why != "" {
		if f := m.uncalled(ofErrors, "should have been refused for its size alone, since "+why); f != nil {
			f.Fix = sizeFix
			if m.log.next().kind == eventFull {
				f.Why = "A size that can never be had does not fit either when the function has freed what it can."
			}
			return f
		}
		f := refused(ofErrors, sequence.ErrSize, false, done())
		if f != nil {
			f.Message = strings.Replace(f.Message, ", but", ", since "+why+", but", 1)
			f.Fix = sizeFix
		}
		return f
	}
	got, f := m.try(size, false, done)
	if f == nil && got.err == sequence.ErrFull && m.does != noFunction && !m.asking {
		got, f = m.ask(size, got, done)
	}
	if f != nil {
		return f
	}
	if f := m.uncalled(ofFull, m.over(got)); f != nil {
		if m.log.next().kind == eventFull && got.err != sequence.ErrFull && got.err != sequence.Nil {
			f.Why = "The function can make room, and room is not what was lacking: only contract.ErrFull says that."
			f.Fix = "Call it only where limit has no room, or where errors.Is(err, contract.ErrFull) is true of inner's " +
				"error. Return any other error of inner's at once."
		}
		return f
	}
	r := done()
	switch {
	case got.err == sequence.ErrFull:
		m.failures++
		return refused(ofFull, got.err, got.byInner, r)
	case got.err != sequence.Nil:
		return refused(ofErrors, got.err, true, r)
	case r.err != sequence.Nil:
		return blockRefused(size, r)
	case r.addr != got.addr:
		return otherBlock()
	}
	m.book(got.addr, size, tag)
	return nil
}

// never says why a size can never be had; "" where it can.
func (m *model) never(size int64) string {
	switch {
	case size < 1:
		return fmt.Sprintf("%d is below 1", size)
	case size > 1<<62:
		return fmt.Sprintf("%d is above 1<<62", size)
	case size > m.layout.limit:
		return fmt.Sprintf("%d is above limit, which is %d", size, m.layout.limit)
	}
	return ""
}

const sizeFix = "Begin Alloc with the size: return contract.ErrSize where it is below 1, above limit or above 1<<62, " +
	"the largest power of two that an int64 can hold, and so the largest size class."

// tried is what one try should have come to.
type tried struct {
	err     sequence.Err
	byInner bool // it is inner's answer
	addr    uint64
	again   bool // OnFull's function had said true
}

// over says why an Alloc should come back now.
func (m *model) over(got tried) string {
	switch {
	case got.err == sequence.Nil:
		return "had its block, and should have returned"
	case got.err != sequence.ErrFull:
		return "was refused by inner with another error than contract.ErrFull, and should have returned"
	case m.asking:
		return "found no room while OnFull's function was running, and should have returned"
	case m.does == noFunction && m.within:
		return "found no room, with no function to make any, since that had called OnFull(nil) while it ran, and should " +
			"have returned"
	case m.does == noFunction:
		return "found no room, with no function to make any, and should have returned"
	case got.again:
		return "found no room in its second try either, and should have returned"
	}
	return "found no room, and OnFull's function said false, so it should have returned"
}

// try is what becomes of one look at limit and at inner.
func (m *model) try(size int64, again bool, done func() reply) (tried, *sequence.Fault) {
	if size > m.layout.limit-m.total.Live {
		if m.log.next().kind == eventAsk {
			return tried{}, askedBeyondLimit(size, m.layout.limit-m.total.Live)
		}
		return tried{err: sequence.ErrFull, again: again}, nil
	}
	e := m.log.next()
	if e.kind != eventAsk {
		return tried{}, m.notAsked(size, again, done)
	}
	m.log.skip()
	if e.a != size {
		return tried{}, askedOtherwise(size, e.a)
	}
	m.asked = size
	return tried{sequence.Err(e.b), true, uint64(e.c), again}, nil
}

// ask is what becomes of a call of OnFull's function, and of the second try.
func (m *model) ask(size int64, first tried, done func() reply) (tried, *sequence.Fault) {
	e := m.log.next()
	if e.kind != eventFull {
		return tried{}, m.notCalled(first, done)
	}
	m.log.skip()
	if e.a != size {
		return tried{}, calledOtherwise(size, e.a)
	}
	if does := full(e.b); does != m.does {
		return tried{}, m.calledEarlier(does)
	}
	m.called[first.byInner], m.roomed = true, true
	m.asking = true
	before := m.total
	said, f := m.room()
	m.gained = contract.TagUse{Live: m.total.Live - before.Live, Count: m.total.Count - before.Count}
	m.asking = false
	if f != nil || !said {
		return first, f
	}
	return m.try(size, true, done)
}

// room follows what the function of OnFull does, and answers what it says.
func (m *model) room() (said bool, f *sequence.Fault) {
	for f == nil {
		e := m.log.skip()
		done := func() reply { return within(m.log.skip()) }
		switch e.kind {
		case eventSaid:
			return e.a == 1, nil
		case eventAlloc:
			f = inRoom(fmt.Sprintf("Alloc(%d)", e.a), m.alloc(e.a, m.names.of(e.b), done))
		case eventFree:
			if f = inRoom("Free", m.free(uint64(e.a), done)); f != nil {
				f.Function = "Free"
			}
		case eventOnFull:
			m.set(full(e.a), true)
		case eventReport:
			m.compare(allocator.Op{}, sequence.Nil)
		default: // it does nothing else
			f = m.unasked(ofFull, "should have waited for OnFull's function to return", e)
		}
	}
	return false, f
}

// free judges a Free.
func (m *model) free(addr uint64, done func() reply) *sequence.Fault {
	if _, live := m.live[addr]; !live {
		if e := m.log.next(); e.kind == eventGive {
			return passedOn()
		}
		if f := m.uncalled(ofErrors, "should have been refused"); f != nil {
			return f
		}
		return refused(ofErrors, sequence.ErrInvalidFree, false, done())
	}
	e := m.log.next()
	if e.kind != eventGive {
		return m.notGiven(done)
	}
	m.log.skip()
	if uint64(e.a) != addr {
		return givenOtherwise()
	}
	if f := m.uncalled(ofErrors, "had given the block back, and should have returned"); f != nil {
		return f
	}
	r := done()
	if err := sequence.Err(e.b); err != sequence.Nil {
		return refused(ofErrors, err, true, r)
	}
	if r.err != sequence.Nil {
		return freeRefused(r)
	}
	m.unbook(addr)
	return nil
}

// uncalled finds a call of inner's, or of OnFull's function, where none should come any more; when says why.
func (m *model) uncalled(part, when string) *sequence.Fault {
	switch e := m.log.next(); e.kind {
	case eventAsk, eventGive, eventFull:
		return m.unasked(part, when, e)
	}
	return nil
}

// unchanging reports whether an operation was refused so that nothing at all may be counted.
func unchanging(op allocator.Op, err sequence.Err) bool {
	return op.Kind != allocator.KindOwn && err != sequence.Nil && err != sequence.ErrFull
}
