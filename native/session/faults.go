package session

import (
	"cudalab/native/device"
	"cudalab/native/trace"
)

// fault is an answer to give in place of the device's, to the in-th call from now.
type fault struct {
	in   int
	code device.Code
}

// Fail lets the k-th call of op from now, 1 being the next, answer code without reaching the device. Faults add up;
// each happens once.
func (s *Session) Fail(op trace.Op, k int, code device.Code) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.faults == nil {
		s.faults = make(map[trace.Op][]fault)
	}
	s.faults[op] = append(s.faults[op], fault{k, code})
	s.rewatch()
}

// ClearFaults forgets the faults that have not happened.
func (s *Session) ClearFaults() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.faults)
	s.rewatch()
}

// Aside has f make calls that none of the faults are for, and that CallsSince leaves out.
func (s *Session) Aside(f func()) {
	s.mu.Lock()
	faults, from := s.faults, len(s.records)
	s.faults = nil
	s.rewatch()
	s.mu.Unlock()
	f()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults, s.asides = faults, append(s.asides, [2]int{from, len(s.records)})
	s.rewatch()
}

// Failing reports whether a call is still to fail.
func (s *Session) Failing() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.faults) > 0
}

// fault counts a call of op and returns the answer that is to be given to it, if there is one. The lock is held.
func (s *Session) fault(op trace.Op) (code device.Code, ok bool) {
	waiting := s.faults[op]
	if len(waiting) == 0 {
		return 0, false
	}
	left := waiting[:0]
	for _, f := range waiting {
		f.in--
		if f.in > 0 {
			left = append(left, f)
		} else if !ok {
			code, ok = f.code, true
		}
	}
	if len(left) == 0 {
		delete(s.faults, op)
		s.rewatch()
	} else {
		s.faults[op] = left
	}
	return code, ok
}

// SetQuota limits the bytes that may be allocated at one time while tracing, on the device and pinned together; 0 means
// no limit. Beyond it an allocation answers OUT_OF_MEMORY, as on a full device, without reaching the device. It returns
// how the last quota was run into.
func (s *Session) SetQuota(bytes uint64) Excess {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.excess
	s.quota, s.excess = bytes, Excess{}
	return e
}

// Excess is the first request that a quota refused because of what the program held already. One that the quota would
// have refused by itself is none: a device can be too small for it as well.
type Excess struct {
	Asked  uint64 // bytes; 0: there was no such request
	Held   uint64 // bytes
	Quota  uint64
	Record int // the refused call's, in the trace
}

// beyondQuota reports whether so many bytes more would be too many, for the last call. The lock is held.
func (s *Session) beyondQuota(size int64) bool {
	asked := uint64(size)
	if !s.tracing || s.quota == 0 || s.asked+asked <= s.quota {
		return false
	}
	if s.excess.Asked == 0 && asked <= s.quota {
		s.excess = Excess{Asked: asked, Held: s.asked, Quota: s.quota, Record: len(s.records) - 1}
	}
	return true
}
