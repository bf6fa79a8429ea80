package session

import (
	"cudalab/native/device"
	"cudalab/native/trace"
)

// taken is a call by which the code under test has destroyed what was lent to it.
type taken struct {
	Op   trace.Op
	Site trace.Site
}

// Guest says whether the code under test runs from now on, and returns what was said before. What is made while it does
// not is lent: a stream, an event, a pool or memory that it may use and not destroy. That is known with tracing off as
// well.
func (s *Session) Guest(runs bool) (before bool) { return s.guest.Swap(runs) }

// Taken is the first call that has destroyed what was lent; nil where there was none.
func (s *Session) Taken() *taken {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.taken
}

// take notes that a call is about to destroy a thing, if that is lent and it is the code under test that calls.
func (s *Session) take(op trace.Op, o *object) {
	if s.guest.Load() && o.lent && o.alive(s) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.takes(op)
	}
}

// takeMemory is take for device memory, which stops to be lent where its owner frees it.
func (s *Session) takeMemory(op trace.Op, p device.Ptr) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.lent[p] {
		return
	}
	delete(s.lent, p)
	if s.guest.Load() {
		s.takes(op)
	}
}

// takes keeps the first call. The lock is held.
func (s *Session) takes(op trace.Op) {
	if s.taken == nil {
		s.taken = &taken{op, trace.Callers(3)}
	}
}

// lend notes that memory which was just allocated is lent, if it is.
func (s *Session) lend(p device.Ptr, code device.Code) {
	if code != device.Success || p == 0 || s.guest.Load() {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lent == nil {
		s.lent = map[device.Ptr]bool{}
	}
	s.lent[p] = true
}
