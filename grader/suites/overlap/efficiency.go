package overlap

import (
	"encoding/binary"
	"math"
	"slices"

	"cudalab/grader/suite"
	"cudalab/grader/suite/verdict"
	"cudalab/native/trace"
)

// pass is all work of one time that the words went through, in the order of the calls.
type pass struct{ work []int }

// passes are the call's. A pass ends where as many bytes have been copied back as there are.
func (c call) passes() (all []pass) {
	out, back := c.outAlloc(), 0
	var p pass
	c.Records(func(at int, r *trace.Record) bool {
		copied := r.Op == trace.OpMemcpyHtoDAsync || r.Op == trace.OpMemcpyDtoHAsync
		if r.Code != 0 || !copied && !(r.Op == trace.OpLaunch && r.Kernel == kernel) {
			return true
		}
		p.work = append(p.work, at)
		for _, a := range r.Accesses {
			if a.Alloc == out && r.Op == trace.OpMemcpyDtoHAsync {
				back += int(a.Size)
			}
		}
		if back >= 4*c.W.n {
			all, p, back = append(all, p), pass{}, 0
		}
		return true
	})
	return all
}

// inOne reports whether all of a pass is in streams[0].
func (c call) inOne(p pass) bool {
	for _, at := range p.work {
		if c.Record(at).Stream != c.Stream(0) {
			return false
		}
	}
	return true
}

// timedBy is the pass most of whose work is on a clock; -1 where none is.
func (c call) timedBy(k suite.Clock, all []pass) (timed int) {
	most := 0
	timed = -1
	for i, p := range all {
		on := 0
		for _, at := range p.work {
			if !c.Before(at, k.Start) && !c.Before(k.Stop, at) {
				on++
			}
		}
		if on > most {
			most, timed = on, i
		}
	}
	return timed
}

// within is how far an answer may be from the quotient of two times.
const within = 1e-4

func close(a, b float64) bool { return math.Abs(a-b) <= within*math.Abs(b) }

// efficiency judges one call.
func efficiency(m *suite.Made[workload]) []verdict.Finding {
	c := call{m}
	if !m.Outcome.OK() {
		return []verdict.Finding{m.UnexpectedError("Efficiency")}
	}
	if found := waitsForOthers(m); found != nil {
		return found
	}
	read, all := c.Clocks(), c.passes()
	if len(read) < 2 {
		return []verdict.Finding{c.ofEfficiency("Efficiency should answer the quotient of two times, but asked "+
			"cuda.EventElapsedTime for %s.",
			verdict.Count(len(read), "time", "times"))}
	}
	one, other, answered := c.pair(read, all)
	for _, look := range []func(suite.Clock, []pass, bool) []verdict.Finding{c.misses, c.tooMuch, c.cold, c.wrongPass,
		c.otherWork} {
		for i, k := range []suite.Clock{one, other} {
			if found := look(k, all, i == 0); found != nil {
				return found
			}
		}
	}
	if !answered {
		return []verdict.Finding{c.wrongAnswer(one, other)}
	}
	if m.W.far && runIsRight(m.Evidence) {
		return c.unmixed(3)
	}
	if m.W.far {
		return nil
	}
	out := m.W.bytesOf(m.Noted(noteWords))
	if i := m.W.firstWrong(out); i >= 0 && runIsRight(m.Evidence) {
		return []verdict.Finding{c.Finding(c.writer(i/m.W.size()), passRule,
			"the last pass should leave in out what Run does, but word %d is %d and should be %d.",
			i, binary.LittleEndian.Uint32(out[4*i:]), m.W.want(i))}
	}
	return nil
}

// runIsRight reports whether nothing is wrong with what comes out of Run; where something is, other checks tell.
func runIsRight(e *suite.Evidence) bool {
	for _, id := range good.IDs() {
		if e.Cases[id] == nil {
			return false
		}
	}
	return verdict.Once(e.Cases[shaped.ID], "Run is right", func() bool {
		return !verdict.HasError(ordered.Judge(e).Findings) &&
			!slices.ContainsFunc(good.Made(e), func(m suite.Made[workload]) bool {
				return !m.Outcome.OK() || wrongResult(&m) != nil
			})
	})
}

// pair are the two clocks that the answer is the quotient of; where there are none such, the last two that it should be
// of.
func (c call) pair(read []suite.Clock, all []pass) (one, other suite.Clock, answered bool) {
	alone := func(k suite.Clock) bool {
		timed := c.timedBy(k, all)
		return timed >= 0 && c.inOne(all[timed])
	}
	for i, a := range read {
		for j, b := range read {
			if i != j && close(c.answer(), a.Ms/b.Ms) && (alone(a) || !alone(b)) {
				return a, b, true
			}
		}
	}
	one, other = read[len(read)-2], read[len(read)-1]
	if alone(other) && !alone(one) {
		one, other = other, one
	}
	return one, other, false
}

func (c call) answer() float64 {
	if noted := c.Noted(noteAnswer); len(noted) > 0 {
		return float64(math.Float32frombits(uint32(noted[0])))
	}
	return 0
}

var wrongEfficiency = suite.Rule{ID: "wrong-efficiency",
	Why: "A number that is not what the clocks say is of something else than the work, however plausible.",
	Fix: "Answer the time on streams[0] alone, by the time on all of streams, both as cuda.EventElapsedTime says."}

// ofEfficiency is a finding about what Efficiency answers.
func (c call) ofEfficiency(format string, args ...any) verdict.Finding {
	f := c.Finding(-1, wrongEfficiency, format, args...)
	f.Function = "Efficiency"
	return f
}

func (c call) wrongAnswer(one, other suite.Clock) verdict.Finding {
	want, got, words := one.Ms/other.Ms, c.answer(), ""
	switch {
	case close(got, 1/want):
		words = ", which is the other way round"
	case close(got, one.Ms) || close(got, other.Ms):
		words = ", the time of one pass"
	case close(got, one.Ms-other.Ms):
		words = ", the difference of the two"
	}
	return c.ofEfficiency("Efficiency should answer %.6g, since the pass on streams[0] took %.6g ms and the one on all "+
		"streams %.6g ms, but answered %.6g%s.",
		want, one.Ms, other.Ms, got, words)
}

// passOn says which pass a clock is of.
func passOn(alone bool) string {
	if alone {
		return "the pass on streams[0] alone"
	}
	return "the pass on all of streams"
}

// misses finds work of a clock's pass that is not on it.
func (c call) misses(k suite.Clock, all []pass, alone bool) []verdict.Finding {
	timed := c.timedBy(k, all)
	if timed < 0 {
		return []verdict.Finding{c.Finding(k.Stop, missesWork,
			"between the two events should be a whole pass, but nothing of any is.")}
	}
	for _, at := range all[timed].work {
		which, when := k.Start, "begin before the first"
		if c.Before(k.Start, at) {
			which, when = k.Stop, "be under way behind the second"
		}
		if r := c.Record(at); !c.Before(k.Start, at) || !c.Before(at, k.Stop) {
			return []verdict.Finding{c.Finding(which, missesWork,
				"all work of %s should be between its two events, but %s in %s may %s.",
				passOn(alone), suite.CallName(r), c.StreamName(r.Stream, streamName), when)}
		}
	}
	return nil
}

// tooMuch finds work of other passes that may be under way while a clock runs.
func (c call) tooMuch(k suite.Clock, all []pass, alone bool) []verdict.Finding {
	timed := c.timedBy(k, all)
	for i, p := range all {
		for _, at := range p.work {
			if r := c.Record(at); i != timed && !c.Before(at, k.Start) && !c.Before(k.Stop, at) {
				return []verdict.Finding{c.Finding(k.Start, suite.Rule{ID: "clocked-too-much",
					Why: "Two passes at once share the engines, and each looks slower than it is.",
					Fix: "Have streams[0] wait for the end of the pass before in all streams, and record the first event behind that.",
				}, "while %s is on the clock nothing else should be under way, but %s of another pass may be, in %s.",
					passOn(alone), suite.CallName(r), c.StreamName(r.Stream, streamName))}
			}
		}
	}
	return nil
}

// cold finds a clock ahead of which no whole pass was done.
func (c call) cold(k suite.Clock, all []pass, _ bool) []verdict.Finding {
	several := slices.ContainsFunc(all, func(p pass) bool { return !c.inOne(p) })
	for _, p := range all {
		whole := !slices.ContainsFunc(p.work, func(at int) bool { return !c.Before(at, k.Start) })
		if whole && (!several || !c.inOne(p)) {
			return nil
		}
	}
	return []verdict.Finding{c.Finding(k.Start, suite.Rule{ID: "cold-clock",
		Why: "The first pass pays for what later ones find ready: memory in the pool, the kernel on the device.",
		Fix: "Do a whole pass on all of streams before the first clock starts.",
	}, "a whole pass on all of streams should have been done before the clock starts, to warm up, but none has.")}
}

var missesWork = suite.Rule{ID: "clock-misses-work",
	Why: "An event says when its own stream got there; what other streams do by then it does not say.",
	Fix: "Before the pass have all other streams wait for the first event; behind it have streams[0] wait for an event " +
		"of each, and record the second there."}

// wrongPass finds a pass in other streams than the clock says that it is of.
func (c call) wrongPass(k suite.Clock, all []pass, alone bool) []verdict.Finding {
	one := c.inOne(all[c.timedBy(k, all)])
	// Of few chunks Run may put all into one stream, two at a time.
	if !c.W.different() || one == alone || one && c.W.chunks() < 4 {
		return nil
	}
	should, is := "streams[0] alone", "several streams"
	if !alone {
		should, is = "all of streams", "streams[0] alone"
	}
	return []verdict.Finding{c.Finding(k.Start, passRule, "one of the two passes should be on %s, but is on %s.", should,
		is)}
}

var passRule = suite.Rule{ID: "wrong-pass",
	Why: "The quotient says what the streams bring, if nothing else differs between the two passes.",
	Fix: "Time the same work twice: Run(streams[:1], in, out, n, chunk, work) and Run(streams, in, out, n, chunk, work)."}

// otherWork finds a pass that copies from elsewhere than in, or other pieces than chunks.
func (c call) otherWork(k suite.Clock, all []pass, alone bool) []verdict.Finding {
	copies := 0
	for _, at := range all[c.timedBy(k, all)].work {
		r := c.Record(at)
		if r.Op != trace.OpMemcpyHtoDAsync {
			continue
		}
		copies++
		if !suite.Touching(r, c.inAlloc()) {
			return []verdict.Finding{c.Finding(at, passRule, "%s should copy from in, but copies from elsewhere.",
				passOn(alone))}
		}
	}
	if copies != c.W.chunks() {
		return []verdict.Finding{c.Finding(k.Start, passRule, "%s should copy %s to the device, but copies %d.",
			passOn(alone), verdict.Count(c.W.chunks(), "chunk", "chunks"), copies)}
	}
	return nil
}

// waitsForOthers finds waits for more than the passes.
func waitsForOthers(m *suite.Made[workload]) (found []verdict.Finding) {
	c := call{m}
	c.Records(func(at int, r *trace.Record) bool {
		what := c.HostWait(at)
		if r.Op == trace.OpStreamSynchronize {
			what = "waits until " + c.StreamName(r.Stream, streamName) + " is empty"
		}
		if r.Op == trace.OpDeviceSynchronize || r.Op == trace.OpStreamSynchronize && !slices.Contains(c.Streams, r.Stream) {
			found = append(found, c.Finding(at, suite.Rule{ID: "waits-for-others",
				Why: "What others have given the device is no part of this, and may take as long as it likes.",
				Fix: "Wait for the last event: cuda.EventSynchronize.",
			}, "Efficiency should wait for its own passes alone, but %s %s.", suite.CallName(r), what))
		}
		return true
	})
	return verdict.Unique(found)
}
