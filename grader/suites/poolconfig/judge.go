package poolconfig

import (
	"fmt"
	"slices"

	"cudalab/exercises/contract"
	"cudalab/grader/suite"
	"cudalab/native/device"
	"cudalab/native/trace"
)

// call is one call of Run as the trace shows it.
type call struct {
	suite.Call
	w      workload
	report contract.PoolReport // where the outcome is OK
	before state               // what Run found
	after  state               // what Run left
	pool   trace.ID            // the first that Run has made; 0, as the default pool, if none
	blocks []block             // what Run has allocated, in the order of the calls
	reads  []read              // what it asked of its pool
}

// state is what the trace shows of a device's pools at one moment.
type state struct {
	defaultPool trace.ID
	current     trace.ID
	attributes  map[device.PoolAttr]uint64 // of the default pool
}

// block is one allocation and what became of it, by indices of records; -1 where that did not happen.
type block struct {
	alloc   trace.ID
	made    int
	pool    trace.ID // 0: the default pool, or none
	pooled  bool     // from any pool, not from Malloc
	stream  trace.ID
	size    int64
	touched []int
	freed   int
}

// read is an answer about Run's own pool.
type read struct {
	at    int
	attr  device.PoolAttr
	value uint64
	// settled: the host has waited for all that was enqueued until then.
	settled bool
}

// calls pairs a case's calls with the workloads they came from.
func calls(e *suite.Evidence, caseID string, ws []workload) []call {
	reports := e.Cases[caseID].Values[noteReport]
	var found []call
	for i, made := range e.Calls(caseID) {
		c := call{Call: made, w: ws[min(i, len(ws)-1)]}
		if c.Outcome.OK() && caseID != caseFaults {
			c.report, reports = noted(reports)
		}
		records := c.Notes.Trace.Records
		c.before = c.look(records[c.Set:c.From])
		c.after = c.look(records[c.To : c.To+max(slices.IndexFunc(records[c.To:], isLeft), 0)])
		c.follow()
		found = append(found, c)
	}
	return found
}

// isLeft tells the mark behind the grader's questions about what Run left.
func isLeft(r trace.Record) bool { return r.Op == trace.OpMark && r.Label == markLeft }

// look gathers the grader's own questions about the pools and their answers; where one was asked twice, the later
// answer counts.
func (c *call) look(records []trace.Record) state {
	s := state{defaultPool: c.before.defaultPool, attributes: map[device.PoolAttr]uint64{}}
	for i := range records {
		switch r := &records[i]; r.Op {
		case trace.OpDeviceGetDefaultMemPool:
			s.defaultPool = r.Pool
		case trace.OpDeviceGetMemPool:
			s.current = r.Pool
		case trace.OpMemPoolGetAttribute:
			s.attributes[device.PoolAttr(r.Attr)] = r.Value
		}
	}
	return s
}

// follow goes through Run's records once and keeps what became of its pool and its blocks.
func (c *call) follow() {
	known := map[trace.ID]int{} // by allocation, the index of its block
	var done progress
	c.Records(func(at int, r *trace.Record) bool {
		if r.Code != 0 {
			return true
		}
		done.take(at, r)
		switch r.Op {
		case trace.OpMemPoolCreate:
			if c.pool == 0 {
				c.pool = r.Pool
			}
		case trace.OpMalloc, trace.OpMallocAsync, trace.OpMallocFromPoolAsync:
			known[r.Alloc] = len(c.blocks)
			c.blocks = append(c.blocks, block{r.Alloc, at, r.Pool, r.Op != trace.OpMalloc, r.Stream, r.Size, nil, -1})
		case trace.OpFree, trace.OpFreeAsync:
			if i, ok := known[r.Alloc]; ok {
				c.blocks[i].freed = at
			}
		case trace.OpLaunch:
			for _, a := range r.Accesses {
				if i, ok := known[a.Alloc]; ok {
					c.blocks[i].touched = append(c.blocks[i].touched, at)
				}
			}
		case trace.OpMemPoolGetAttribute:
			if r.Pool == c.pool {
				c.reads = append(c.reads, read{at, device.PoolAttr(r.Attr), r.Value, done.settled()})
			}
		}
		return true
	})
}

// good are the calls of the two cases that every right program completes.
func good(e *suite.Evidence) []call {
	return suite.Once(e.Cases[caseRandom], "good", func() []call {
		return append(calls(e, caseShapes, shapes()), calls(e, caseRandom, drawn(e.Seed))...)
	})
}

// judged applies one judgement to every call of good that returned nil. A call that returned an error is told once, by
// the check that is given the task to tell; others are skipped over it.
func judged(e *suite.Evidence, tells bool, judge func(*call) []suite.Finding) suite.Answer {
	var a suite.Answer
	ok, want := 0, len(shapes())+len(drawn(e.Seed))
	for _, c := range good(e) {
		if c.Outcome.OK() {
			ok++
			a.Findings = append(a.Findings, judge(&c)...)
		} else if tells {
			a.Findings = append(a.Findings, c.UnexpectedError("Run"))
		}
	}
	a.Findings = suite.Unique(a.Findings)
	if len(a.Findings) == 0 && ok < want {
		a.Skip = "Run ended early with an error, so this could not be seen in full."
	}
	return a
}

// whole reports whether Run has allocated as many blocks as it was to: only then do they fall into rounds.
func (c *call) whole() bool { return len(c.blocks) == c.w.blocks() }

// rounds are the blocks, round by round.
func (c *call) rounds() [][]block {
	return slices.Collect(slices.Chunk(c.blocks, len(c.w.config.Sizes)))
}

// span is the records of round i after its last block was allocated: from there on it is sampled, until the next round's
// first block is allocated or, in the last round, Run has returned.
func (c *call) span(i int) (from, to int) {
	n := len(c.w.config.Sizes)
	from, to = c.blocks[(i+1)*n-1].made, c.To
	if next := (i + 1) * n; next < len(c.blocks) {
		to = c.blocks[next].made
	}
	return from, to
}

// lastFree is the record of the last free of some blocks; -1 if none was freed.
func lastFree(blocks []block) int {
	last := -1
	for _, b := range blocks {
		last = max(last, b.freed)
	}
	return last
}

// find is the student's successful calls of an operation.
func (c *call) find(op trace.Op) (found []int) {
	c.Records(func(at int, r *trace.Record) bool {
		if r.Op == op && r.Code == 0 {
			found = append(found, at)
		}
		return true
	})
	return found
}

// streamName is how the student sees a stream: by its place in the slice.
func (c *call) streamName(id trace.ID) string {
	return c.StreamName(id, func(i int) string { return fmt.Sprintf("config.Streams[%d]", i) })
}
