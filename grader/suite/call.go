package suite

import (
	"math"
	"slices"

	"cudalab/grader/suite/verdict"
	"cudalab/native/trace"
)

// Call is one Call of a case as the trace shows it.
type Call struct {
	Evidence *Evidence
	Notes    *verdict.CaseNotes
	Outcome  verdict.Outcome
	From, To int        // the records of the student's code
	Set      int        // the records from here up to From are the grader's, which prepared it
	Streams  []trace.ID // that the grader created for it, in their order
	Results  trace.ID   // what the grader allocated for it last, with cuda.Malloc: where it has Results, their memory
}

// Calls are the calls of a case, in their order.
func (e *Evidence) Calls(caseID string) []Call {
	notes := e.Cases[caseID]
	var found []Call
	set := 0
	for i, o := range notes.Outcomes {
		c := Call{Evidence: e, Notes: notes, Outcome: o, Set: set}
		c.From, c.To = notes.Window(i)
		for at := set; at < c.From; at++ {
			switch r := c.Record(at); {
			case r.Op == trace.OpMalloc && r.Phase != trace.Enter:
				c.Results = r.Alloc
			case r.Op == trace.OpStreamCreate:
				c.Streams = append(c.Streams, r.Stream)
			}
		}
		set = c.To
		found = append(found, c)
	}
	return found
}

// Record is one record of the case's trace.
func (c *Call) Record(at int) *trace.Record { return &c.Notes.Trace.Records[at] }

// Records yields the CUDA calls that the student's code made in the call, once each, with their indices in the trace; one that
// waits, where it returned. Those of what it was given to call are not among them.
func (c *Call) Records(yield func(int, *trace.Record) bool) {
	given := c.Callbacks()
	for at := c.From; at < c.To; at++ {
		if len(given) > 0 && at >= given[0].From {
			at, given = given[0].To-1, given[1:]
			continue
		}
		r := c.Record(at)
		if r.Phase == trace.Enter || r.Op == trace.OpMark {
			continue
		}
		if !yield(at, r) {
			return
		}
	}
}

// Before reports whether what one record of the trace has done is over before what another does begins; see Relation.
func (c *Call) Before(i, j int) bool { return c.relation().Before(i, j) }

// Wait is the call that makes one record come after another; see Relation.
func (c *Call) Wait(i, j int) int { return c.relation().Wait(i, j) }

func (c *Call) relation() Relation {
	return verdict.Once(c.Notes, "relation", func() Relation { return c.Evidence.Relate(c.Notes.Trace) })
}

// At makes a finding an error of the line of a record; of none, where record is -1.
func (c *Call) At(record int, f verdict.Finding) verdict.Finding {
	f.Severity, f.Record = verdict.Error, record
	if record < 0 {
		return f
	}
	return c.Evidence.At(f, c.Notes.Trace.SiteOf(c.Record(record)))
}

// NoStream is the ID of no stream of a trace.
const NoStream trace.ID = math.MaxUint32

// Stream is the i-th of the call's Streams. It is NoStream where there are fewer: a runner is the student's process, and its
// trace may be anything.
func (c *Call) Stream(i int) trace.ID {
	if i < 0 || i >= len(c.Streams) {
		return NoStream
	}
	return c.Streams[i]
}

// Names are the names of streams, for StreamName.
func Names(names ...string) func(i int) string {
	return func(i int) string {
		if i < len(names) {
			return names[i]
		}
		return "another stream"
	}
}

// StreamName is what the student calls a stream; name is what they call the i-th of the call's Streams.
func (c *Call) StreamName(id trace.ID, name func(i int) string) string {
	if id == 0 {
		return "the legacy default stream"
	}
	if i := slices.Index(c.Streams, id); i >= 0 {
		return name(i)
	}
	return "a stream of its own"
}

// UnexpectedError is the finding where function should have succeeded, on the line where the trouble began.
func (c *Call) UnexpectedError(function string) verdict.Finding {
	f := UnexpectedError(function, c.Outcome)
	f.Function = function
	return c.Evidence.AtError(f, c.Notes, c.From, c.To)
}
