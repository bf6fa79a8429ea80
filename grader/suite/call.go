package suite

import (
	"fmt"
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
	var found []Call
	for notes := range e.Cases[caseID].Parts() {
		found = append(found, e.callsOf(notes)...)
	}
	return found
}

// callsOf are the calls that were made in one process.
func (e *Evidence) callsOf(notes *verdict.CaseNotes) (found []Call) {
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

// Find is the student's successful calls of an operation.
func (c *Call) Find(op trace.Op) []int {
	return c.All(func(r *trace.Record) bool { return r.Op == op })
}

// LastInto is the last launch of a kernel that touches result i; -1 if there is none.
func (c *Call) LastInto(kernel string, i int) int {
	last := verdict.Once(c.Notes, fmt.Sprint("last launches of ", kernel, " from ", c.From), func() map[int]int {
		last := map[int]int{}
		for _, at := range c.Launches(kernel) {
			for _, i := range c.Touched(c.Record(at), maxCalls) {
				last[i] = at
			}
		}
		return last
	})
	if at, ok := last[i]; ok {
		return at
	}
	return -1
}

// Launches are the student's successful launches of a kernel.
func (c *Call) Launches(kernel string) []int {
	return c.All(func(r *trace.Record) bool { return r.Op == trace.OpLaunch && r.Kernel == kernel })
}

// All are the student's successful calls that fit.
func (c *Call) All(fits func(*trace.Record) bool) (found []int) {
	c.Records(func(at int, r *trace.Record) bool {
		if r.Code == 0 && fits(r) {
			found = append(found, at)
		}
		return true
	})
	return found
}

// Lent are what the grader allocated for the call by an operation, in its order.
func (c *Call) Lent(op trace.Op) (all []trace.ID) {
	for at := c.Set; at < c.From; at++ {
		if r := c.Record(at); r.Op == op && r.Phase != trace.Enter {
			all = append(all, r.Alloc)
		}
	}
	return all
}

// Touching reports whether a record reads or writes memory of an allocation.
func Touching(r *trace.Record, alloc trace.ID) bool {
	return slices.ContainsFunc(r.Accesses, func(a trace.Access) bool { return a.Alloc == alloc })
}

// Before reports whether what one record of the trace has done is over before what another does begins; see Relation.
func (c *Call) Before(i, j int) bool { return c.relation().Before(i, j) }

// HeldBack is the call by which one record of the trace has to wait for another in another stream; -1 where it need
// not, or where it is the host that waits, which is a question of its own.
func (c *Call) HeldBack(first, then int) int {
	if wait := c.Wait(first, then); wait >= 0 && c.Record(wait).Op == trace.OpStreamWaitEvent {
		return wait
	}
	return -1
}

// Wait is the call that makes one record come after another; see Relation.
func (c *Call) Wait(i, j int) int { return c.relation().Wait(i, j) }

func (c *Call) relation() Relation { return c.Evidence.RelationOf(c.Notes) }

// At makes a finding an error of the line of a record; of none, where record is -1.
func (c *Call) At(record int, f verdict.Finding) verdict.Finding {
	f.Severity, f.Record = verdict.Error, record
	if record < 0 {
		f.Look.Return = c.Outcome.Returned
		return f
	}
	return c.Evidence.At(f, c.Notes.Trace.SiteOf(c.Record(record)))
}

// NoStream is the ID of no stream of a trace.
const NoStream trace.ID = math.MaxUint32

// Stream is the i-th of the call's Streams. It is NoStream where there are fewer: a runner is the student's process,
// and its trace may be anything.
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

// Clock is one answer of EventElapsedTime, between two records of events.
type Clock struct {
	At          int     // the record of EventElapsedTime
	Start, Stop int     // the records of EventRecord
	Ms          float64 // the answer, in milliseconds
}

// Clocks are those that the call has read, in their order.
func (c *Call) Clocks() (read []Clock) {
	recorded := map[trace.ID]int{}
	c.Records(func(at int, r *trace.Record) bool {
		start, stop := recorded[r.Event], recorded[r.Event2]
		switch {
		case r.Code != 0:
		case r.Op == trace.OpEventRecord:
			recorded[r.Event] = at
		case r.Op == trace.OpEventElapsedTime && start > 0 && stop > 0:
			read = append(read, Clock{at, start, stop, float64(math.Float32frombits(uint32(r.Value)))})
		}
		return true
	})
	return read
}

// Block is memory that a call of the code under test has allocated and what became of it, by indices of records.
type Block struct {
	Alloc   trace.ID
	Made    int
	Pool    trace.ID // 0: the default pool, or none
	Pooled  bool     // from any pool, not from Malloc
	Stream  trace.ID // 0, as the legacy default stream, where it is not pooled
	Size    int64
	Touched []int // the launches that read or write it
	Freed   int   // -1 where it was not
}

// Blocks are what the call allocated, in the order of its calls.
func (c *Call) Blocks() (all []Block) {
	index := map[trace.ID]int{}
	c.Records(func(at int, r *trace.Record) bool {
		if r.Code != 0 {
			return true
		}
		switch r.Op {
		case trace.OpMalloc, trace.OpMallocAsync, trace.OpMallocFromPoolAsync:
			index[r.Alloc] = len(all)
			all = append(all, Block{Alloc: r.Alloc, Made: at, Pool: r.Pool, Pooled: r.Op != trace.OpMalloc, Stream: r.Stream,
				Size: r.Size, Freed: -1})
		case trace.OpFree, trace.OpFreeAsync:
			if i, ok := index[r.Alloc]; ok {
				all[i].Freed = at
			}
		case trace.OpLaunch:
			for _, a := range r.Accesses {
				if i, ok := index[a.Alloc]; ok {
					all[i].Touched = append(all[i].Touched, at)
				}
			}
		}
		return true
	})
	return all
}

// Records yields the CUDA calls that the student's code made in the call, once each, with their indices in the trace;
// one that waits, where it returned. Those of what it was given to call are not among them.
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

// Record is one record of the case's trace.
func (c *Call) Record(at int) *trace.Record { return &c.Notes.Trace.Records[at] }

// Allocates reports whether a call takes memory, of the device or pinned.
func Allocates(op trace.Op) bool { return op == trace.OpMallocHost || AllocatesOnDevice(op) }

// AllocatesOnDevice reports whether a call takes memory of the device, from wherever that is.
func AllocatesOnDevice(op trace.Op) bool {
	switch op {
	case trace.OpMalloc, trace.OpMallocAsync, trace.OpMallocFromPoolAsync, trace.OpMemCreate:
		return true
	}
	return false
}
