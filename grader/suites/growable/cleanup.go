package growable

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"cudalab/grader/suite"
	"cudalab/grader/suite/mapping"
	"cudalab/grader/suite/sequence"
	"cudalab/grader/suite/verdict"
	"cudalab/native/cuda"
	"cudalab/native/trace"
)

// faults is the trial in which every CUDA call of a vector's life fails in turn.
var faults = &suite.Trial[Make]{ID: "faults", After: lastGap, Drive: func(b *suite.Bench, sides suite.Sides[Make]) {
	from := sequence.NewSource(b, true)
	inputs := suite.NewInputs(from.Rand, sequence.Drawing(from, drawLife))
	b.EveryFault(func(input int) (string, func() error, func()) {
		w := inputs.At(input)
		l := &life{player: newPlayer(b, sides.Student, w), first: b.Calls()}
		return w.Name, func() error { return l.live(w.Ops) }, l.over
	})
}}

// drawLife draws a script that has every method called, and CUDA always alike.
func drawLife(from sequence.Source) script {
	const page = 4096
	p := from.Granularity / page
	n, keep := 2+from.Int64N(20), 2+from.Int64N(20)
	w := layout{granularity: from.Granularity}.scripts()("", page, 64*p, put(a, from.Int64N(20), n),
		add(b, 3*p+from.Int64N(p/4)), shrink(keep, reader), put(b, from.Int64N(20), n), add(a, 2*p), shrink(0), put(c, 0, n),
		shut)
	w.Name = w.Layout.String()
	for i, o := range w.Ops[1:] {
		w.Name += map[bool]string{true: ": ", false: ", "}[i == 0] + o.String()
	}
	return w
}

const (
	noteLife = "life" // under which the lives are noted
	markEnd  = "done" // of an operation
)

// What else is noted of an operation in a life.
const (
	isStruck = 1 << iota // a CUDA call that was to fail has failed meanwhile
	isBoth               // New has answered a vector beside its error
)

// life is a vector's life, all in one Call, in which a CUDA call may fail.
type life struct {
	*player
	first   int         // the Call
	ops     [][3]uint64 // that were carried out: the Call, and the number in the script
	answers []sequence.Answer
}

// live carries operations out, and answers the errors of all that failed. One in which a call was made to fail is
// carried out once more, since no other is.
func (l *life) live(ops []op) error {
	var all error
	for i, o := range ops {
		if o.kind == shrinks || o.kind == closes {
			l.finish()
		}
		for range 2 {
			failing := l.bench.Session.Failing()
			err := l.carryOut(o)
			l.bench.Session.Mark(markEnd)
			more := int64(0)
			if failing && !l.bench.Session.Failing() {
				more = isStruck
			}
			switch {
			case err == nil && o.kind == closes:
				l.vector = nil
			case err != nil && o.kind == opens && l.vector != nil:
				more |= isBoth
			}
			all = errors.Join(all, err)
			a := l.telling(answerOf(err, more))
			l.ops, l.answers = append(l.ops, [3]uint64{uint64(l.first), uint64(i)}), append(l.answers, a)
			if broken(a) || err != nil && (more&isStruck == 0 || o.kind == opens) {
				return all
			}
			if err == nil {
				break
			}
		}
	}
	return all
}

// finish waits for the device as nothing that can be made to fail does: nobody uses the elements when they are taken
// away.
func (l *life) finish() {
	for _, s := range l.streams {
		for range patience {
			if cuda.StreamQuery(s) == nil {
				break
			}
		}
	}
}

// patience is how often a stream is asked: work of some microseconds is long done by then.
const patience = 1_000_000

// over notes what was answered.
func (l *life) over() {
	sequence.Note(l.bench, noteLife, l.first, 0, l.ops, l.answers)
	l.close()
}

// lived is New or one operation of a life as cudalab sees it.
type lived struct {
	op
	sequence.Answer
	len, cap int64
	mapped   int64 // bytes from the vector's addresses on, by the trace
	held     int64
}

// struck reports whether a CUDA call that was to fail has failed meanwhile.
func (o *lived) struck() bool { return moreOf(o.Answer)&isStruck != 0 }

// livedOf are the operations of the lives, by their Calls.
func livedOf(notes *verdict.CaseNotes, ws []script) map[int][]lived {
	opOf := func(n [3]uint64) op {
		if n[0] < uint64(len(ws)) && n[1] < uint64(len(ws[n[0]].Ops)) {
			return ws[n[0]].Ops[n[1]]
		}
		return op{}
	}
	return verdict.Once(notes, "lived", func() map[int][]lived {
		all := map[int][]lived{}
		for _, rec := range sequence.Read(notes, noteLife, nil, opOf) {
			var ops []lived
			for i, a := range rec.Answers {
				told := numbers(a.Stats())
				ops = append(ops, lived{op: rec.Ops[i], Answer: a, len: told[0], cap: told[1]})
			}
			see(notes, rec.First, ops)
			all[rec.First] = ops
		}
		return all
	})
}

// see adds to the operations of a life what the trace shows of them.
func see(notes *verdict.CaseNotes, call int, ops []lived) {
	var l mapping.Ledger
	base, i := uint64(0), 0
	for at, end := notes.Window(call); at < end; at++ {
		x := &notes.Trace.Records[at]
		if l.See(at, x); x.Op == trace.OpMemAddressReserve && x.Code == 0 {
			base = x.Addr
		}
		if x.Op == trace.OpMark && x.Label == markEnd && i < len(ops) {
			ops[i].mapped, ops[i].held = l.Reach(base), l.Held()
			i++
		}
	}
}

// fault is what is wrong with a life: the first operation whose answer or state is not as it should be, and whether a
// call had failed in it; nil where there is none. failing is the kind of the call that was made to fail.
func fault(w script, ops []lived, failing trace.Op) (f *verdict.Finding, failed bool) {
	now, capacity, held := state{layout: w.Layout}, int64(0), int64(0)
	for i, o := range ops {
		if o.kind == opens && moreOf(o.Answer)&isBoth != 0 {
			return &verdict.Finding{Rule: "vector-with-error", Function: "New",
				Message: "New should have answered a nil vector with its error, but it answered one that is not nil.",
				Why:     "What New could not make whole has no addresses, and who gets a vector may use it, or try to close it.",
				Fix:     "Return nil beside every error of New: return nil, err."}, true
		} else if o.kind == opens {
			continue
		}
		before := now
		errored := o.Err != sequence.Nil
		if !errored {
			now.succeed(o.op)
		}
		asked := fmt.Sprintf("Asked to %s, the vector", o.op)
		wrong := func(rule, format string, args ...any) *verdict.Finding {
			return &verdict.Finding{Rule: rule, Message: asked + " " + fmt.Sprintf(format, args...), Function: o.method(),
				Why: whyUnchanged, Fix: fixUnchanged}
		}
		struck := o.struck()
		switch {
		case o.kind == closes:
			continue // what is given back by then, and what the vector says of itself, is told elsewhere, or not judged
		case errored && !struck:
			return wrong("unexpected-error", "should have done so, but %s returned an error, though no call failed in it.",
				o.method()), false
		case errored && o.kind == shrinks &&
			slices.Contains([]trace.Op{trace.OpMemUnmap, trace.OpMemRelease, trace.OpEventDestroy}, failing):
			// The elements may be gone already, though not all of their memory.
			if o.len != before.length && o.len != o.n || o.len > o.cap {
				return wrong(ruleChanged, "should have kept %d elements or %d, since it returned an error, but Len is %d and "+
					"Cap %d.", before.length, o.n, o.len,
					o.cap), true
			}
			now.length = o.len
		case o.len != now.length && errored:
			return wrong(ruleChanged, "should have kept its %d elements, since it returned an error, but Len is %d.", now.length,
				o.len), true
		case o.len != now.length:
			return wrong("wrong-stats", "should have %d elements then, but Len is %d.", now.length, o.len), struck
		case errored && (o.cap != capacity || o.held != held):
			return wrong(ruleChanged, "should have kept room for %d elements in %s of memory, since it returned an error, but "+
				"has room for %d in %s.", capacity,
				suite.Bytes(uint64(held)), o.cap, suite.Bytes(uint64(max(o.held, 0)))), true
		}
		if o.cap != min(o.mapped/w.Layout.elem, w.Layout.max) {
			return wrong("wrong-stats", "should have Cap = %d then, since %d bytes are mapped from Ptr on, but it says %d.",
				min(o.mapped/w.Layout.elem, w.Layout.max), o.mapped, o.cap), struck
		}
		if most := o.mayHold(w.Layout); !errored && o.held > most && i > 0 && ops[i-1].kind == shrinks && ops[i-1].struck() {
			f := wrong("too-much", "should have gone on where the Shrink before had stopped and hold at most %s, but it still "+
				"holds %s.",
				suite.Bytes(uint64(most)), suite.Bytes(uint64(o.held)))
			f.Why = "Who is told of an error calls again: memory that nobody gives back then is missing until the vector is " +
				"closed."
			f.Fix = "Unmap in every Shrink what is mapped beyond the elements that stay, also where Len is already what it is " +
				"to be."
			return f, false
		}
		capacity, held = o.cap, o.held
	}
	return nil, false
}

// mayHold is how many bytes of memory there may be behind a Shrink; behind others any number.
func (o *lived) mayHold(l layout) int64 {
	if o.kind != shrinks {
		return math.MaxInt64
	}
	return mapping.Most(o.n*l.elem, l.granularity)
}

// ruleChanged is the rule of a vector that a call that failed has changed.
const ruleChanged = "changed-by-error"

// fates are the scripts of the faults' Calls.
func fates(e *suite.Evidence) []script {
	notes := e.Cases[faults.ID]
	return verdict.Once(notes, "fates", func() []script {
		from, ok := sequence.SourceOf(e, faults.ID, true)
		if !ok {
			return nil
		}
		return suite.FaultInputs(e, faults.ID, sequence.Drawing(from, drawLife))
	})
}

// changedByFaults finds what a call that was made to fail has changed, and what it kept from working.
func changedByFaults(e *suite.Evidence) []verdict.Finding {
	notes, ws := e.Cases[faults.ID], fates(e)
	all := livedOf(notes, ws)
	if len(ws) == 0 {
		return nil
	}
	if f, _ := fault(ws[0], all[0], 0); f != nil || slices.ContainsFunc(all[0],
		func(o lived) bool { return o.held > o.mayHold(ws[0].Layout) }) {
		return nil // wrong without any failure, which other parts tell
	}
	for _, run := range suite.FaultRuns(notes) {
		if run.Outcome.Panic != "" || run.Index >= len(ws) || refusedAgain(e, all[run.Index]) {
			continue
		}
		f, failed := fault(ws[run.Index], all[run.Index], run.Op)
		if f == nil {
			continue
		}
		f.Severity, f.Record, f.Message = verdict.Error, -1, run.What+". "+f.Message
		if failed {
			f.Record = run.Failed
			return []verdict.Finding{e.At(*f, notes.Trace.SiteOf(&notes.Trace.Records[run.Failed]))}
		}
		f.Rule += "-on-error"
		return []verdict.Finding{e.Because(*f, notes, run)}
	}
	return nil
}

// refusedAgain reports whether a method that refuses what it should do refused it in a life, too.
func refusedAgain(e *suite.Evidence, ops []lived) bool {
	return slices.ContainsFunc(ops, func(o lived) bool {
		return o.Err == sequence.ErrArgument && !o.struck() && refusing(e)[o.method()]
	})
}

// cleanup is the part that asks that nothing is left behind.
func cleanup() suite.Part[Make] {
	judge := func(e *suite.Evidence) suite.Answer {
		a := suite.Answer{Message: "Close gave everything back, and a CUDA call that failed was reported or made good, and " +
			"left nothing behind.",
			Findings: e.Of(verdict.EndRules, slices.Concat(everywhere.ids(), refused.ids())...)}
		if verdict.HasError(a.Findings) {
			return a // what goes wrong without any failure would only be told again for each failure
		}
		notes, ws := e.Cases[faults.ID], fates(e)
		all := livedOf(notes, ws)
		wrong := func(outcome int) string {
			if outcome < len(ws) {
				if f, _ := fault(ws[outcome], all[outcome], 0); f != nil {
					return f.Message
				}
			}
			return ""
		}
		if len(notes.Outcomes) == 0 || !notes.Outcomes[0].OK() || wrong(0) != "" {
			a.Skip = "The vector did not work even where no call failed, so this could not be seen."
			return a
		}
		a.Findings = verdict.Unique(append(a.Findings, e.AfterFaults(faults.ID,
			suite.FaultJudge{Function: "New, Append, Shrink or Close", Retried: "Shrink or Close",
				Wrong: wrong, Recovers: func(run suite.FaultRun) bool { return recovered(notes, run) },
				Refused: func(run suite.FaultRun) bool { return refusedAgain(e, all[run.Index]) }})...))
		if !verdict.HasError(a.Findings) && len(suite.FaultRuns(notes)) == 0 {
			a.Skip = suite.NoFault
		}
		return a
	}
	cases := append(append(slices.Clip(everywhere), refused...).cases(), faults)
	p := suite.Part[Make]{Cases: cases, GivesBack: true, Question: suite.Question{ID: "cleanup",
		Name: "Close gives everything back, also when a CUDA call has failed", Judge: judge}}
	return p.Deeper(wrongByItself)
}

// wrongByItself finds a life that went wrong although nothing was made to fail in it.
func wrongByItself(e *suite.Evidence) []verdict.Finding {
	notes, ws := e.Cases[faults.ID], fates(e)
	faulted, all := map[int]bool{}, livedOf(notes, ws)
	for _, run := range suite.FaultRuns(notes) {
		faulted[run.Index] = true
	}
	for i, o := range notes.Outcomes[:min(len(notes.Outcomes), len(ws))] {
		f, _ := fault(ws[i], all[i], 0)
		switch {
		case faulted[i] || f == nil && o.OK():
			continue
		case f == nil:
			unexpected := suite.UnexpectedError("The vector", o)
			f = &unexpected
		}
		f.Severity, f.Record = verdict.Error, -1
		f.Message += " That was in a life beside others in which CUDA calls fail."
		return []verdict.Finding{*f}
	}
	return nil
}

// needlessIn finds what no method of a vector should call, whatever it is asked for.
func needlessIn(e *suite.Evidence, notes *verdict.CaseNotes) []verdict.Finding {
	for at := range notes.Trace.Records {
		r := &notes.Trace.Records[at]
		places := e.Place(notes.Trace.SiteOf(r))
		if len(places) == 0 || r.Phase == trace.Enter {
			continue
		}
		what := e.WaitsIn(notes)[at]
		switch _, method, _ := strings.Cut(places[len(places)-1].Func, ")."); {
		case method == "Append" && what != "", method == "Shrink" && r.Op == trace.OpDeviceSynchronize:
		case method == "Ptr", method == "Len", method == "Cap":
			what = "is none of what it is to say"
		default:
			continue
		}
		return []verdict.Finding{e.At(verdict.Finding{Rule: "host-wait", Severity: verdict.Error, Record: at,
			Message: fmt.Sprintf("Whatever it is asked for, the vector should have left out %s, which %s.",
				suite.CallName(r), what),
			Why: "A wait that another part of the program pays for is none the less one, and a call costs more than a number.",
			Fix: "Append waits for nothing, Shrink for the streams that use the elements, and Ptr, Len and Cap say what the " +
				"vector knows.",
		}, notes.Trace.SiteOf(r))}
	}
	return nil
}

// recovered reports whether a vector may come to its end without the call that failed: a growth may be tried once more
// with less.
func recovered(notes *verdict.CaseNotes, run suite.FaultRun) bool {
	switch run.Op {
	case trace.OpMemCreate, trace.OpMemMap, trace.OpMemSetAccess:
		for _, r := range notes.Trace.Records[run.Failed+1 : run.To] {
			if r.Op == run.Op && r.Code == 0 {
				return true
			} else if r.Op == trace.OpMark { // the operation is over
				return false
			}
		}
	case trace.OpMemRelease:
		failed := &notes.Trace.Records[run.Failed]
		return slices.ContainsFunc(notes.Trace.Records[run.Failed+1:run.To], func(r trace.Record) bool {
			return r.Op == run.Op && r.Code == 0 && r.Alloc == failed.Alloc
		})
	}
	return false
}
