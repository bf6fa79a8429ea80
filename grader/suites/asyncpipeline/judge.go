package asyncpipeline

import (
	"fmt"
	"slices"

	"cudalab/grader/suite"
	"cudalab/native/trace"
)

// call is one call of Run as the trace shows it.
type call struct {
	e        *suite.Evidence
	notes    *suite.CaseNotes
	w        workload
	outcome  suite.Outcome
	from, to int        // its records
	results  trace.ID   // the allocation that holds the results
	streams  []trace.ID // as Run was given them
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
		if n := len(c.w.batches); len(sums) >= n {
			c.sums, sums = sums[:n], sums[n:]
		}
		found = append(found, c)
	}
	return found
}

// good are the calls of the two cases that every right program completes.
func good(e *suite.Evidence) []call {
	return append(calls(e, caseShapes, shapes()), calls(e, caseRandom, drawn(e.Seed))...)
}

// incomplete says why good has not seen everything; "" if it has.
func incomplete(e *suite.Evidence) string {
	want, ok := len(shapes())+len(drawn(e.Seed)), 0
	for _, c := range good(e) {
		if c.outcome.OK() {
			ok++
		}
	}
	if ok < want {
		return "Run ended early with an error, so this could not be seen in full."
	}
	return ""
}

// batchName is "batches[2] (257 elements)".
func (c *call) batchName(i int) string {
	return fmt.Sprintf("batches[%d] (%s)", i, count(c.w.batches[i].N, "element", "elements"))
}

// streamName is how the student sees a stream: by its place in the slice.
func (c *call) streamName(id trace.ID) string {
	if id == 0 {
		return "the legacy default stream"
	}
	if i := slices.Index(c.streams, id); i >= 0 {
		return fmt.Sprintf("streams[%d]", i)
	}
	return "a stream of its own"
}

// records yields the indices of the student's own successful calls.
func (c *call) records(yield func(int, *trace.Record) bool) {
	for at := c.from; at < c.to; at++ {
		r := &c.notes.Trace.Records[at]
		if r.Phase == trace.Enter || r.Op == trace.OpMark {
			continue
		}
		if !yield(at, r) {
			return
		}
	}
}

// at gives a finding the line of a record.
func (c *call) at(f suite.Finding, record int) suite.Finding {
	f.Record = record
	return c.e.At(f, c.notes.Trace.SiteOf(&c.notes.Trace.Records[record]))
}

// touches reports whether r reads or writes result i.
func (c *call) touches(r *trace.Record, i int) bool {
	return slices.ContainsFunc(r.Accesses, func(a trace.Access) bool {
		return a.Alloc == c.results && a.Offset < int64(8*i+8) && a.Offset+a.Size > int64(8*i)
	})
}

// buffer is the allocation that the sum of batch i was taken from, and the record of the reduce that did; -1 if none.
func (c *call) buffer(i int) (alloc trace.ID, record int) {
	record = -1
	c.records(func(at int, r *trace.Record) bool {
		if r.Op == trace.OpLaunch && c.touches(r, i) {
			record = at
			for _, a := range r.Accesses {
				if a.Alloc != c.results {
					alloc = a.Alloc
				}
			}
		}
		return true
	})
	return alloc, record
}

func judgeArguments(e *suite.Evidence) suite.Answer {
	var a suite.Answer
	notes := e.Cases[caseArguments]
	for i, o := range notes.Outcomes {
		if o.OK() {
			a.Findings = append(a.Findings, suite.Finding{
				Rule: "bad-argument-accepted", Severity: suite.Error, Record: -1,
				Message: fmt.Sprintf("Run was given %s: it should have returned an error, but it returned nil.", o.Label),
				Why:     "An argument that is refused before the first CUDA call leaves nothing to undo.",
				Fix:     "Return contract.ErrArgument when there are no streams or a batch has N < 1.",
			})
		}
		from, to := notes.Window(i)
		for at := from; at < to; at++ {
			r := &notes.Trace.Records[at]
			if r.Op == trace.OpMark || r.Phase == trace.Leave {
				continue
			}
			a.Findings = append(a.Findings, e.At(suite.Finding{
				Rule: "late-argument-check", Severity: suite.Error, Record: at,
				Message: fmt.Sprintf("Run was given %s: it should have refused before any CUDA call, but it called %s first.", o.Label, suite.CallName(r)),
				Why:     "An argument that is refused before the first CUDA call leaves nothing to undo.",
				Fix:     "Look at all the arguments, every batch included, before the first CUDA call.",
			}, notes.Trace.SiteOf(r)))
			break
		}
	}
	a.Findings = suite.Unique(a.Findings)
	if len(a.Findings) == 0 && len(notes.Outcomes) < len(badArguments) {
		a.Skip = "Not every bad argument could be tried."
	}
	a.Message = "No streams and empty batches are refused, and nothing was touched."
	return a
}
