package session

import (
	"slices"

	"cudalab/native/trace"
)

// CallsSince counts the calls of each kind that the trace holds behind the last mark with this label.
func (s *Session) CallsSince(label string) map[trace.Op]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	counts := map[trace.Op]int{}
	for at := len(s.records) - 1; at >= 0; at-- {
		r := &s.records[at]
		if r.Op == trace.OpMark && r.Label == label {
			break
		}
		if r.Site != 0 && r.Phase != trace.Leave { // no call has Site 0: see StartTrace
			counts[r.Op]++
		}
	}
	return counts
}

// Since are the records of the calls of a kind that the trace holds behind its last mark and that have succeeded.
func (s *Session) Since(op trace.Op) []trace.Record {
	s.mu.Lock()
	defer s.mu.Unlock()
	var found []trace.Record
	for at := len(s.records) - 1; at >= 0 && s.records[at].Op != trace.OpMark; at-- {
		if r := s.records[at]; r.Op == op && r.Code == 0 && r.Phase != trace.Enter {
			found = append(found, r)
		}
	}
	slices.Reverse(found)
	return found
}
