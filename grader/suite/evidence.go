package suite

import (
	"slices"
	"strings"

	"cudalab/native/device"
	"cudalab/native/trace"
)

// Evidence is what a check judges by.
type Evidence struct {
	Seed   uint64
	Device Device
	Cases  map[string]*CaseNotes
	// Place finds the student's lines in a call stack, innermost first; empty where the call was the grader's own.
	Place func(trace.Site) []Place
	// Relate asks the order checker what comes before what in a trace.
	Relate func(*trace.Trace) Relation
}

// Relation is which work is over before which begins, whatever CUDA does as late as it may: order.Relation, which a runner
// has no use for.
type Relation interface {
	Before(i, j int) bool // of two records, by their indices in the trace
	Wait(i, j int) int    // the call that makes it so, where one has to; else -1
}

// Place is a line of the student's code.
type Place struct {
	File string // as the student named it
	Line int
	Func string // the function's name without its package, "Run"
}

// CaseNotes is what one case left behind.
type CaseNotes struct {
	ID       string
	Outcomes []Outcome
	Values   map[string][]uint64
	Samples  map[string][]int64 // nanoseconds
	Trace    *trace.Trace       // never nil; empty for a timed case
	Findings []Finding          // the order checker's

	calls []window       // of all calls, once somebody has asked
	found map[string]any // by Once
}

// Once answers what find finds in a case's notes, and perhaps in other cases that were there before, and has it found once
// for all checks: the notes stay as they came. What is found must not be changed. Each thing goes by a name of its own.
func Once[T any](c *CaseNotes, name string, find func() T) T {
	if v, ok := c.found[name].(T); ok {
		return v
	}
	v := find()
	if c.found == nil {
		c.found = map[string]any{}
	}
	c.found[name] = v
	return v
}

// Window is the records that the i-th Call of the case made, as a range of indices into Trace.Records.
func (c *CaseNotes) Window(i int) (from, to int) {
	if windows := c.windows(); 0 <= i && i < len(windows) {
		return windows[i].from, windows[i].to
	}
	return 0, 0
}

type window struct{ from, to int }

// windows are those of all calls. They are looked for once: the trace stays as it came.
func (c *CaseNotes) windows() []window {
	if c.calls == nil {
		c.calls = findWindows(c.Trace)
	}
	return c.calls
}

func findWindows(t *trace.Trace) []window {
	all := []window{}
	open := false
	for at := range t.Records {
		r := &t.Records[at]
		if r.Op != trace.OpMark {
			continue
		}
		switch {
		case strings.HasPrefix(r.Label, markCall):
			all = append(all, window{at + 1, len(t.Records)})
			open = true
		case strings.HasPrefix(r.Label, markReturn) && open:
			all[len(all)-1].to = at
			open = false
		}
	}
	return all
}

// Of picks the order checker's findings of the given rules out of some cases.
func (e *Evidence) Of(rules []string, cases ...string) []Finding {
	var found []Finding
	for _, id := range cases {
		for _, f := range e.Cases[id].Findings {
			for _, rule := range rules {
				if f.Rule == rule {
					found = append(found, f)
				}
			}
		}
	}
	return Unique(found)
}

// sameIn reports whether one of the others says the same about the same line.
func (f Finding) sameIn(others []Finding) bool {
	return slices.ContainsFunc(others, func(o Finding) bool { return o.Rule == f.Rule && o.File == f.File && o.Line == f.Line })
}

// Unique drops findings that say the same about the same line; the first stays.
func Unique(findings []Finding) []Finding {
	type key struct {
		rule, file string
		line       int
	}
	seen := map[key]bool{}
	kept := findings[:0:0]
	for _, f := range findings {
		k := key{f.Rule, f.File, f.Line}
		if seen[k] {
			continue
		}
		seen[k] = true
		kept = append(kept, f)
	}
	return kept
}

// At gives a finding the position of a call stack, and says how it got there where the line is in a helper.
func (e *Evidence) At(f Finding, site trace.Site) Finding {
	places := e.Place(site)
	if len(places) == 0 {
		return f
	}
	f.File, f.Line = places[0].File, places[0].Line
	told := map[Place]int{} // by where it was called from: how often
	for _, p := range places[1:] {
		told[p]++
	}
	for _, p := range places[1:] {
		r := Related{File: p.File, Line: p.Line, Message: "called from " + p.Func}
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
func (e *Evidence) AtError(f Finding, c *CaseNotes, from, to int) Finding {
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

// CallsOfRecords is, by record of the trace, the number of the Call that it was made in; -1 for the grader's own.
func (c *CaseNotes) CallsOfRecords() []int {
	calls := make([]int, len(c.Trace.Records))
	for at := range calls {
		calls[at] = -1
	}
	for i, w := range c.windows() {
		for at := w.from; at < w.to; at++ {
			calls[at] = i
		}
	}
	return calls
}
