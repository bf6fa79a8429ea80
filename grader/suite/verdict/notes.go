package verdict

import (
	"cudalab/native/session"
	"cudalab/native/trace"
	"slices"
	"strings"
)

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

	calls []Window       // of all calls, once somebody has asked
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
	if windows := c.Windows(); 0 <= i && i < len(windows) {
		return windows[i].From, windows[i].To
	}
	return 0, 0
}

// Window is a range of indices into Trace.Records.
type Window struct{ From, To int }

// Windows are those of all calls. They are looked for once: the trace stays as it came.
func (c *CaseNotes) Windows() []Window {
	if c.calls == nil {
		c.calls = findWindows(c.Trace)
	}
	return c.calls
}

func findWindows(t *trace.Trace) []Window {
	all := []Window{}
	open := false
	for at := range t.Records {
		r := &t.Records[at]
		if r.Op != trace.OpMark {
			continue
		}
		switch {
		case strings.HasPrefix(r.Label, MarkCall):
			all = append(all, Window{at + 1, len(t.Records)})
			open = true
		case strings.HasPrefix(r.Label, MarkReturn) && open:
			all[len(all)-1].To = at
			open = false
		}
	}
	return all
}

// SameIn reports whether one of the others says the same about the same line.
func (f Finding) SameIn(others []Finding) bool {
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

// CallsOfRecords is, by record of the trace, the number of the Call that it was made in; -1 for the grader's own.
func (c *CaseNotes) CallsOfRecords() []int {
	calls := make([]int, len(c.Trace.Records))
	for at := range calls {
		calls[at] = -1
	}
	for i, w := range c.Windows() {
		for at := w.From; at < w.To; at++ {
			calls[at] = i
		}
	}
	return calls
}

// Outcome is how one call of the student's code ended.
type Outcome struct {
	Label    string         // what was called for, in plain words: "5 batches on 2 streams"
	Err      string         // the error's text; "" where it returned nil
	Gap      string         // the gap that answered, "1a"; "" where none did
	Besides  bool           // the error says more than that gaps have answered, and Err is what
	Argument bool           // the error is contract.ErrArgument
	Odd      Odd            // what is wrong with the error itself
	Panic    string         // what it panicked with; "" where it did not
	Before   string         // what had come before a call that panicked, in words: "slab.New([256], 1), allocate 5"; "" where that was not told
	Runaway  bool           // stopped for making calls without end
	Excess   session.Excess // how it ran into the limit on memory
	Stack    trace.Site     // where it panicked or was stopped; else the function that was called, where CallOf was told
}

// OK reports whether the call returned nil.
func (o *Outcome) OK() bool { return o.Err == "" && o.Panic == "" }

// The marks that Call leaves in the trace around the student's code.
const (
	MarkCall   = "call "
	MarkReturn = "return "
)

// Odd is what is wrong with an error itself that the student's code returned, before anybody asks what it says.
type Odd struct {
	Rule string // RuleTypedNil, RuleLyingError or RuleEndlessError; "" where nothing is wrong
	What string // the type, "*cuda.Error", or the method, "Is"
}
