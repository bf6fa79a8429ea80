package growable

import (
	"fmt"
	"math"
	"slices"

	"cudalab/grader/suite"
	"cudalab/grader/suite/mapping"
	"cudalab/grader/suite/sequence"
	"cudalab/grader/suite/verdict"
	"cudalab/native/trace"
)

// callsOfAppend finds what Append calls beyond growing in place and one copy: for ofContents what moves elements or
// memory, for ofHost the rest. The first that is wrong is told.
func (r *replay) callsOfAppend(part string) []verdict.Finding {
	for i := range r.steps[:min(r.right+1, len(r.steps))] {
		s := &r.steps[i]
		if s.kind != appending {
			continue
		}
		copies := 0
		for at, x := range r.calls(s) {
			if x.Op == trace.OpMemcpyDtoDAsync {
				copies++
			}
			of, f := r.callOfAppend(s, x, copies, r.e.WaitsIn(r.notes)[at])
			if of == part && (i < r.right || of == ofContents) {
				return r.finding(s, at, f)
			}
		}
	}
	return nil
}

// callOfAppend judges one call; copies is how many copies there are up to it, waits how it makes the host wait. The
// part is "" where nothing is wrong.
func (r *replay) callOfAppend(s *step, x *trace.Record, copies int, waits string) (part string, f verdict.Finding) {
	name := suite.CallName(x)
	grows := s.before.want(s.op) == sequence.Nil && (s.before.length+s.elements())*r.elem > s.found ||
		s.fail != nil || r.memory > 0
	want, bytes := r.made.Addr+uint64((s.before.length+s.n*int64(copies-1))*r.elem), s.n*r.elem
	copied := x.Op == trace.OpMemcpyDtoDAsync && s.sourced() && copies <= max(s.times, 1)
	switch {
	case waits != "":
		return ofHost, verdict.Finding{Rule: "host-wait",
			Message: fmt.Sprintf("%s should have returned without waiting, but %s %s.", r.doing(s), name, waits),
			Why: "While the host waits it enqueues nothing, and the device runs dry. To grow disturbs nobody: it touches " +
				"no byte that is mapped.",
			Fix: "Leave the wait out. The copy is in the order of its stream, and readers order themselves behind that."}
	case copied && s.ok() && (x.Addr != want || x.Size != bytes):
		return ofContents, verdict.Finding{Rule: "misplaced",
			Message: fmt.Sprintf("%s should have copied %d bytes to Ptr + %d, but it copied %d bytes to Ptr + %d.", r.doing(s),
				bytes, want-r.made.Addr, x.Size, int64(x.Addr-r.made.Addr)),
			Why: "The caller counts an element's address from Ptr: element i lies i*elem bytes behind it, and stays there.",
			Fix: "Copy n*elem bytes to Ptr + Len*elem, with Len as it was before, counted in int64."}
	case copied:
		return "", f
	case slices.Contains(mapping.Moving, x.Op):
		return ofContents, verdict.Finding{Rule: "copied",
			Message: fmt.Sprintf("%s should have copied the new elements, once, and nothing else, but it called %s.", r.doing(s),
				name),
			Why: "To grow by copying takes longer the more there is, needs the memory twice for a while, and leaves all " +
				"addresses from before pointing to where the elements were.",
			Fix: "Map memory behind what is mapped already, and call cuda.MemcpyDtoDAsync in s for the new elements alone, if " +
				"there is a src."}
	case x.Op == trace.OpMemAddressReserve:
		return ofContents, verdict.Finding{Rule: "moved",
			Message: fmt.Sprintf("%s should have grown in the range that New reserved, but it reserved another.", r.doing(s)),
			Why: "Kernels hold on to the address that they were launched with: a vector that moves leaves them all " +
				"pointing to where it was.",
			Fix: "Reserve all addresses once, in New; they cost no memory."}
	case x.Op == trace.OpMemUnmap && x.Code == 0 && x.Addr < r.made.Addr+uint64(s.found) &&
		x.Addr+uint64(x.Size) > r.made.Addr:
		return ofContents, unmapped(r.doing(s) + " should have left alone what was mapped already, but it unmapped memory " +
			"that was in use.")
	case x.Op == trace.OpMemCreate && x.Code != 0 && x.Size%r.granularity != 0:
		return ofContents, verdict.Finding{Rule: "not-rounded",
			Message: fmt.Sprintf("%s should have asked for a multiple of the granularity, which is %d, but it asked for %d "+
				"bytes, and got none.",
				r.doing(s), r.granularity, x.Size),
			Why: "A device maps memory in granules alone, so memory comes in whole ones as well.",
			Fix: "Round the size up to the granularity: (size + granularity - 1) / granularity * granularity."}
	case slices.Contains(mapping.Growing, x.Op) && grows || eventCall(x.Op):
		return "", f
	}
	f = verdict.Finding{Rule: "cuda-call",
		Message: fmt.Sprintf("%s should have enqueued a copy if there is a source, and mapped memory only if it must, but "+
			"it called %s.", r.doing(s), name),
		Why: "As long as there is memory, an Append costs one copy; a call into the driver costs the host many times what " +
			"the rest does.",
		Fix: "Leave this call out, or make it only where the new elements end behind what is mapped."}
	return ofHost, f
}

// sourced reports whether the elements of an Append come from somewhere.
func (s *step) sourced() bool { return s.op.from != none }

// eventCall reports whether a call only notes a place in a stream.
func eventCall(op trace.Op) bool {
	switch op {
	case trace.OpEventCreate, trace.OpEventRecord, trace.OpEventDestroy, trace.OpStreamWaitEvent:
		return true
	}
	return false
}

func unmapped(message string) verdict.Finding {
	return verdict.Finding{Rule: "unmapped", Message: message,
		Why: "From MemUnmap on there is nothing behind these addresses: the elements are gone, and a kernel that touches " +
			"them ends all work on the device.",
		Fix: "Unmap only pieces that lie wholly behind the last element that stays: round what stays up, not down."}
}

// callsOfShrink finds a Shrink that copies, or takes away what is to stay.
func (r *replay) callsOfShrink() []verdict.Finding {
	for i := range r.steps[:r.right] {
		s := &r.steps[i]
		if s.kind != shrinks {
			continue
		}
		stays := s.before.length // where nothing may change
		if s.before.want(s.op) == sequence.Nil {
			stays = s.n
		}
		for at, x := range r.calls(s) {
			switch {
			case slices.Contains(mapping.Moving, x.Op):
				return r.finding(s, at, verdict.Finding{Rule: "copied",
					Message: fmt.Sprintf("%s should have left alone the elements that stay, but it called %s.", r.doing(s),
						suite.CallName(x)),
					Why: "What stays is where kernels expect it, and has no need of other memory.",
					Fix: "Unmap whole pieces behind the elements that stay; those that they reach into remain."})
			case x.Op == trace.OpMemUnmap && x.Code == 0 && stays > 0 && x.Addr < r.made.Addr+uint64(stays*r.elem) &&
				x.Addr+uint64(x.Size) > r.made.Addr:
				return r.finding(s, at,
					unmapped(r.doing(s)+" should have kept the memory of the elements that stay, but it unmapped some of it."))
			case x.Op == trace.OpMemUnmap && x.Code == 0 && x.Addr+uint64(x.Size) > r.rangeEnd(x.Addr, at):
				f := unmapped(fmt.Sprintf("%s should have unmapped pieces of its own alone, but these %d bytes end behind the "+
					"range that it reserved.",
					r.doing(s), x.Size))
				f.Why = "MemUnmap takes away every whole mapping that lies between the addresses it is given: behind the range " +
					"that is somebody else's."
				f.Fix = "Pass the size of the pieces that go: what was mapped, less what stays mapped."
				return r.finding(s, at, f)
			}
		}
	}
	return nil
}

// rangeEnd is the end of the range that an address lies in, among those that were reserved before a record.
func (r *replay) rangeEnd(address uint64, record int) uint64 {
	for _, x := range r.notes.Trace.Records[min(r.made.begin, record):record] {
		if end := x.Addr + uint64(x.Size); x.Op == trace.OpMemAddressReserve && x.Code == 0 && x.Addr <= address &&
			address < end {
			return end
		}
	}
	return math.MaxUint64
}

// events finds a vector that makes more events than it has seen streams.
func (r *replay) events() []verdict.Finding {
	seen, made := map[int]bool{}, 0
	for i := range r.steps[:r.right] {
		s := &r.steps[i]
		if s.kind == appending {
			seen[s.stream] = true
		}
		for _, u := range s.users {
			seen[u] = true
		}
		for at, x := range r.calls(s) {
			switch {
			case x.Op == trace.OpEventCreate && x.Code == 0:
				made++
			case x.Op == trace.OpEventDestroy && x.Code == 0:
				made--
			}
			if made <= len(seen) {
				continue
			}
			return r.finding(s, at, verdict.Finding{Rule: "event-count",
				Message: fmt.Sprintf("%s should have at most %d events, one for each stream that it has seen, but this one is "+
					"one more.", r.doing(s), len(seen)),
				Why: "An event may be recorded again: who waits already goes on waiting for what it stood for at the call.",
				Fix: "Make one event for a stream and record it again, or do without: cuda.StreamSynchronize needs none."})
		}
	}
	return nil
}
