package verdict

import (
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"

	"cudalab/grader/suite/returned"
	"cudalab/native/session"
	"cudalab/native/trace"
)

// Place is a line of the student's code.
type Place struct {
	File string // as the student named it
	Line int
	Func string // the function's name without its package, "Run"
	// Given says that the function is as the exercise was handed out, with nothing in it to be written.
	Given bool
}

// CaseNotes is what one case left behind.
type CaseNotes struct {
	ID       string
	Outcomes []Outcome
	Values   map[string][]uint64
	Samples  map[string][]int64 // nanoseconds
	Trace    *trace.Trace       // never nil; of a timed case the calls that were audited
	Findings []Finding          // the order checker's
	// Then is the same case, gone on with in a fresh process behind a call that ended it; nil: it was not.
	Then *CaseNotes

	calls []Window       // of all calls, once somebody has asked
	found map[string]any // by Once
}

// NoteBeyond is the name of the gap to which a call came that the case asks nothing about, letter by letter.
const NoteBeyond = "gap beyond"

// Beyond is that gap; "" where no such call came to one.
func (c *CaseNotes) Beyond() (gap string) {
	for _, letter := range c.Values[NoteBeyond] {
		gap += string(rune(letter))
	}
	return gap
}

// Parts are the case in each process that it was carried out in.
func (c *CaseNotes) Parts() iter.Seq[*CaseNotes] {
	return func(yield func(*CaseNotes) bool) {
		for ; c != nil; c = c.Then {
			if !yield(c) {
				return
			}
		}
	}
}

// Once answers what find finds in a case's notes, and perhaps in other cases that were there before, and has it found
// once for all checks: the notes stay as they came. What is found must not be changed. Each thing goes by a name of its
// own.
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

// Copy is the same notes for another judge, with what was found in them by now, or without: what is found may rest on
// the other cases that there were.
func (c *CaseNotes) Copy(withFound bool) *CaseNotes {
	if c == nil {
		return nil
	}
	made := *c
	made.found, made.Then = nil, c.Then.Copy(withFound)
	if withFound {
		made.found = maps.Clone(c.found)
	}
	return &made
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

// mostCalls bounds the number of a call in a trace, which is the student's process's to write.
const mostCalls = 1 << 20

// findWindows are the windows by the numbers in their marks: a call that was made while nothing was recorded has an
// empty one.
func findWindows(t *trace.Trace) []Window {
	all := []Window{}
	open := -1
	for at := range t.Records {
		r := &t.Records[at]
		if r.Op != trace.OpMark {
			continue
		}
		if number, begins := strings.CutPrefix(r.Label, MarkCall); begins {
			if i, err := strconv.Atoi(number); err == nil && len(all) <= i && i < mostCalls {
				all = append(slices.Grow(all, i+1-len(all))[:i], Window{at + 1, len(t.Records)})
				open = i
			}
		} else if strings.HasPrefix(r.Label, MarkReturn) && open >= 0 {
			all[open].To = at
			open = -1
		}
	}
	return all
}

// SameIn reports whether one of the others says the same about the same line.
func (f Finding) SameIn(others []Finding) bool {
	return slices.ContainsFunc(others, func(o Finding) bool {
		return o.Rule == f.Rule && o.File == f.File &&
			o.Line == f.Line
	})
}

// Unique drops findings that say the same about the same line; the first stays. What only a gap has answered says
// nothing about what is written.
func Unique(findings []Finding) []Finding {
	type key struct {
		rule, file string
		line       int
		unwritten  bool
	}
	seen := map[key]bool{}
	kept := findings[:0:0]
	for _, f := range findings {
		k := key{f.Rule, f.File, f.Line, f.Gap != ""}
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
	Label    string // what was called for, in plain words: "5 batches on 2 streams"
	Err      string // the error's text; "" where it returned nil
	Gap      string // the gap that answered, "1a"; "" where none did
	Besides  bool   // the error says more than that gaps have answered, and Err is what
	Argument bool   // the error is contract.ErrArgument
	Odd      Odd    // what is wrong with the error itself
	Panic    string // what it panicked with; "" where it did not
	// what had come before a call that panicked, in words: "slab.New([256], 1), allocate 5"; "" where that was not told
	Before   string
	Runaway  bool           // stopped for making calls without end
	Excess   session.Excess // how it ran into the limit on memory
	Returned returned.Lines // by the code's functions in the course of it
	Stack    trace.Site     // where it panicked or was stopped; else the function that was called, where CallOf was told
}

// CutShort reports whether the code did not come to its end: by a panic, or at a gap.
func (o Outcome) CutShort() bool { return o.Panic != "" || o.Gap != "" }

// OK reports whether the call returned nil.
func (o *Outcome) OK() bool { return o.Err == "" && o.Panic == "" }

// The marks that Call leaves in the trace around the student's code.
const (
	MarkCall   = "call "
	MarkReturn = "return "
)

// The marks around a contender's sample where a race is recorded for a picture, before the contender's name: it begins,
// the code has returned, and the device has come to rest.
const (
	MarkBegan    = "began "
	MarkReturned = "returned "
	MarkRested   = "rested "
)

// Odd is what is wrong with an error itself that the student's code returned, before anybody asks what it says.
type Odd struct {
	Rule string // RuleTypedNil, RuleLyingError or RuleEndlessError; "" where nothing is wrong
	What string // the type, "*cuda.Error", or the method, "Is"
}
