package session

import "cudalab/native/device"

// Holds reports whether the size bytes at p lie inside one allocation that was made while tracing and is not freed: the
// device may work on them without harm.
func (s *Session) Holds(p device.Ptr, size int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	a, freed, _ := s.memory.find(p)
	return a != nil && !freed && p >= a.base && size >= 0 && size <= a.size && uint64(p-a.base) <= uint64(a.size-size)
}
