package crossstreamevents

import (
	"fmt"
	"strings"

	"cudalab/grader/suite"
	"cudalab/grader/suite/verdict"
	"cudalab/native/cuda"
	"cudalab/native/device"
	"cudalab/native/trace"
)

// lastOfBuffer is the gap behind which a buffer can come to its end.
const lastOfBuffer = "3c"

// owner lends a buffer its streams, its own first, and room for what is read.
var owner = &suite.Scene[Code, life]{
	KeepPool: true,
	Set: func(s *suite.Stage, w life) func(Code, life) error {
		s.Results(len(w.want()))
		for i := range 1 + w.users {
			s.Stream(w.streamName(i))
		}
		return func(code Code, w life) error { return w.run(s, code) }
	},
}

// aroundLife keeps late streams busy, and writes over what the buffer's memory was, as around does.
var aroundLife = suite.Around[life]{
	Before: func(s *suite.Stage, w life) { w.late.Busy(s, s.Lent) },
	Behind: func(s *suite.Stage, w life) {
		p, err := cuda.MallocAsync(w.bytes, s.Lent[0])
		s.Bench.Must(err)
		s.Bench.Must(cuda.MemsetAsync(p, suite.Poison, w.bytes, s.Lent[0]))
		s.Bench.Must(cuda.FreeAsync(p, s.Lent[0]))
		w.late.WaitLast(s)
	},
}

var (
	lives = &suite.Good[Code, life]{Function: "Buffer", Of: func(life) string { return "NewBuffer" },
		Runs: []*suite.Runs[Code, life]{
			owner.Runs("buffer", lastOfBuffer, livesOnIdle, aroundLife),
			owner.Runs("buffer-delays", lastOfBuffer, livesDelayed, aroundLife),
			owner.Runs("buffer-errors", lastOfBuffer, livesOnError, aroundLife),
			owner.Runs("buffer-streams", lastOfBuffer, livesWithoutStream, aroundLife),
		},
		Far:     []*suite.Runs[Code, life]{livesApart},
		Further: []suite.Further{bufferFaults.Further(), bufferRefusals.Further()}}
	livesApart   = owner.Runs("buffer-far", lastOfBuffer, livesFar, aroundLife).Far()
	bufferFaults = owner.Faults("buffer-faults", lastOfBuffer, fewUses, suite.FaultJudge{
		Function: "NewBuffer, Use or Close", Retried: "Close", MakesUp: true,
	}, wrongLife)
	bufferRefusals = suite.NewRefusals("buffer-arguments", "3a", []suite.Bad[life]{
		{Label: "0 bytes", W: life{bytes: 0}},
		{Label: "-7 bytes", W: life{bytes: -7}},
	}, owner.Refuse, suite.Refusing("NewBuffer", "Return contract.ErrArgument when bytes is below 1.")).
		Behind(owner.Call(life{bytes: 100, uses: ofOne}))
)

// buffer asks everything about Buffer, of which the other checks know nothing: what is written of Share and FanOut is
// judged in full without it.
var buffer = func() suite.Part[Code] {
	p := lives.Asking("buffer", "who has the buffer need not think of its stream", func(e *suite.Evidence) suite.Answer {
		a := lives.Judge(e, "", wrongLife)
		uses := 0
		for _, m := range lives.Made(e) {
			uses += len(m.W.uses)
		}
		a.Message = fmt.Sprintf("%d uses came one behind the other, in whichever stream, and the memory went behind all.",
			uses)
		return a
	}).Needing(&livesApart.Trial)
	p = p.With(lives.Part("", "", "", wrongEvents), lives.Part("", "", "", strayCalls), lives.Part("", "", "", elsewhere),
		lives.Order("", ""), lives.NoHostWait("", "", "", waitingBuffer), lives.Cleanup("", "", bufferFaults),
		suite.Arguments("", bufferRefusals)).And(waitsOnError)
	return lives.Beside(ofSharing, p)
}()

func waitingBuffer(life) suite.HostWait {
	return suite.HostWait{
		Should: "A buffer should leave the order to its event, and have nobody wait",
		Why: "While the host waits it enqueues nothing, so streams that could be working run dry; an event makes only the " +
			"stream wait that has to.",
		Fix: "Leave it out, and let the later stream wait instead: cuda.EventRecord in the earlier stream, " +
			"cuda.StreamWaitEvent in the later one.",
		AllocationShould: "The memory should be allocated in the buffer's stream",
		AllocationThen:   "stands outside every stream, so no event can order it.",
		AllocationWhy: "Memory from cuda.MallocAsync exists from that place in its stream on: another stream that " +
			"waits for an event recorded there may use it.",
	}
}

// wrongLife finds what is wrong with what the calls of a life answered, with how they called work, and with what was
// read.
func wrongLife(m *suite.Made[life]) []verdict.Finding {
	if !m.Outcome.OK() {
		return unexpected(m)
	}
	if found := wrongCalls(m); len(found) > 0 {
		return found
	}
	if m.Far {
		return nil
	}
	for i, sum := range m.Sums() {
		want := m.W.want()
		if i >= len(want) || sum == want[i] {
			continue
		}
		return onFunction("Use", m, -1, suite.Rule{ID: "wrong-result",
			Why: "A use in another stream has to come behind all earlier ones, and each later one behind it.",
			Fix: "Have t wait for the buffer's stream ahead of work, and the buffer's stream for t behind it; what is said of " +
				"the order names the line where a wait is missing."},
			"a use should read %#x, which the one before has written, but reads %#x.", want[i], sum)
	}
	return nil
}

// unexpected is a life in which something answered an error, or made no buffer.
func unexpected(m *suite.Made[life]) []verdict.Finding {
	if m.Outcome.Err == errNoBuffer.Error() {
		return onLife(m, -1, suite.Rule{ID: "no-buffer",
			Why: "Who is told of no error goes on with the buffer, and a nil pointer has no fields: the next call panics.",
			Fix: "Return the buffer that NewBuffer has made, and nil as its error."},
			"NewBuffer should answer a buffer, but answers nil, and no error.")
	}
	f := m.UnexpectedError("NewBuffer")
	f.Message = strings.Replace(f.Message, "NewBuffer should have returned nil for", "Nothing should have failed with", 1)
	f.Message = strings.Replace(f.Message, "but it returned: ", "but: ", 1)
	return []verdict.Finding{f}
}

// onLife is a finding about a life.
func onLife(m *suite.Made[life], record int, r suite.Rule, format string, args ...any) []verdict.Finding {
	return onFunction("NewBuffer", m, record, r, format, args...)
}

// onFunction is one about a function, or a method, where it is about no call of CUDA's.
func onFunction(name string, m *suite.Made[life], record int, r suite.Rule, format string,
	args ...any) []verdict.Finding {
	f := m.Finding(record, r, format, args...)
	f.Function = name
	return []verdict.Finding{f}
}

// wrongCalls finds the first use that did not call work as it should have, or lost its error, and calls behind Close
// that did not answer contract.ErrClosed.
func wrongCalls(m *suite.Made[life]) []verdict.Finding {
	noted := m.Noted(noteUses)
	for i, u := range m.W.uses {
		if i >= len(noted) {
			break
		}
		note, at := noted[i], workOf(m, i)
		calls := note & (otherStream - 1)
		switch {
		case calls != 1:
			return onFunction("Use", m, at, suite.Rule{ID: "work-calls",
				Why: "What work enqueues is the caller's own: left out it is missing, and twice it is done twice.",
				Fix: "Call work(t, memory) once in every Use."},
				"Use should call work once, but called it %d times.", calls)
		case note&otherStream != 0:
			return onFunction("Use", m, at, suite.Rule{ID: "wrong-stream",
				Why: "The caller has chosen the stream, and goes on with its work there.",
				Fix: "Call work with the stream that Use was given."},
				"Use should call work with the stream t that it was given, but called it with another one.")
		case note&otherMemory != 0:
			return onFunction("Use", m, at, suite.Rule{ID: "wrong-memory",
				Why: "A buffer is one allocation, whose address stays what it is until it is freed.",
				Fix: "Call work with what cuda.MallocAsync has answered in NewBuffer."},
				"Use should call work with the memory of the buffer, but called it with another address than before.")
		case note&errorLost != 0:
			return onFunction("Use", m, at, suite.Rule{ID: "error-ignored",
				Why: "The caller has to know that its work is not in the stream's queue.",
				Fix: "Return the error of work when the way back is made; errors.Join keeps several errors."},
				"As a test, work returned an error in %s. Use should have returned it too (errors.Is looks for it), but did not.",
				m.W.streamName(u.in))
		}
	}
	closed := m.Noted(noteClosed)
	if len(closed) < 3 {
		return nil
	}
	rule := suite.Rule{ID: "works-after-close",
		Why: "The memory and the event are gone: what is done with them after that, harms whoever has them now.",
		Fix: "Remember that Close has succeeded, and ask for that first, in Use and in Close."}
	switch {
	case closed[0] > 0:
		return onFunction("Use", m, -1, rule,
			"Use should answer contract.ErrClosed when the buffer is closed, but called work.")
	case closed[1] != answeredClosed:
		return onFunction("Use", m, -1, rule,
			"Use should answer contract.ErrClosed when the buffer is closed, but answered %s.",
			answerWords[min(closed[1], answeredOther)])
	case closed[2] != answeredClosed:
		return onFunction("Close", m, -1, rule, "a second Close should answer contract.ErrClosed, but answered %s.",
			answerWords[min(closed[2], answeredOther)])
	}
	return nil
}

var answerWords = [...]string{answeredNil: "nil", answeredClosed: "that", answeredOther: "another error"}

// workOf is the record of the student's line that called work last in a use; -1 where it was not called.
func workOf(m *suite.Made[life], use int) int {
	at := -1
	from, to := window(m, use)
	for _, back := range m.Callbacks() {
		if back.Name == "work" && from <= back.From && back.From <= to {
			at = back.From - 1
		}
	}
	return at
}

// window is the records of a use, with all calls of the grader's in it.
func window(m *suite.Made[life], use int) (from, to int) {
	from = m.To
	for at := m.From; at < m.To; at++ {
		r := m.Record(at)
		switch {
		case r.Op != trace.OpMark:
		case r.Label == fmt.Sprint(markUse, use):
			from = at
		case at > from && (strings.HasPrefix(r.Label, markUse) || r.Label == markClose):
			return from, at
		}
	}
	return from, m.To
}

// wrongEvents finds events beyond the one, and one that takes times.
func wrongEvents(m *suite.Made[life]) []verdict.Finding {
	made, buffers := m.Find(trace.OpEventCreate), 1
	if m.W.twin {
		buffers = 2
	}
	if len(made) > buffers {
		return onLife(m, made[buffers], suite.Rule{ID: "event-count",
			Why: "A wait takes what the event remembers when it is called, so that the next record harms no wait before it.",
			Fix: "Create one event in NewBuffer, and record it anew for every way there and every way back."},
			"a buffer should make one event, but makes %d.", len(made)-buffers+1)
	}
	for _, at := range made {
		if m.Record(at).Flags&device.EventDisableTiming == 0 {
			return onLife(m, at, suite.Rule{ID: "timed-event",
				Why: "An event with timing has the stream write a time stamp for each record, which takes longer than all " +
					"the rest of the call.",
				Fix: "Create it with cuda.EventCreateWithFlags(cuda.EventDisableTiming)."},
				"the event of a buffer should be one without timing, but this one takes times.")
		}
	}
	return nil
}

// strayCalls finds calls of CUDA's in a Use in the buffer's own stream.
func strayCalls(m *suite.Made[life]) []verdict.Finding {
	for i, u := range m.W.uses {
		if u.in != 0 {
			continue
		}
		from, to := window(m, i)
		for at, r := range m.Records {
			if from < at && at < to {
				return onLife(m, at, suite.Rule{ID: "cuda-call",
					Why: "Work in one stream runs in order by itself, so there is nothing to wait for, and every call costs time.",
					Fix: "Compare t with the buffer's stream, and call work alone where they are the same."},
					"Use in the buffer's own stream should make no call of its own, but calls %s.", suite.CallName(r))
			}
		}
	}
	return nil
}

// elsewhere finds the memory's allocation and its free in another stream than the buffer's.
func elsewhere(m *suite.Made[life]) []verdict.Finding {
	if m.W.twin {
		return nil // which has a stream of its own
	}
	for at, r := range m.Records {
		what := "allocated"
		switch r.Op {
		case trace.OpMallocAsync, trace.OpMallocFromPoolAsync:
		case trace.OpFreeAsync:
			what = "freed"
		default:
			continue
		}
		if r.Code == 0 && r.Stream != m.Stream(0) {
			return onLife(m, at, suite.Rule{ID: "wrong-stream",
				Why: "Whoever has the buffer's stream alone has to be able to say what comes before its memory is there, and " +
					"what comes behind its end.",
				Fix: "Keep the stream that NewBuffer was given, and pass it to this call."},
				"the memory should be %s in s, the buffer's stream, but %s is in %s.", what, suite.CallName(r),
				m.StreamName(r.Stream, m.W.streamName))
		}
	}
	return nil
}

// waitsOnError finds a host that waits because a way there or back could not be made.
func waitsOnError(e *suite.Evidence) (found []verdict.Finding) {
	notes := e.Cases[bufferFaults.ID]
	if !e.Own() || lives.Incomplete(e) != "" {
		return nil
	}
	all := bufferFaults.Made(e)
	for _, run := range suite.FaultRuns(notes) {
		c := &all[run.Index]
		for at := range c.Records {
			what := c.HostWait(at)
			if at < run.Failed || what == "" {
				continue
			}
			f := c.At(at, verdict.Finding{Rule: "host-wait", Function: "NewBuffer",
				Message: fmt.Sprintf("%s. The way that it is half of should be made in the next Use or Close, but %s %s.", run.What,
					suite.CallName(c.Record(at)), what),
				Why: "The buffer is there for later calls, so the order need not be there before the next of them.",
				Fix: "Remember that the buffer's stream does not wait for t yet, and make that way first when the buffer is used " +
					"or closed the next time."})
			found = append(found, e.Because(f, notes, run))
			break
		}
	}
	return verdict.Unique(found)
}
