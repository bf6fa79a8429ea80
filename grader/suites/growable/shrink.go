package growable

import (
	"fmt"
	"math"
	"slices"

	"cudalab/grader/suite"
	"cudalab/grader/suite/verdict"
	"cudalab/native/trace"
)

const createCall = trace.OpMemCreate

// shrinking finds what is wrong with Shrink: waits that are missing or needless, and memory that it keeps.
func shrinking(_ *suite.Evidence, r *replay) []verdict.Finding {
	found := r.ordered("free-before-use")
	if len(found) == 0 {
		found = r.tooEarly()
	}
	return slices.Concat(found, r.waitsForOthers(), r.waitsAgain(), r.tooMuch(ofShrink), r.changedUsers())
}

// changedUsers finds a Shrink that has written to its caller's slice.
func (r *replay) changedUsers() (found []verdict.Finding) {
	for i := range r.steps[:r.right] {
		s := &r.steps[i]
		if !slices.ContainsFunc(r.notes.Values[noteUsers], func(call uint64) bool {
			from, _ := r.notes.Window(int(min(call, math.MaxInt32)))
			return from == s.begin
		}) {
			continue
		}
		found = append(found, r.finding(s, -1, verdict.Finding{Rule: "argument-changed",
			Message: r.doing(s) + " should have left the slice of users as it was, but has written to it, or behind its end.",
			Why:     "A slice is a view of its caller's memory: what is written to it is so for the caller as well.",
			Fix:     "Make a copy first (slices.Clone), and change that."})...)
	}
	return found
}

// stream is the ID in the trace of one of the script's streams.
func (r *replay) stream(i int) trace.ID {
	if i == legacy {
		return 0
	}
	for at := r.made.begin - 1; at >= 0; at-- { // they are made right ahead of New
		if x := &r.notes.Trace.Records[at]; x.Op == trace.OpStreamCreate && x.Label == streamNames[i] {
			return x.Stream
		}
	}
	return suite.NoStream
}

// lastWork is the last work that is in a stream when a step begins; -1 where there is none of the script's.
func (r *replay) lastWork(s *step, stream int) int {
	id := r.stream(stream)
	for at := s.begin - 1; at >= r.made.begin; at-- {
		x := &r.notes.Trace.Records[at]
		if x.Stream != id || x.Code != 0 || x.Phase == trace.Leave {
			continue
		}
		switch x.Op {
		case trace.OpLaunch, trace.OpMemcpyDtoDAsync, trace.OpMemsetAsync, trace.OpMemcpyDtoD:
			return at
		}
	}
	return -1
}

func (r *replay) relation() suite.Relation {
	return verdict.Once(r.notes, "relation", func() suite.Relation { return r.e.Relate(r.notes.Trace) })
}

// waitedFor are the streams that a Shrink has to wait for: those that have appended, and users.
func (r *replay) waitedFor(i int) (streams []int) {
	streams = slices.Clone(r.steps[i].users)
	for _, s := range r.steps[:i] {
		if s.kind == appending && s.ok() {
			streams = append(streams, s.stream)
		}
	}
	return streams
}

// tooEarly finds a Shrink that returns before the device is through with the streams that it is to wait for.
func (r *replay) tooEarly() []verdict.Finding {
	for i := range r.steps[:r.right] {
		s := &r.steps[i]
		if s.kind != shrinks || !s.ok() || s.n == s.before.length {
			continue
		}
		for _, stream := range r.waitedFor(i) {
			work := r.lastWork(s, stream)
			if work < 0 || r.relation().Before(work, s.end) {
				continue
			}
			what := "which has appended"
			if slices.Contains(s.users, stream) {
				what = "which was named to it"
			}
			return r.finding(s, -1, verdict.Finding{Rule: "returned-too-early",
				Message: fmt.Sprintf("%s should have waited for %s, %s, but when Shrink returned there could still be work in it.",
					r.doing(s), streamName(stream), what),
				Why: "The next Append writes where the elements were, in whichever stream: a kernel that still reads them would " +
					"find others there.",
				Fix: "In every Shrink that takes elements away, wait for each stream that has appended since New and for each of " +
					"users: cuda.StreamSynchronize."})
		}
	}
	return nil
}

// waitsForOthers finds a Shrink that waits for a stream which has nothing to do with the vector.
func (r *replay) waitsForOthers() []verdict.Finding {
	for i := range r.steps[:r.right] {
		s := &r.steps[i]
		if s.kind != shrinks || slices.Contains(r.waitedFor(i), other) {
			continue
		}
		work := r.lastWork(s, other)
		if work >= 0 && (r.relation().Before(work, s.begin-1) || !r.relation().Before(work, s.end)) {
			work = -1
		}
		for at, x := range r.calls(s) {
			if x.Op != trace.OpDeviceSynchronize && (work < 0 || !r.relation().Before(work, at)) {
				continue
			}
			return r.finding(s, at, verdict.Finding{Rule: "waits-for-others",
				Message: fmt.Sprintf("%s should have waited for the streams that have appended and for those named to it alone, "+
					"but here it waits for the work in %s as well.", r.doing(s), streamName(other)),
				Why: "Another part of the program may have hours of work there, which has nothing to do with these elements.",
				Fix: "Keep the streams that have appended, and call cuda.StreamSynchronize for each of them and for each of " +
					"users; not cuda.DeviceSynchronize."})
		}
	}
	return nil
}

// waitsAgain finds a Shrink that waits far more often than there are streams to wait for.
func (r *replay) waitsAgain() []verdict.Finding {
	for i := range r.steps[:r.right] {
		s := &r.steps[i]
		if s.kind != shrinks {
			continue
		}
		streams := map[int]bool{}
		for _, stream := range r.waitedFor(i) {
			streams[stream] = true
		}
		waits, last := 0, -1
		for at, x := range r.calls(s) {
			if x.Op == trace.OpStreamSynchronize || x.Op == trace.OpEventSynchronize {
				waits, last = waits+1, at
			}
		}
		if waits <= 4*(len(streams)+1)+len(s.users) { // to wait for one twice, or in more than one way, is no harm
			continue
		}
		return r.finding(s, last, verdict.Finding{Rule: "waits-again",
			Message: fmt.Sprintf("%s should have waited once for each of the %d streams that have appended or were named to "+
				"it, but it waited %d times.", r.doing(s),
				len(streams), waits),
			Why: "Each wait is a call into the driver, also where the stream has long been done; a list with an entry for " +
				"every Append grows as long as there is the vector.",
			Fix: "Look whether a stream is noted before you note it."})
	}
	return nil
}
