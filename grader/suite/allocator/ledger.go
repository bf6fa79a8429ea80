package allocator

import (
	"fmt"
	"slices"

	"cudalab/grader/suite"
	"cudalab/grader/suite/sequence"
	"cudalab/grader/suite/verdict"
	"cudalab/native/trace"
)

// Ledger is a sequence on an allocator in the order of streams, as far as its answers were right, with the CUDA calls
// that were made for each operation.
type Ledger struct {
	New     Step
	Steps   []Step
	Records []trace.Record

	trace           *trace.Trace
	name, allocator string
	names           map[trace.ID]string
}

// Step is an operation with what the allocator has called for it.
type Step struct {
	Op
	sequence.Answer
	Number   int // of the block that an Alloc has handed out, or would have
	From, To int // its records
	ID       trace.ID
	ledger   *Ledger
}

// NewLedger is a sequence with its calls; nil where no allocator could be made.
func NewLedger[L fmt.Stringer](r *Run[L]) *Ledger {
	if r.Record == nil {
		return nil
	}
	l := &Ledger{Records: r.Notes.Trace.Records, trace: r.Notes.Trace, name: r.Name, allocator: r.Layout.String(),
		names: map[trace.ID]string{0: Legacy.String()}}
	made, begun := r.Notes.Window(r.Record.First - 1)
	l.New = Step{From: made, To: begun, ledger: l}
	streams := map[string]trace.ID{}
	at, number := begun, 0
	meet := func(to int) {
		for ; at < to; at++ {
			if x := &l.Records[at]; x.Op == trace.OpStreamCreate && x.Label != "" {
				streams[x.Label] = x.Stream
				l.names[x.Stream] = x.Label
			}
		}
	}
	for i := range min(r.Right, len(r.Ops)) {
		x := Step{Op: r.Ops[i], Answer: r.Record.Answers[i], ledger: l, From: at, To: at}
		if x.Kind == KindAlloc {
			number++
			x.Number = number
		}
		if x.Called() {
			x.From, x.To = r.Notes.Window(r.Record.Call(i))
			meet(x.To)
		}
		x.ID = streams[x.Stream.String()]
		l.Steps = append(l.Steps, x)
	}
	return l
}

// Called reports whether the operation was the allocator's, and carried out.
func (x *Step) Called() bool { return x.Err != sequence.Skipped && !x.ByCaller() }

// Calls yields the CUDA calls of an operation, each once, where it has its answer.
func (x *Step) Calls(yield func(at int, r *trace.Record) bool) {
	for at := x.From; at < x.To; at++ {
		r := &x.ledger.Records[at]
		if r.Phase == trace.Enter || r.Op == trace.OpMark {
			continue
		}
		if !yield(at, r) {
			return
		}
	}
}

// Waited is the record with which an Alloc first made a stream wait; -1: there is none.
func (x *Step) Waited() int {
	for at, r := range x.Calls {
		if x.Kind == KindAlloc && r.Op == trace.OpStreamWaitEvent && r.Code == 0 {
			return at
		}
	}
	return -1
}

// Method is the method that the operation has called.
func (x *Step) Method() string { return methodName(x.Kind) }

// Name is a stream's.
func (l *Ledger) Name(id trace.ID) string {
	if n, ok := l.names[id]; ok {
		return n
	}
	return "another stream"
}

// Finding is an error on the line of a record, or of the method where that is -1, in a sequence up to an operation.
func (x *Step) Finding(e *suite.Evidence, at int, f verdict.Finding) verdict.Finding {
	f.Severity, f.Record = verdict.Error, at
	f.Message = fmt.Sprintf("In the sequence %q with %s, %s", x.ledger.name, x.ledger.allocator, f.Message)
	if at < 0 {
		return x.At(e, f)
	}
	return e.At(f, x.ledger.trace.SiteOf(&x.ledger.Records[at]))
}

// JudgeOrder answers whether any block went out too early: by what the order checker proves, and by what its users saw,
// who have noted under intrusions and the sequence's name how many words of theirs were somebody else's.
func (g Good[Code, L]) JudgeOrder(e *suite.Evidence, part, pass, intrusions string) suite.Answer {
	a := g.Judge(e, part, pass, nil)
	for _, s := range g {
		for _, f := range e.Of(verdict.OrderRules, s.ID) {
			if slices.ContainsFunc(s.Runs(e), func(r Run[L]) bool { return r.Before(f.Record) }) {
				a.Findings = append(a.Findings, f)
			}
		}
	}
	if a.Findings = verdict.Unique(a.Findings); verdict.HasError(a.Findings) {
		return a
	}
	for _, r := range g.Runs(e) {
		if r.Right < len(r.Ops) {
			continue
		}
		for _, words := range r.Notes.Values[intrusions+r.Name] {
			a.Findings = append(a.Findings, verdict.Finding{
				Rule: "overwritten", Severity: verdict.Error, Record: -1, Function: "Alloc",
				Message: fmt.Sprintf("In the sequence %q with %s every block should have been its user's alone, but users found "+
					"%d words in their blocks that somebody else had written.", r.Name, r.Layout, words),
				Why: "Each block belongs to one user from Alloc until what is in the stream of its Free is over.",
				Fix: "Make sure that no block is handed out twice, and have the next owner's stream wait for the last one's.",
			})
		}
	}
	return a
}

// Noted are the sequences among which the order checker has noted a finding; nil: it is not of these.
func (g Good[Code, L]) Noted(e *suite.Evidence, f *verdict.Finding) *Steps[Code, L] {
	if f.Record < 0 {
		return nil
	}
	for _, s := range g {
		if slices.ContainsFunc(e.Cases[s.ID].Findings, func(o verdict.Finding) bool {
			return o.Record == f.Record &&
				o.Message == f.Message
		}) {
			return s
		}
	}
	return nil
}

// Freeing is a step that gives a block back, in words: "free #1 in A".
func (x *Step) Freeing() string {
	if x.Kind == KindFree {
		return fmt.Sprintf("free #%d in %v", x.Block, x.Stream)
	}
	return fmt.Sprintf("a free in %v", x.Stream)
}

// Site is where a record's call was made.
func (l *Ledger) Site(r *trace.Record) trace.Site { return l.trace.SiteOf(r) }
