package session

import (
	"slices"

	"cudalab/native/trace"
)

// mostGiven is how many bytes of what calls were given one trace holds. Later calls are recorded without.
const mostGiven = 16 << 20

// RecordGiven says whether the traces started from now on hold what it takes to carry their calls out again: see
// trace.Given.
func (s *Session) RecordGiven(on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.recordsGiven = on
}

// given enters in r what a call was given, where that is recorded. The lock is held.
func (s *Session) given(r *trace.Record, what func() *trace.Given) {
	if s.tracing && s.recordsGiven {
		r.Given = what()
	}
}

// givenBytes is given for bytes, as long as there is room for them.
func (s *Session) givenBytes(r *trace.Record, data []byte) {
	s.given(r, func() *trace.Given {
		if s.givenSize+len(data) > mostGiven {
			return nil
		}
		s.givenSize += len(data)
		return &trace.Given{Data: slices.Clone(data)}
	})
}
