package allocator

import (
	"fmt"
	"slices"

	"cudalab/grader/suite"
	"cudalab/grader/suite/sequence"
	"cudalab/grader/suite/verdict"
	"cudalab/native/trace"
)

// Handover is a block on its way from who gave it back to who got it next.
type Handover[L fmt.Stringer] struct {
	*Ledger
	Run   *Run[L]
	Took  *Step // the Alloc that has handed it out
	Taken int   // its place among the steps
}

// Handover is the one that a finding of the order checker's is of; nil where none is known.
func (g Good[Code, L]) Handover(e *suite.Evidence, f *verdict.Finding) *Handover[L] {
	s := g.Noted(e, f)
	if s == nil {
		return nil
	}
	for _, r := range s.Runs(e) {
		if !r.Before(f.Record) {
			continue
		}
		h := &Handover[L]{Ledger: NewLedger(&r), Run: &r, Taken: -1}
		if h.Ledger == nil {
			return nil
		}
		for i := range h.Steps {
			if x := &h.Steps[i]; x.Kind == KindAlloc && x.Err == sequence.Nil && x.To <= f.Record {
				h.Taken, h.Took = i, x
			}
		}
		if h.Took == nil {
			return nil
		}
		return h
	}
	return nil
}

// Pending is whether the last work that a Free has behind it in its stream may still be under way at a record.
func (h *Handover[L]) Pending(e *suite.Evidence, free *Step, record int) bool {
	for at := free.From - 1; at >= 0; at-- {
		if r := &h.Records[at]; r.Op == trace.OpLaunch && r.Stream == free.ID && r.Code == 0 {
			return !e.RelationOf(h.Run.Notes).Before(at, record)
		}
	}
	return false
}

// Tell adds what became of the block to the finding.
func (h *Handover[L]) Tell(f *verdict.Finding, what, fix string) {
	f.Message += fmt.Sprintf(" In the sequence %q with %s, %s.", h.Run.Name, h.Run.Layout, what)
	f.Fix = fix
}

// Missing has the finding be about a method that has not made a call of CUDA's.
func (h *Handover[L]) Missing(f *verdict.Finding, method string, call trace.Op) {
	f.Function, f.Look = method, verdict.Look{Call: call.String()}
}

// On puts the finding on the line of a record, and answers its places.
func (h *Handover[L]) On(e *suite.Evidence, f *verdict.Finding, record int) []verdict.Place {
	site := h.Site(&h.Records[record])
	if places := e.Place(site); len(places) == 0 || places[0].File == f.File && places[0].Line == f.Line {
		return places
	}
	was := verdict.Related{File: f.File, Line: f.Line, Message: "what comes of it"}
	related := f.Related
	*f = e.At(*f, site)
	f.Effect = was.Line
	f.Related = slices.Concat([]verdict.Related{was}, f.Related[len(related):], related)
	return e.Place(site)
}

// HostWait is the finding about a method that makes the host wait, by a call that does so in the way that how says.
func (x *Step) HostWait(r *trace.Record, how, fix string) verdict.Finding {
	return verdict.Finding{Rule: "host-wait",
		Message: fmt.Sprintf("%s should not make the host wait, but %s %s.", x.Method(), suite.CallName(r), how),
		Why: "While the host waits it gives no stream any work, and the device runs dry: a stream that waits costs the " +
			"host nothing.",
		Fix: fix}
}

// Needless is the finding about a method that may call what is allowed, and has made another call.
func (x *Step) Needless(r *trace.Record, allowed, fix string) verdict.Finding {
	return verdict.Finding{Rule: "cuda-call",
		Message: fmt.Sprintf("%s should have called nothing but %s, but it called %s.", x.Method(), allowed,
			suite.CallName(r)),
		Why: "A pool is there so that a block costs next to nothing: each call of the driver's costs more than all the rest.",
		Fix: fix}
}
