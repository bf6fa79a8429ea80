package session

import (
	"slices"

	"cudalab/native/trace"
)

// CallsSince are the calls of each kind that the trace holds behind the last mark with this label, but for those that
// were made Aside, in their order: each as the Site of its record.
func (s *Session) CallsSince(label string) map[trace.Op][]uint32 {
	s.mu.Lock()
	defer s.mu.Unlock()
	sites := map[trace.Op][]uint32{}
	marked := 0
	for at := len(s.records) - 1; at >= 0; at-- {
		if r := &s.records[at]; r.Op == trace.OpMark && r.Label == label {
			marked = at
			break
		}
	}
	asides := s.asides
	for at := marked; at < len(s.records); at++ {
		for len(asides) > 0 && asides[0][1] <= at {
			asides = asides[1:]
		}
		if len(asides) > 0 && asides[0][0] <= at {
			continue
		}
		r := &s.records[at]
		if r.Site != 0 && r.Op != trace.OpMark && r.Phase != trace.Leave { // no call has Site 0: see StartTrace
			sites[r.Op] = append(sites[r.Op], r.Site)
		}
	}
	return sites
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
