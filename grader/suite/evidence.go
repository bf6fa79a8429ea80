package suite

import (
	"cudalab/grader/suite/verdict"
	"cudalab/native/device"
	"cudalab/native/trace"
)

// Evidence is what a check judges by.
type Evidence struct {
	Seed   uint64
	Device verdict.Device
	Cases  map[string]*verdict.CaseNotes
	// Place finds the student's lines in a call stack, innermost first; empty where the call was the grader's own.
	Place func(trace.Site) []verdict.Place
	// Relate asks the order checker what comes before what in a trace.
	Relate func(*trace.Trace) Relation
}

// Relation is which work is over before which begins, whatever CUDA does as late as it may: order.Relation, which a runner
// has no use for.
type Relation interface {
	Before(i, j int) bool // of two records, by their indices in the trace
	Wait(i, j int) int    // the call that makes it so, where one has to; else -1
}

// RelationOf is Relate's answer about a case, which is asked for once.
func (e *Evidence) RelationOf(c *verdict.CaseNotes) Relation {
	return verdict.Once(c, "relation", func() Relation { return e.Relate(c.Trace) })
}

// Of picks the order checker's findings of the given rules out of some cases.
func (e *Evidence) Of(rules []string, cases ...string) []verdict.Finding {
	var found []verdict.Finding
	for _, id := range cases {
		for _, f := range e.Cases[id].Findings {
			for _, rule := range rules {
				if f.Rule == rule {
					found = append(found, f)
				}
			}
		}
	}
	return verdict.Unique(found)
}

// At gives a finding the position of a call stack, and says how it got there where the line is in a helper.
func (e *Evidence) At(f verdict.Finding, site trace.Site) verdict.Finding {
	places := e.Place(site)
	if len(places) == 0 {
		return f
	}
	f.File, f.Line = places[0].File, places[0].Line
	told := map[verdict.Place]int{} // by where it was called from: how often
	for _, p := range places[1:] {
		told[p]++
	}
	for _, p := range places[1:] {
		r := verdict.Related{File: p.File, Line: p.Line, Message: "called from " + p.Func}
		switch n := told[p]; {
		case n == 0:
			continue // that is said
		case n > 1: // it calls itself, perhaps through others
			r.Message += ", again and again"
		}
		f.Related = append(f.Related, r)
		told[p] = 0
	}
	return f
}

// AtError gives a finding the line of the student's first call among some records that answered an error, in which the
// trouble began. That work is not ready is an answer to who asks for that.
func (e *Evidence) AtError(f verdict.Finding, c *verdict.CaseNotes, from, to int) verdict.Finding {
	for at := from; at < to; at++ {
		r := &c.Trace.Records[at]
		notYet := r.Code == int32(device.ErrorNotReady) && r.Op != trace.OpEventElapsedTime
		if r.Code == 0 || notYet || r.Phase == trace.Enter {
			continue
		}
		if placed := e.At(f, c.Trace.SiteOf(r)); placed.File != "" {
			placed.Record = at
			return placed
		}
	}
	return f
}
