package growable

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"

	"cudalab/grader/suite"
	"cudalab/grader/suite/allocator"
	"cudalab/grader/suite/mapping"
	"cudalab/grader/suite/verdict"
	"cudalab/native/cuda"
	"cudalab/native/trace"
)

// faults is the trial in which every CUDA call of a vector's life fails in turn.
var faults = &suite.Trial[Make]{ID: "faults", After: lastGap, Drive: func(b *suite.Bench, sides suite.Sides[Make]) {
	g := allocator.Granularity(b)
	inputs := suite.NewInputs(b.Rand(), lives(g))
	b.EveryFault(func(input int) (string, func() error, func()) {
		l := &life{player: newPlayer(b, inputs.At(input)), first: b.Calls()}
		return l.script.name, func() error { return l.live(sides.Student) }, l.over
	})
}}

// lives draws scripts that have every method called, and CUDA always alike.
func lives(g int64) func(*rand.Rand) script {
	return func(r *rand.Rand) script {
		const page = 4096
		p := g / page
		w := script{layout: layout{elem: page, max: 64 * p, granularity: g}}
		n, keep := 1+r.Int64N(20), 1+r.Int64N(20)
		w.ops = []op{put(a, r.Int64N(20), n), add(b, 3*p+r.Int64N(p/4)), shrink(keep, reader), put(b, r.Int64N(20), n), add(a, 2*p), shrink(0), put(c, 0, n), shut}
		w.name = w.layout.String()
		for i, o := range w.ops {
			w.name += map[bool]string{true: ": ", false: ", "}[i == 0] + o.String()
		}
		return w
	}
}

const (
	noteLife  = "life"       // what was answered in a life; see over
	markBegin = "operation " // ahead of each operation, with its number
	markEnd   = "done"
)

// life is a vector's life, all in one Call, in which a CUDA call may fail.
type life struct {
	*player
	first int // the Call
	notes []uint64
}

// live carries the script out, and answers the errors of all that failed. An operation in which a call was made to fail is carried out
// once more, since no other is.
func (l *life) live(f Make) error {
	bits, err := l.make(f)
	if l.note(-1, bits); err != nil {
		return err
	}
	var all error
	for i, o := range l.script.ops {
		if o.kind == shrinks || o.kind == closes {
			l.finish()
		}
		for range 2 {
			failing := l.bench.Session.Failing()
			l.bench.Session.Mark(markBegin + strconv.Itoa(i))
			err := l.carryOut(o)
			l.bench.Session.Mark(markEnd)
			bits := bitsOf(err)
			struck := failing && !l.bench.Session.Failing()
			if struck {
				bits |= isStruck
			}
			if err == nil && o.kind == closes {
				l.vector = nil
			}
			all = errors.Join(all, err)
			if l.note(i, bits); bits&isGap != 0 || err != nil && !struck {
				return all
			}
			if err == nil {
				break
			}
		}
	}
	return all
}

// finish waits for the device as nothing that can be made to fail does: nobody uses the elements when they are taken away.
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

// note keeps what an operation was answered with, to be noted when the Call is over.
func (l *life) note(i int, bits uint64) {
	numbers := [lifeSize]uint64{uint64(i), bits}
	if l.vector != nil {
		numbers[2], numbers[3] = uint64(l.vector.Len()), uint64(l.vector.Cap())
	}
	l.notes = append(l.notes, numbers[:]...)
}

// lifeSize is how many numbers are noted of an operation in a life: its number in the script, -1 of New, what bitsOf says, Len and Cap.
const lifeSize = 4

// over notes the Call, how many numbers follow, and them.
func (l *life) over() {
	for _, v := range append([]uint64{uint64(l.first), uint64(len(l.notes))}, l.notes...) {
		l.bench.Value(noteLife, v)
	}
	l.close()
}

// lived is New or one operation of a life as cudalab sees it; New has no kind.
type lived struct {
	op
	bits     uint64
	len, cap int64
	mapped   int64 // bytes from the vector's addresses on, by the trace
	held     int64
}

// livedOf are the operations of the lives, by their Calls.
func livedOf(notes *verdict.CaseNotes, ws []script) map[int][]lived {
	return verdict.Once(notes, noteLife, func() map[int][]lived {
		all := map[int][]lived{}
		for left := notes.Values[noteLife]; len(left) >= 2; {
			call, n := int(min(left[0], uint64(len(ws)))), int(min(left[1], uint64(len(left)-2)))
			numbers := left[2 : 2+n]
			left = left[2+n:]
			if call == len(ws) {
				continue
			}
			var ops []lived
			for ; len(numbers) >= lifeSize; numbers = numbers[lifeSize:] {
				i := int64(numbers[0])
				if i == -1 {
					ops = append(ops, lived{bits: numbers[1]}) // New
				} else if i >= 0 && i < int64(len(ws[call].ops)) {
					ops = append(ops, lived{op: ws[call].ops[i], bits: numbers[1], len: int64(numbers[2]), cap: int64(numbers[3])})
				}
			}
			see(notes, call, ops)
			all[call] = ops
		}
		return all
	})
}

// see adds to the operations of a life what the trace shows of them.
func see(notes *verdict.CaseNotes, call int, ops []lived) {
	var l mapping.Ledger
	base, i := uint64(0), 1 // behind New
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

// fault is what is wrong with a life: the first operation whose answer or state is not as it should be, and whether a call had failed in
// it; nil where there is none. failing is the kind of the call that was made to fail.
func fault(w script, ops []lived, failing trace.Op) (f *verdict.Finding, failed bool) {
	now, capacity, held := state{layout: w.layout}, int64(0), int64(0)
	for i, o := range ops {
		if o.kind == 0 && o.bits&isBoth != 0 {
			return &verdict.Finding{Rule: "vector-with-error", Function: "New", Message: "New should have answered a nil vector with its error, but it answered one that is not nil.",
				Why: "What New could not make whole has no addresses, and who gets a vector may use it, or try to close it.",
				Fix: "Return nil beside every error of New: return nil, err."}, true
		} else if o.kind == 0 {
			continue
		}
		before := now
		errored := o.bits&isOther != 0
		if !errored {
			now.succeed(o.op)
		}
		asked := fmt.Sprintf("Asked to %s, the vector", o.op)
		wrong := func(rule, format string, args ...any) *verdict.Finding {
			return &verdict.Finding{Rule: rule, Message: asked + " " + fmt.Sprintf(format, args...), Function: o.method(), Why: whyUnchanged, Fix: fixUnchanged}
		}
		struck := o.bits&isStruck != 0
		switch {
		case o.kind == closes:
			continue // what is given back by then, and what the vector says of itself, is told elsewhere, or not judged
		case errored && !struck:
			return wrong("unexpected-error", "should have done so, but %s returned an error, though no call failed in it.", o.method()), false
		case errored && o.kind == shrinks && (failing == trace.OpMemUnmap || failing == trace.OpMemRelease):
			// The elements may be gone already, though not all of their memory.
			if o.len != before.length && o.len != o.n || o.len > o.cap {
				return wrong(ruleChanged, "should have kept %d elements or %d, since it returned an error, but Len is %d and Cap %d.", before.length, o.n, o.len,
					o.cap), true
			}
			now.length = o.len
		case o.len != now.length && errored:
			return wrong(ruleChanged, "should have kept its %d elements, since it returned an error, but Len is %d.", now.length, o.len), true
		case o.len != now.length:
			return wrong("wrong-stats", "should have %d elements then, but Len is %d.", now.length, o.len), struck
		case errored && (o.cap != capacity || o.held != held):
			return wrong(ruleChanged, "should have kept room for %d elements in %s of memory, since it returned an error, but has room for %d in %s.", capacity,
				suite.Bytes(uint64(held)), o.cap, suite.Bytes(uint64(max(o.held, 0)))), true
		}
		if o.cap != min(o.mapped/w.elem, w.max) {
			return wrong("wrong-stats", "should have Cap = %d then, since %d bytes are mapped from Ptr on, but it says %d.", min(o.mapped/w.elem, w.max), o.mapped,
				o.cap), struck
		}
		if most := o.mayHold(w.layout); !errored && o.held > most && i > 0 && ops[i-1].kind == shrinks && ops[i-1].bits&isStruck != 0 {
			f := wrong("too-much", "should have gone on where the Shrink before had stopped and hold at most %s, but it still holds %s.",
				suite.Bytes(uint64(most)), suite.Bytes(uint64(o.held)))
			f.Why = "Who is told of an error calls again: memory that nobody gives back then is missing until the vector is closed."
			f.Fix = "Unmap in every Shrink what is mapped beyond the elements that stay, also where Len is already what it is to be."
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
		g, ok := allocator.NotedGranularity(notes)
		if !ok {
			return nil
		}
		return suite.FaultInputs(e, faults.ID, lives(g))
	})
}

// changedByFaults finds what a call that was made to fail has changed, and what it kept from working.
func changedByFaults(e *suite.Evidence) []verdict.Finding {
	notes, ws := e.Cases[faults.ID], fates(e)
	all := livedOf(notes, ws)
	if len(ws) == 0 {
		return nil
	}
	if f, _ := fault(ws[0], all[0], 0); f != nil || slices.ContainsFunc(all[0], func(o lived) bool { return o.held > o.mayHold(ws[0].layout) }) {
		return nil // wrong without any failure, which other parts tell
	}
	for _, run := range suite.FaultRuns(notes) {
		if run.Outcome.Panic != "" || run.Index >= len(ws) {
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

// cleanup is the part that asks that nothing is left behind.
func cleanup() suite.Part[Make] {
	judge := func(e *suite.Evidence) suite.Answer {
		a := suite.Answer{Message: "Close gave everything back, and a CUDA call that failed was reported or made good, and left nothing behind.",
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
		a.Findings = verdict.Unique(append(a.Findings, e.AfterFaults(faults.ID, suite.FaultJudge{Function: "New, Append, Shrink or Close", Retried: "Shrink or Close",
			Wrong: wrong, Recovers: func(run suite.FaultRun) bool { return recovered(notes, run) }})...))
		if !verdict.HasError(a.Findings) && len(suite.FaultRuns(notes)) == 0 {
			a.Skip = suite.NoFault
		}
		return a
	}
	cases := append(append(slices.Clip(everywhere), refused...).cases(), faults)
	return suite.Part[Make]{Cases: cases, Question: suite.Question{ID: "cleanup", Name: "Close gives everything back, also when a CUDA call has failed", Judge: judge}}
}

// recovered reports whether a vector may come to its end without the call that failed: a growth may be tried once more with less, and
// nobody has to know how much memory is free.
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
	case trace.OpMemGetInfo, trace.OpDeviceInfo:
		return true
	case trace.OpMemRelease:
		failed := &notes.Trace.Records[run.Failed]
		return slices.ContainsFunc(notes.Trace.Records[run.Failed+1:run.To], func(r trace.Record) bool {
			return r.Op == run.Op && r.Code == 0 && r.Alloc == failed.Alloc
		})
	}
	return false
}
