package streampool

import (
	"fmt"
	"slices"
	"strings"

	"cudalab/grader/suite"
	"cudalab/grader/suite/allocator"
	"cudalab/grader/suite/sequence"
	"cudalab/grader/suite/verdict"
	"cudalab/native/device"
	"cudalab/native/trace"
)

// judgeOrder answers whether any bytes went out too early, and says of those what had become of them.
func judgeOrder(e *suite.Evidence) suite.Answer {
	a := good.JudgeOrder(e, "order",
		"Every byte's last use came before its next owner's first, whatever the streams were at.", allocator.NoteStrangers)
	for i := range a.Findings {
		if a.Findings[i].Rule == "early-reuse" {
			tell(e, &a.Findings[i])
		}
	}
	return a
}

// tell adds to a finding of bytes that were handed out too early who gave them back, and what the pool did about that.
func tell(e *suite.Evidence, f *verdict.Finding) {
	if t := taleOf(e, f); t != nil {
		what, fix := t.words()
		t.Tell(f, what, fix)
		t.place(e, f)
	}
}

// place puts the finding where the call is that was wrong, or that is missing.
func (t *tale) place(e *suite.Evidence, f *verdict.Finding) {
	for at, r := range t.Took.Calls {
		if r.Op == trace.OpStreamWaitEvent && r.Code == 0 && r.Stream != t.Took.ID {
			t.On(e, f, at)
			return
		}
	}
	switch {
	case t.recorded():
		t.Missing(f, "Alloc", trace.OpStreamWaitEvent)
	case t.forgotten():
		t.Missing(f, "Forget", trace.OpEventRecord)
	case t.second():
		t.Missing(f, "Free", trace.OpEventRecord)
	}
}

// tale is what became of bytes from when they were given back until they were handed out too early.
type tale struct {
	*allocator.Handover[layout]
	back  []returned // all that was given back before, where it lies now
	given *allocator.Step
	gave  int // its place among the steps
	lo    uint64
	hi    uint64
}

// returned is bytes that an operation has given back.
type returned struct {
	lo, hi uint64
	step   int
}

// taleOf is the tale of the bytes that a finding is about; nil where nobody is known who may be still at them.
func taleOf(e *suite.Evidence, f *verdict.Finding) *tale {
	t := &tale{Handover: good.Handover(e, f)}
	if t.Handover == nil {
		return nil
	}
	t.follow()
	for _, b := range t.within(t.Took) {
		if y := &t.Steps[b.step]; t.Pending(e, y, f.Record) {
			t.given, t.gave, t.lo, t.hi = y, b.step, b.lo, b.hi
			return t
		}
	}
	return nil
}

// follow finds what was given back before the bytes were handed out.
func (t *tale) follow() {
	sizes := map[uint64]uint64{}
	for i := range t.Steps[:t.Taken] {
		x := &t.Steps[i]
		entries(x.Seen(), func(what, size int64, at uint64) {
			if what == takenBack {
				t.cut(at, at+uint64(size))
			}
		})
		switch {
		case x.Err != sequence.Nil:
		case x.Kind == allocator.KindAlloc:
			sizes[x.Addr] = uint64(need(x.Size))
		case x.Method() == "Free":
			end := x.Addr + sizes[x.Addr]
			t.cut(x.Addr, end)
			t.back = append(t.back, returned{x.Addr, end, i})
		}
	}
}

// cut takes bytes out of what was given back.
func (t *tale) cut(lo, hi uint64) {
	var left []returned
	for _, b := range t.back {
		if b.lo < lo {
			left = append(left, returned{b.lo, min(b.hi, lo), b.step})
		}
		if hi < b.hi {
			left = append(left, returned{max(b.lo, hi), b.hi, b.step})
		}
	}
	t.back = left
}

// within is what was given back of the bytes that an Alloc has handed out.
func (t *tale) within(x *allocator.Step) (parts []returned) {
	end := x.Addr + uint64(need(x.Size))
	for _, b := range t.back {
		if b.lo < end && x.Addr < b.hi {
			parts = append(parts, returned{max(b.lo, x.Addr), min(b.hi, end), b.step})
		}
	}
	return parts
}

// words are what became of the bytes, and what mends it.
func (t *tale) words() (what, fix string) {
	in, by := t.given.Stream, t.Took.Stream
	what = t.given.Freeing() + " gave these bytes back"
	if part := t.hi - t.lo; part < uint64(need(t.Took.Size)) {
		what = fmt.Sprintf("%s gave %d of these bytes back", t.given.Freeing(), part)
	}
	forgotten := t.forgotten()
	if forgotten {
		what += fmt.Sprintf(", %v was forgotten", in)
	}
	rest := t.rest()
	if rest != nil {
		what += fmt.Sprintf(", Alloc in %v took bytes beside them and had %v wait for %v", rest.Stream, rest.Stream, in)
	}
	what += fmt.Sprintf(", and Alloc in %v got them ", by)
	others, elsewhere := t.waitedFor()
	switch {
	case elsewhere != "":
		return what + fmt.Sprintf("but made %s wait", elsewhere),
			"Give cuda.StreamWaitEvent the stream that Alloc was given: the next owner's work has to wait, not the last one's."
	case !t.recorded() && forgotten:
		return what + fmt.Sprintf("though no event was recorded in %v in between", in),
			"Have Forget record an event in the stream (cuda.EventRecord) where none stands behind its last Free yet, as " +
				"while there is only one stream, and wait for that event before another stream gets the bytes."
	case !t.recorded() && !t.second():
		return what + fmt.Sprintf("though no event was recorded in %v in between", in),
			"As long as there is one stream nothing need be recorded. When the second comes, in Alloc or in Free, record an " +
				"event in the first (cuda.EventRecord), which then stands behind all that was given back there; from then on " +
				"record in every Free."
	case !t.recorded():
		return what + fmt.Sprintf("though no event was recorded in %v in between", in),
			"Once a second stream has come, record an event in every Free (cuda.EventRecord), in the stream that Free is given."
	case t.toldNotReady():
		return what + "without a wait, though cuda.EventQuery had answered \"not ready\"",
			"Hand bytes out at once only where the answer is nil. Where it is cuda.ErrorNotReady go on with the next stream, " +
				"and at last have the stream wait (cuda.StreamWaitEvent)."
	case rest != nil:
		what += t.waiting(others)
		return what, fmt.Sprintf("What %v did not take is still free behind the event of %v: leave it %v's, or record an "+
			"event in %v behind its wait, and wait for that.",
			rest.Stream, in, in, rest.Stream)
	case len(others) > 0 || t.several() != "":
		if s := t.several(); s != "" {
			what = fmt.Sprintf("the bytes were given back in %s, and Alloc in %v got them ", s, by)
		}
		return what + t.waiting(others),
			"What several streams have given back is free behind the event of each: have the stream wait for all of them, and " +
				"join in Free only what one and the same stream has given back."
	case forgotten:
		return what + t.waiting(others),
			fmt.Sprintf("Keep the event of a stream that is forgotten with the bytes that were given back there: until it is "+
				"done (cuda.EventQuery) another stream has to wait for it (cuda.StreamWaitEvent), also when %v is gone.", in)
	}
	return what + t.waiting(others),
		"Before bytes go to another stream ask the event that stands behind their Free (cuda.EventQuery), and where it is " +
			"not done have that stream wait for it (cuda.StreamWaitEvent)."
}

// between yields the operations from the Free up to the Alloc, both included.
func (t *tale) between(yield func(*allocator.Step) bool) {
	for i := t.gave; i <= t.Taken; i++ {
		if !yield(&t.Steps[i]) {
			return
		}
	}
}

func (t *tale) forgotten() bool {
	for x := range t.between {
		if x.Kind == allocator.KindForget && x.Stream == t.given.Stream && x.Err == sequence.Nil {
			return true
		}
	}
	return false
}

// second reports whether a second stream had come when the bytes were given back.
func (t *tale) second() bool {
	return slices.ContainsFunc(t.Steps[:t.gave], func(x allocator.Step) bool {
		return x.Called() && x.Stream != nobody && x.Kind != allocator.KindForget && x.Stream != t.given.Stream
	})
}

// recorded reports whether the pool has recorded an event in the stream of the Free, then or later.
func (t *tale) recorded() bool {
	for x := range t.between {
		for _, r := range x.Calls {
			if r.Op == trace.OpEventRecord && r.Stream == t.given.ID && r.Code == 0 {
				return true
			}
		}
	}
	return false
}

// recordedIn is the stream that an event was recorded in last, before a record.
func (t *tale) recordedIn(event trace.ID, before int) (stream trace.ID, ok bool) {
	for at := before - 1; at >= 0; at-- {
		if r := &t.Records[at]; r.Op == trace.OpEventRecord && r.Event == event && r.Code == 0 {
			return r.Stream, true
		}
	}
	return 0, false
}

// waitedFor are the streams that the Alloc had its own wait for, and another stream that it had wait.
func (t *tale) waitedFor() (names []string, elsewhere string) {
	for at, r := range t.Took.Calls {
		if r.Op != trace.OpStreamWaitEvent || r.Code != 0 {
			continue
		}
		if r.Stream != t.Took.ID {
			elsewhere = t.Name(r.Stream)
		} else if in, ok := t.recordedIn(r.Event, at); ok && !slices.Contains(names, t.Name(in)) {
			names = append(names, t.Name(in))
		}
	}
	return names, elsewhere
}

// waiting says for whom the Alloc had its stream wait.
func (t *tale) waiting(names []string) string {
	if len(names) == 0 {
		return "without a wait"
	}
	return fmt.Sprintf("and had %v wait for %s alone", t.Took.Stream, strings.Join(names, " and "))
}

// toldNotReady reports whether the Alloc asked about the stream of the Free, was told that it is not through, and did
// not wait.
func (t *tale) toldNotReady() (told bool) {
	for at, r := range t.Took.Calls {
		if r.Op != trace.OpEventQuery && r.Op != trace.OpStreamWaitEvent {
			continue
		}
		if in, ok := t.recordedIn(r.Event, at); ok && in == t.given.ID {
			told = r.Op == trace.OpEventQuery && r.Code == int32(device.ErrorNotReady)
		}
	}
	return told
}

// rest is the Alloc between the two that took bytes beside these, which were given back in the same stream, and that
// had another stream wait for it; nil: there is none.
func (t *tale) rest() *allocator.Step {
	for i := t.gave + 1; i < t.Taken; i++ {
		x := &t.Steps[i]
		if x.Kind != allocator.KindAlloc || x.Err != sequence.Nil || x.Stream == t.Took.Stream ||
			x.Stream == t.given.Stream {
			continue
		}
		if end := x.Addr + uint64(need(x.Size)); end != t.lo && t.hi != x.Addr {
			continue
		}
		for at, r := range x.Calls {
			if r.Op != trace.OpStreamWaitEvent || r.Stream != x.ID || r.Code != 0 {
				continue
			}
			if in, ok := t.recordedIn(r.Event, at); ok && in == t.given.ID {
				return x
			}
		}
	}
	return nil
}

// several are the streams that have given back what the Alloc has handed out; "" where it is one.
func (t *tale) several() string {
	var names []string
	for _, b := range t.within(t.Took) {
		if name := t.Steps[b.step].Stream.String(); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) < 2 {
		return ""
	}
	slices.Sort(names)
	return strings.Join(names, " and in ")
}
