package streampool

import (
	"fmt"
	"slices"

	"cudalab/grader/suite"
	"cudalab/grader/suite/allocator"
	"cudalab/grader/suite/verdict"
	"cudalab/native/trace"
)

const ofUpstream = "upstream"

// judgeUpstream answers whether bytes of an upstream in stream order went out only where they were there.
func judgeUpstream(e *suite.Evidence) suite.Answer {
	a := ordered.Judge(e, ofUpstream, "Every byte was there for whoever got it, whichever stream its chunk came in.", nil)
	for _, s := range ordered {
		for _, f := range e.Of([]string{"use-before-alloc"}, s.ID) {
			if slices.ContainsFunc(s.Runs(e), func(r allocator.Run[layout]) bool { return r.Before(f.Record) }) {
				if h := ordered.Handover(e, &f); h == nil || unused(h) { // what was had before is for order to tell
					arrivalOf(e, h, &f)
					a.Findings = append(a.Findings, f)
				}
			}
		}
	}
	a.Findings = verdict.Unique(a.Findings)
	return a
}

// arrivalOf adds to a finding of bytes that were handed out too early how their chunk had come.
func arrivalOf(e *suite.Evidence, h *allocator.Handover[layout], f *verdict.Finding) {
	if h == nil {
		return
	}
	grew, asked := cameWith(h)
	if grew == nil {
		return
	}
	in, by := grew.Stream, h.Took.Stream
	what := fmt.Sprintf("Alloc in %v got bytes of a chunk that came with Alloc in %v", by, in)
	if r := &h.Records[asked]; r.Stream != grew.ID {
		h.Tell(f, fmt.Sprintf("Alloc in %v asked the upstream for a chunk, but in %s", in, h.Name(r.Stream)),
			"Give the upstream's Malloc the stream that Alloc was given: there the work comes that uses the block.")
		h.On(e, f, asked)
		return
	}
	if recordedBehind(h, asked, grew.ID) {
		h.Tell(f, fmt.Sprintf("%s, and %v was not made to wait for an event that was recorded behind that", what, by),
			fmt.Sprintf("What a chunk has beyond the block is %v's: have another stream wait for %[1]v's event "+
				"(cuda.StreamWaitEvent) where it is not done (cuda.EventQuery).", in))
		h.Missing(f, "Alloc", trace.OpStreamWaitEvent)
		return
	}
	h.Tell(f, fmt.Sprintf("%s, and no event was recorded in %v behind that", what, in),
		"Once the pool is shared record an event (cuda.EventRecord) in the stream that a chunk came in, behind the "+
			"upstream's Malloc: what the block leaves of the chunk is free behind that place.")
	h.Missing(f, "Alloc", trace.OpEventRecord)
}

// unused reports whether nobody has had some of the bytes that were handed out.
func unused(h *allocator.Handover[layout]) bool {
	var l land
	for i := range h.Steps[:h.Taken] {
		l.settle(&h.Steps[i])
	}
	entries(h.Took.Seen(), func(what, size int64, at uint64) {
		if what == handedOut {
			l.grow(at, at+uint64(size), h.Took.Stream)
		}
	})
	end := h.Took.Addr + uint64(need(h.Took.Size))
	return slices.ContainsFunc(l.parts, func(p part) bool { return p.fresh && p.lo < end && h.Took.Addr < p.hi })
}

// recordedBehind reports whether the pool has recorded an event in a stream behind a record, until the bytes went out.
func recordedBehind(h *allocator.Handover[layout], record int, stream trace.ID) bool {
	for i := range h.Steps[:h.Taken+1] {
		for at, r := range h.Steps[i].Calls {
			if at > record && r.Op == trace.OpEventRecord && r.Stream == stream && r.Code == 0 {
				return true
			}
		}
	}
	return false
}

// cameWith is the Alloc with which the chunk came that holds the bytes which were handed out, and the record with which
// it was asked for; nil: none is known.
func cameWith(h *allocator.Handover[layout]) (grew *allocator.Step, asked int) {
	for i := range h.Steps[:h.Taken+1] {
		x := &h.Steps[i]
		entries(x.Seen(), func(what, size int64, at uint64) {
			if what == handedOut && at <= h.Took.Addr && h.Took.Addr < at+uint64(size) {
				grew = x
			}
		})
	}
	if grew == nil {
		return nil, -1
	}
	for at, r := range grew.Calls {
		if r.Op == trace.OpMallocAsync && r.Code == 0 {
			return grew, at
		}
	}
	return nil, -1
}
