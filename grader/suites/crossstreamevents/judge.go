package crossstreamevents

import (
	"slices"

	"cudalab/grader/suite"
	"cudalab/native/trace"
)

// call is one call of the student's code as the trace shows it.
type call struct {
	e        *suite.Evidence
	notes    *suite.CaseNotes
	w        workload
	outcome  suite.Outcome
	from, to int        // its records
	results  trace.ID   // the allocation that holds the results
	streams  []trace.ID // the source first
	sums     []uint64
}

// calls pairs a case's outcomes with the workloads they came from.
func calls(e *suite.Evidence, caseID string, ws []workload) []call {
	notes := e.Cases[caseID]
	sums := notes.Values["sum"]
	var found []call
	set := 0 // where the grader's preparations for the next call begin
	for i, o := range notes.Outcomes {
		c := call{e: e, notes: notes, w: ws[min(i, len(ws)-1)], outcome: o}
		c.from, c.to = notes.Window(i)
		for at := set; at < c.from; at++ {
			switch r := &notes.Trace.Records[at]; r.Op {
			case trace.OpMalloc:
				if r.Phase != trace.Enter {
					c.results = r.Alloc
				}
			case trace.OpStreamCreate:
				c.streams = append(c.streams, r.Stream)
			}
		}
		set = c.to
		if n := c.w.outs(); len(sums) >= n {
			c.sums, sums = sums[:n], sums[n:]
		}
		found = append(found, c)
	}
	return found
}

// good are the calls that every right program completes.
func good(e *suite.Evidence) []call {
	return slices.Concat(
		calls(e, caseShare, shareWorkloads(e.Seed)), calls(e, caseShareDelays, shareDelayed(e.Seed)),
		calls(e, caseFanOut, fanOutWorkloads(e.Seed)), calls(e, caseFanOutDelays, fanOutDelayed(e.Seed)))
}

// incomplete says why good has not seen everything; "" if it has.
func incomplete(e *suite.Evidence) string {
	want := len(shareWorkloads(e.Seed)) + len(shareDelayed(e.Seed)) + len(fanOutWorkloads(e.Seed)) + len(fanOutDelayed(e.Seed))
	for _, c := range good(e) {
		if c.outcome.OK() {
			want--
		}
	}
	if want > 0 {
		return "Share or FanOut ended early with an error, so this could not be seen in full."
	}
	return ""
}

// judgeCalls puts together what look finds in each of the good calls.
func judgeCalls(e *suite.Evidence, pass string, look func(*call) []suite.Finding) suite.Answer {
	a := suite.Answer{Message: pass}
	all := good(e)
	for i := range all {
		a.Findings = append(a.Findings, look(&all[i])...)
	}
	a.Findings = suite.Unique(a.Findings)
	if len(a.Findings) == 0 {
		a.Skip = incomplete(e)
	}
	return a
}

// stream is the place of a stream among those of the call, 0 for the source; -1 for any other.
func (c *call) stream(id trace.ID) int { return slices.Index(c.streams, id) }

// streamName is what the student calls a stream.
func (c *call) streamName(id trace.ID) string {
	if id == 0 {
		return "the legacy default stream"
	}
	if i := c.stream(id); i >= 0 {
		return c.w.streamName(i)
	}
	return "a stream of its own"
}

// records yields the calls that the student's code made, with their indices in the trace; a call that
// waits, where it returned. The work of independent is not among them.
func (c *call) records(yield func(int, *trace.Record) bool) {
	for at := c.from; at < c.to; at++ {
		r := &c.notes.Trace.Records[at]
		if r.Phase == trace.Enter || r.Op == trace.OpMark || independent(r) {
			continue
		}
		if !yield(at, r) {
			return
		}
	}
}

// independent reports whether a record is of the work that independent enqueues.
func independent(r *trace.Record) bool { return r.Op == trace.OpLaunch && r.Kernel == "delay" }

// at gives a finding the line of a record.
func (c *call) at(f suite.Finding, record int) suite.Finding {
	f.Severity, f.Record = suite.Error, record
	return c.e.At(f, c.notes.Trace.SiteOf(&c.notes.Trace.Records[record]))
}

// relate adds the student's line of a record to a finding.
func (c *call) relate(f *suite.Finding, record int, message string) {
	if places := c.e.Place(c.notes.Trace.SiteOf(&c.notes.Trace.Records[record])); len(places) > 0 {
		f.Related = append(f.Related, suite.Related{File: places[0].File, Line: places[0].Line, Message: message})
	}
}

// touches reports whether r reads or writes result i.
func (c *call) touches(r *trace.Record, i int) bool {
	return slices.ContainsFunc(r.Accesses, func(a trace.Access) bool {
		return a.Alloc == c.results && a.Offset < int64(8*i+8) && a.Offset+a.Size > int64(8*i)
	})
}

// reduction is the last launch of reduce that added to result i; -1 if there is none.
func (c *call) reduction(i int) int {
	last := -1
	c.records(func(at int, r *trace.Record) bool {
		if r.Op == trace.OpLaunch && r.Kernel == "reduce" && r.Code == 0 && c.touches(r, i) {
			last = at
		}
		return true
	})
	return last
}
