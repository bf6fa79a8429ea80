package crossstreamevents

import (
	"slices"

	"cudalab/grader/suite"
	"cudalab/native/trace"
)

// call is one call of the student's code as the trace shows it. Its first stream is the source.
type call struct {
	suite.Call
	w    workload
	sums []uint64
}

// calls pairs a case's calls with the workloads they came from.
func calls(e *suite.Evidence, caseID string, ws []workload) []call {
	sums := e.Cases[caseID].Values[noteSum]
	var found []call
	for i, made := range e.Calls(caseID) {
		c := call{Call: made, w: ws[min(i, len(ws)-1)]}
		if n := c.w.outs(); len(sums) >= n {
			c.sums, sums = sums[:n], sums[n:]
		}
		found = append(found, c)
	}
	return found
}

// good are the calls that every right program completes.
func good(e *suite.Evidence) []call {
	return suite.Once(e.Cases[caseShare], "good", func() []call {
		return slices.Concat(
			calls(e, caseShare, shareWorkloads(e.Seed)), calls(e, caseShareDelays, shareDelayed(e.Seed)),
			calls(e, caseFanOut, fanOutWorkloads(e.Seed)), calls(e, caseFanOutDelays, fanOutDelayed(e.Seed)))
	})
}

// incomplete says why good has not seen everything; "" if it has.
func incomplete(e *suite.Evidence) string {
	want := len(shareWorkloads(e.Seed)) + len(shareDelayed(e.Seed)) + len(fanOutWorkloads(e.Seed)) + len(fanOutDelayed(e.Seed))
	for _, c := range good(e) {
		if c.Outcome.OK() {
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

// streamName is what the student calls a stream.
func (c *call) streamName(id trace.ID) string { return c.StreamName(id, c.w.streamName) }

// records yields the calls that the student's code made, as Records does, without the work of independent.
func (c *call) records(yield func(int, *trace.Record) bool) {
	c.Records(func(at int, r *trace.Record) bool { return independent(r) || yield(at, r) })
}

// independent reports whether a record is of the work that independent enqueues.
func independent(r *trace.Record) bool { return r.Op == trace.OpLaunch && r.Kernel == "delay" }

// relate adds the student's line of a record to a finding.
func (c *call) relate(f *suite.Finding, record int, message string) {
	if places := c.Evidence.Place(c.Notes.Trace.SiteOf(c.Record(record))); len(places) > 0 {
		f.Related = append(f.Related, suite.Related{File: places[0].File, Line: places[0].Line, Message: message})
	}
}

// reduction is the last launch of reduce that added to result i; -1 if there is none.
func (c *call) reduction(i int) int {
	last := -1
	c.records(func(at int, r *trace.Record) bool {
		if r.Op == trace.OpLaunch && r.Kernel == "reduce" && r.Code == 0 && c.Touches(r, i) {
			last = at
		}
		return true
	})
	return last
}
