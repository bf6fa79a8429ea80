package suite

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"cudalab/grader/suite/measure"
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
	// Translation is the suite's OnDevice for the threads of a GPU; nil where nothing is asked of that.
	Translation *Translation

	audit *audit // nil where a check is asked about its own cases
}

// Translation is a function of the student's as the threads of a GPU carry it out.
type Translation struct {
	PTX     string // what package ptx makes of it; "" where it is refused
	Refused []verdict.Finding
}

// Relation is which work is over before which begins, whatever CUDA does as late as it may: order.Relation, which a
// runner has no use for.
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
	for _, id := range e.casesOf(cases) {
		for c := range e.Cases[id].Parts() {
			for _, f := range c.Findings {
				if slices.Contains(rules, f.Rule) && e.audit.covers(&f) {
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
	for i, p := range places {
		if !p.Given { // whose call it is that has come to harm in what was given
			for _, p := range places[:i] {
				f.Related = append(f.Related, verdict.Related{File: p.File, Line: p.Line, Message: "it came to that here, in " +
					"code that was given"})
			}
			if i > 0 {
				f.Effect = places[0].Line
			}
			places = places[i:]
			break
		}
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
			placed.Record, placed.Failed = at, true
			return e.atTimeless(placed, c, r)
		}
	}
	return f
}

// atTimeless puts a finding about a call that asks for the time between two events where an event was made that takes
// none.
func (e *Evidence) atTimeless(f verdict.Finding, c *verdict.CaseNotes, asks *trace.Record) verdict.Finding {
	if asks.Op != trace.OpEventElapsedTime {
		return f
	}
	for at := range c.Trace.Records {
		r := &c.Trace.Records[at]
		made := r.Op == trace.OpEventCreate && r.Code == 0 && (r.Event == asks.Event || r.Event == asks.Event2)
		if !made || r.Flags&device.EventDisableTiming == 0 {
			continue
		}
		if placed := e.At(f, c.Trace.SiteOf(r)); placed.File != "" {
			placed.Related = append(placed.Related, verdict.Related{File: f.File, Line: f.Line, Message: "what comes of it"})
			placed.Effect = f.Line
			placed.Message += " One of the events is made here, without timing."
			return placed
		}
	}
	return f
}

// Remarks are the order checker's remarks on the student's lines in some cases, but for those on what is left at the
// end, which has a check of its own.
func (e *Evidence) Remarks(cases ...string) []verdict.Finding {
	var found []verdict.Finding
	for _, id := range e.casesOf(cases) {
		for c := range e.Cases[id].Parts() {
			for _, f := range c.Findings {
				if f.Severity == verdict.Remark && f.File != "" && e.audit.covers(&f) &&
					!slices.Contains(verdict.EndRules, f.Rule) {
					found = append(found, f)
				}
			}
		}
	}
	return verdict.Unique(found)
}

// CallName is a call as the student wrote it: "cuda.MallocAsync", "kernels.Reduce".
func CallName(r *trace.Record) string {
	switch {
	case r.Op == trace.OpLaunch && r.Kernel == "": // of no kernel
		return "cuda.LaunchKernel"
	case r.Op == trace.OpLaunch:
		return "kernels." + strings.ToUpper(r.Kernel[:1]) + r.Kernel[1:]
	}
	if r.Flags != 0 && (r.Op == trace.OpEventCreate || r.Op == trace.OpStreamCreate) {
		return "cuda." + r.Op.String() + "WithFlags"
	}
	return "cuda." + r.Op.String()
}

// UnexpectedError is the finding where function should have succeeded.
func UnexpectedError(function string, o verdict.Outcome) verdict.Finding {
	f := verdict.Finding{
		Rule: "unexpected-error", Severity: verdict.Error, Record: -1,
		Message: fmt.Sprintf("%s should have returned nil for %s, but it returned: %s.", function, o.Label,
			strings.TrimSuffix(o.Err, ".")),
		Why: "A CUDA call that answers an error has done nothing, so what follows cannot be right.",
		Fix: cmp.Or(Remedy(o.Err), "Look at the call that the error names: what is said behind its name is what was wrong "+
			"with it."),
	}
	f.Look.Return = o.Returned
	if !o.Besides {
		f.Gap = o.Gap
	}
	if o.Argument {
		f.Refused = true
		f.Why = "contract.ErrArgument says that the caller has asked for what cannot be, and this can."
		f.Fix = "Refuse what the comment in the skeleton names, and nothing else."
	}
	return f
}

// Figure is a measurement with its interval; a limit of 0 is none.
func Figure(name, unit string, v measure.Interval, limit float64) verdict.Measurement {
	return verdict.Measurement{Name: name, Unit: unit, Value: v.Value, Low: v.Low, High: v.High, Limit: limit}
}

// Microseconds is the median of samples in nanoseconds.
func Microseconds(name string, samples []int64) verdict.Measurement {
	v := measure.MedianOf(samples)
	return verdict.Measurement{Name: name, Unit: "µs", Value: v.Value / 1e3, Low: v.Low / 1e3, High: v.High / 1e3}
}

// Bytes is a number of bytes in words, exactly: "1 byte", "300 bytes", "64 KiB", "20 MiB".
func Bytes(n uint64) string {
	switch {
	case n == 1:
		return "1 byte"
	case n >= 1<<20 && n%(1<<20) == 0:
		return fmt.Sprintf("%d MiB", n>>20)
	case n >= 1<<10 && n%(1<<10) == 0:
		return fmt.Sprintf("%d KiB", n>>10)
	}
	return fmt.Sprintf("%d bytes", n)
}
