package blockpool

import (
	"fmt"
	"slices"

	"cudalab/grader/suite"
	"cudalab/grader/suite/allocator"
	"cudalab/grader/suite/sequence"
	"cudalab/grader/suite/verdict"
	"cudalab/native/device"
	"cudalab/native/trace"
)

// judgeOrder answers whether any block went out too early, and says of those what had become of them. What comes of a
// call that should not be there at all is mended with that.
func judgeOrder(e *suite.Evidence) suite.Answer {
	a := good.JudgeOrder(e, "order",
		"Every block's last use came before its next owner's first, whatever the streams were at.", allocator.NoteStrangers)
	if !verdict.HasError(a.Findings) {
		return a
	}
	a.Findings = slices.Clone(a.Findings)
	var needless []verdict.Finding
	for _, r := range good.Runs(e) {
		needless = append(needless, calls(e, &r)...)
	}
	for i := range a.Findings {
		f := &a.Findings[i]
		places := []verdict.Place{{File: f.File, Line: f.Line}}
		if f.Rule == "early-reuse" {
			places = tell(e, f)
			for j := range a.Findings {
				if o := &a.Findings[j]; o.Rule == "use-after-destroy" && among(places, o) {
					o.Follows = &verdict.Cause{Rule: f.Rule}
				}
			}
		}
		for _, o := range needless {
			if f.Follows == nil && among(places, &o) {
				f.Follows = &verdict.Cause{Rule: o.Rule}
			}
		}
	}
	return a
}

// among reports whether a finding is on one of some lines.
func among(places []verdict.Place, f *verdict.Finding) bool {
	return slices.ContainsFunc(places, func(p verdict.Place) bool { return p.File == f.File && p.Line == f.Line })
}

// tell adds to a finding of a block that was handed out too early who gave it back, and what the pool did about that.
// It answers where the call was made that shows it.
func tell(e *suite.Evidence, f *verdict.Finding) []verdict.Place {
	t := taleOf(e, f)
	if t == nil {
		return nil
	}
	what, fix, call := t.words()
	t.Tell(f, fmt.Sprintf("%s gave the block back, and %s", t.given.Freeing(), what), fix)
	switch {
	case call >= 0:
		places := t.On(e, f, call)
		return places[:min(len(places), 1)]
	case t.record < 0:
		t.Missing(f, "Free", trace.OpEventRecord)
	default:
		t.Missing(f, "Alloc", trace.OpStreamWaitEvent)
	}
	return nil
}

// tale is what became of a block from when it was given back until it was handed out too early.
type tale struct {
	*allocator.Handover[layout]
	given  *allocator.Step
	event  trace.ID // that stands, or was to stand, behind the Free
	record int      // of that; -1: there is none
}

// taleOf is the tale of the block that a finding is about; nil where nobody is known who may be still at it.
func taleOf(e *suite.Evidence, f *verdict.Finding) *tale {
	t := &tale{Handover: good.Handover(e, f), record: -1}
	if t.Handover == nil {
		return nil
	}
	for i := t.Taken - 1; i >= 0 && t.given == nil; i-- {
		if x := &t.Steps[i]; x.Method() == "Free" && x.Err == sequence.Nil && x.Addr == t.Took.Addr {
			t.given = x
		}
	}
	if t.given == nil || !t.Pending(e, t.given, f.Record) {
		return nil // a former owner is
	}
	for at, x := range t.given.Calls {
		if x.Op == trace.OpEventRecord && x.Code == 0 {
			t.event, t.record = x.Event, at
		}
	}
	return t
}

// words are what became of the block, what mends it, and the call that shows it, or -1.
func (t *tale) words() (what, fix string, call int) {
	in, by := t.given.Stream, t.Took.Stream
	got := fmt.Sprintf("Alloc in %v got it ", by)
	asked, answer, waited := -1, int32(0), -1
	for at, r := range t.Took.Calls {
		switch {
		case r.Op == trace.OpStreamWaitEvent && r.Code == 0:
			waited = at
		case r.Op == trace.OpEventQuery && r.Event == t.event && t.record >= 0, r.Op == trace.OpStreamQuery &&
			r.Stream == t.given.ID:
			asked, answer = at, r.Code
		}
	}
	if waited >= 0 && t.Records[waited].Stream != t.Took.ID {
		return got + fmt.Sprintf("but made %s wait", t.Name(t.Records[waited].Stream)),
			"Give cuda.StreamWaitEvent the stream that Alloc was given: the next owner's work has to wait, not the last one's.",
			waited
	}
	if t.record < 0 {
		what = "recorded no event"
		if before := t.recordedIn(t.given.ID, t.given.From); before >= 0 {
			what += fmt.Sprintf(": the last in %v stands behind an earlier one", in)
		}
		return what, "Record the event in every Free (cuda.EventRecord), in the stream that Free is given, also where it " +
			"was recorded before: only what is in the stream by then is waited for.", -1
	}
	if where := t.Records[t.record].Stream; where != t.given.ID {
		return fmt.Sprintf("recorded its event in %s", t.Name(where)),
			"Record in the stream that Free is given: what is in there next comes behind the block's last use, whatever " +
				"stream it was handed out in.", t.record
	}
	if again := t.recordedAgain(); again >= 0 {
		return fmt.Sprintf("its event was recorded again in %s before %s", t.Name(t.Records[again].Stream), got[:len(got)-1]),
			"Have an event for each stream, or for each block: one that is recorded anew in another stream stands for what is " +
				"there, and no longer for the last use of this block.", again
	}
	switch {
	case asked >= 0 && answer == int32(device.ErrorNotReady):
		return got + fmt.Sprintf("without a wait, though %s had answered \"not ready\"", suite.CallName(&t.Records[asked])),
			"Hand a block out at once only where the answer is nil. Where it is cuda.ErrorNotReady go on with the next " +
				"stream, and at last have the stream wait (cuda.StreamWaitEvent). One question is enough: to be asked again " +
				"makes no stream ready.", asked
	case t.wasDone() >= 0:
		done := t.wasDone()
		return got + "without a wait and without a question: its event was done when it was last asked, but was recorded " +
				"again since",
			"An answer holds until the event is recorded again: ask it in each Alloc that wants another stream's block " +
				"(cuda.EventQuery), or forget in Free that it was done.", done
	case waited >= 0:
		return got + "and was made to wait for another event than that of this Free",
			"Have the stream wait for the event that was recorded when this very block was given back (cuda.StreamWaitEvent).",
			waited
	}
	return got + "without a wait",
		"Before a block goes to another stream ask the event of its Free (cuda.EventQuery), and where it is not done have " +
			"that stream wait for it (cuda.StreamWaitEvent).", -1
}

// recordedIn is the pool's last record of an event in a stream, before a record; -1: there is none.
func (t *tale) recordedIn(stream trace.ID, before int) (last int) {
	last = -1
	for i := range t.Steps {
		for at, r := range t.Steps[i].Calls {
			if at < before && r.Op == trace.OpEventRecord && r.Stream == stream && r.Code == 0 {
				last = at
			}
		}
	}
	return last
}

// recordedAgain is where the event was recorded in another stream between the Free and the Alloc's last call; -1:
// nowhere.
func (t *tale) recordedAgain() (last int) {
	last = -1
	for at := t.record + 1; at < t.Took.To; at++ {
		if r := &t.Records[at]; r.Op == trace.OpEventRecord && r.Event == t.event && r.Code == 0 && r.Stream != t.given.ID {
			last = at
		}
	}
	return last
}

// wasDone is where the event was last asked before the Free, if it was done; -1: it was not, or was asked since.
func (t *tale) wasDone() (last int) {
	last = -1
	for at := range t.Took.To {
		r := &t.Records[at]
		if r.Op != trace.OpEventQuery || r.Event != t.event {
			continue
		}
		if last = -1; r.Code == 0 && at < t.record {
			last = at
		}
	}
	return last
}
