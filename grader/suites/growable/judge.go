package growable

import (
	"cmp"
	"fmt"

	"cudalab/grader/suite"
	"cudalab/grader/suite/mapping"
	"cudalab/grader/suite/sequence"
	"cudalab/grader/suite/verdict"
	"cudalab/native/device"
	"cudalab/native/trace"
)

// The parts that answers are judged for.
const (
	ofContents  = "contents"  // that elements are where they were put
	ofErrors    = "errors"    // which error a call answers, and that it changes nothing
	ofCommitted = "committed" // how much memory there is
	ofShrink    = "shrink"    // what Shrink waits for and gives back
	ofRollback  = "rollback"  // what happens when CUDA refuses something
	ofHost      = "host"      // what Append calls
)

// Words that go with several findings.
const (
	whyUnchanged = "Who is told of an error goes on as if the call had not been made, and may make it again."
	fixUnchanged = "Change what the vector knows of itself only when all CUDA calls have succeeded, and go back to what " +
		"was mapped before where one has not."
)

// judge is what is wrong with an answer, after which the vector is to be in a state; nil: nothing.
func (r *replay) judge(s *step, now state) *told {
	want := s.before.want(s.op)
	refused := r.memory > 0 || s.fail != nil // by CUDA
	of := func(part string, f verdict.Finding) *told {
		f.Message = r.doing(s) + " " + f.Message
		return &told{part, r.finding(s, -1, f)[0]}
	}
	if !r.accepts(want, s.Answer) {
		return r.wrongAnswer(s, want, of)
	}
	failed := !s.ok()
	part := ofErrors
	switch {
	case now.closed:
		return nil // what a closed vector says of itself is not judged
	case refused && failed:
		part = ofRollback
	case !failed && s.kind == shrinks:
		part = ofShrink
	case !failed:
		part = ofContents
	}
	switch {
	case s.Addr != r.made.Addr || s.Addr == 0:
		return of(ofContents, verdict.Finding{Rule: "moved",
			Message: "should have stayed where it was, but Ptr answers another address now than behind New.",
			Why: "Kernels hold on to the address that they were launched with: a vector that moves leaves them all " +
				"pointing to where it was.",
			Fix: "Reserve all addresses once, in New, and let Ptr be where they begin."})
	case s.len != now.length && failed:
		return of(part, verdict.Finding{Rule: "changed-by-error",
			Message: fmt.Sprintf("should have kept its %d elements, since it returned an error, but Len is %d now.", now.length,
				s.len),
			Why: whyUnchanged, Fix: "Count the elements last, when the copy has succeeded."})
	case s.len != now.length:
		return of(part, verdict.Finding{Rule: "wrong-stats",
			Message: fmt.Sprintf("should have %d elements then, but Len is %d.", now.length, s.len),
			Why:     "By Len a caller knows where the next element will be.",
			Fix:     "Let Len count elements, not bytes: those that were appended, less those that Shrink took away."})
	case failed && len(s.fail) < 2 && s.cap != r.capBefore(s):
		return of(part, verdict.Finding{Rule: "changed-by-error",
			Message: fmt.Sprintf("should have kept room for %d elements, since it returned an error, but Cap is %d now.",
				r.capBefore(s), s.cap),
			Why: whyUnchanged, Fix: fixUnchanged})
	}
	return nil
}

// capBefore is what Cap was when a step began.
func (r *replay) capBefore(s *step) int64 {
	for i := len(r.steps) - 1; i > 0; i-- {
		if &r.steps[i] == s {
			return r.steps[i-1].cap
		}
	}
	return r.made.cap
}

// wrongAnswer tells of an error that should be another, or none, or of none where there should be one.
func (r *replay) wrongAnswer(s *step, want sequence.Err, of func(string, verdict.Finding) *told) *told {
	got := says(s.Answer)
	part := ofErrors
	if want == sequence.Nil && s.kind == shrinks {
		part = ofShrink
	} else if want == sequence.Nil && (s.kind == appending || s.kind == beside) {
		part = ofContents
	}
	if (r.memory > 0 || s.fail != nil) && s.Err != sequence.ErrArgument {
		part = ofRollback
	}
	switch {
	case want == sequence.Nil:
		f := verdict.Finding{Rule: "unexpected-error", Message: fmt.Sprintf("should have done so, but %s returned: %s.",
			s.method(), got),
			Why: "There was room, and all that was asked of CUDA could be had.",
			Fix: cmp.Or(suite.Remedy(got), "Look at the call that the error names, where it names one, and at what the comment "+
				"in the skeleton has the method refuse.")}
		if r.memory > 0 && codeOf(s.Answer) == device.ErrorOutOfMemory {
			f.Rule, f.Why = "no-fallback", "Twice as much is a wish. What the elements take, rounded up to the granularity, is "+
				"a need, and so much there was."
			f.Fix = "Where the generous growth is refused, go back to what was mapped before, and try the least that will do."
		}
		f.Refused = s.Err == sequence.ErrArgument
		t := of(part, f)
		t.finding = r.e.AtError(t.finding, r.notes, s.begin, s.end)
		return t
	case want == sequence.ErrOther:
		t := of(part, verdict.Finding{Rule: "wrong-error",
			Message: "should have returned the error that CUDA answered, but " +
				"it returned " + got + ".",
			Why: "contract.ErrFull says that max is reached, which no other program can change. CUDA's error says what stands " +
				"in the way now.",
			Fix: "Return the error of the CUDA call, or wrap it with %w."})
		if at := r.refused(s); at >= 0 {
			t.finding.Message += fmt.Sprintf(" %s was refused.", suite.CallName(&r.notes.Trace.Records[at]))
			if s.ok() {
				t.finding = r.e.At(t.finding, r.notes.Trace.SiteOf(&r.notes.Trace.Records[at]))
			}
		}
		return t
	}
	return of(part, verdict.Finding{Rule: "wrong-error",
		Message: fmt.Sprintf("should have returned %s, but it returned %s.", want, got),
		Why:     "The caller finds out with errors.Is what went wrong, and what to do about it.",
		Fix: "Look in this order: closed, then the arguments, then the room, by max. Compare n with what is left of " +
			"max; a sum or a product may overflow."})
}

// refused is the first call of a step that CUDA has refused; -1 if there is none.
func (r *replay) refused(s *step) int {
	for at := s.begin; at < s.end; at++ {
		if x := &r.notes.Trace.Records[at]; x.Code != 0 && x.Phase != trace.Enter {
			return at
		}
	}
	return -1
}

// lookedAt finds elements that are not where they should be.
func lookedAt(_ *suite.Evidence, r *replay) []verdict.Finding {
	found := append(r.callsOfAppend(ofContents), r.callsOfShrink()...)
	if len(found) == 0 { // else it comes of that
		found = r.unusable()
	}
	if found = append(found, r.ordered(verdict.OrderRules...)...); len(found) == 0 {
		found = r.lost()
	}
	return found
}

// unusable finds elements that the device may not use.
func (r *replay) unusable() []verdict.Finding {
	for i := range r.steps[:r.right] {
		s := &r.steps[i]
		switch p := s.unusable; {
		case p != nil && p.Access >= 0:
			return r.finding(s, p.Access, verdict.Finding{Rule: "no-access",
				Message: r.doing(s) + " should have its elements in memory that may be read and written, but this call gave it " +
					"other access.",
				Why: "When a kernel writes to memory that may only be read, every later CUDA call fails.",
				Fix: "Pass cuda.MemAccessFlagsProtReadWrite, for the vector's device."})
		case p != nil:
			return r.finding(s, p.Mapped, verdict.Finding{Rule: "no-access",
				Message: r.doing(s) + " should have its elements in memory that the device may use, but what is mapped here was " +
					"never given access.",
				Why: "A new mapping allows no access, also where another one had it before; when a kernel touches it, every " +
					"later CUDA call fails.",
				Fix: "Call cuda.MemSetAccess after every cuda.MemMap, for all the addresses that were mapped."})
		case s.unmapped:
			return r.finding(s, -1, verdict.Finding{Rule: "not-mapped",
				Message: r.doing(s) + " should have memory behind all its elements, but some of them have addresses alone.",
				Why:     "A reserved address has no memory behind it: when a kernel touches it, every later CUDA call fails.",
				Fix:     "Have memory mapped from Ptr up to the last element's end, without a hole."})
		}
	}
	return nil
}

// lost finds elements that are others than were put there.
func (r *replay) lost() []verdict.Finding {
	if r.spoilt == 0 || r.right == 0 {
		return nil
	}
	// Of the operations ahead of the look that found it, the last that has changed the vector is the nearest.
	s := &r.steps[0]
	for i := range r.steps[:r.right] {
		if r.steps[i].number < r.look && r.steps[i].ok() {
			s = &r.steps[i]
		}
	}
	return r.finding(s, -1, verdict.Finding{Rule: "lost",
		Message: fmt.Sprintf("The elements of %q with %s should be what was put there, but behind operation %d (%s) %d of "+
			"their bytes were other ones.",
			r.Name, r.layout, s.number, s.op, r.spoilt),
		Why: "The caller counts an element's address from Ptr: element i lies i*elem bytes behind it, and stays there.",
		Fix: "Copy to Ptr + Len*elem, n*elem bytes from src on, and leave alone what is mapped already."})
}

// heldByNew finds memory that was made before anything is appended.
func (r *replay) heldByNew() []verdict.Finding {
	if r.made.held == 0 {
		return nil
	}
	return []verdict.Finding{{Rule: "too-much", Severity: verdict.Error, Record: -1, Function: "New",
		Message: fmt.Sprintf("%s should reserve addresses and no memory, but %d bytes of memory were there when it returned.",
			r.layout, r.made.held),
		Why: "Addresses cost nothing, memory does: what a vector holds that may never have an element, no other program on " +
			"the device can have.",
		Fix: "Map memory in Append, when it is needed."}}
}

// reservedByNew finds addresses that were reserved beyond what the vector may ever need.
func (r *replay) reservedByNew() []verdict.Finding {
	most, reserved := mapping.RoundUp(r.elem*r.max, r.granularity), int64(0)
	for at := r.made.begin; at < r.made.end; at++ {
		x := &r.notes.Trace.Records[at]
		if x.Op != trace.OpMemAddressReserve || x.Code != 0 || x.Phase == trace.Enter {
			continue
		}
		if reserved += x.Size; reserved > most {
			return []verdict.Finding{r.e.At(verdict.Finding{Rule: "too-long", Severity: verdict.Error, Record: at,
				Function: "New",
				Message: fmt.Sprintf("%s should reserve %d bytes of addresses, elem times max rounded up to the granularity, but "+
					"it reserved %d.", r.layout,
					most, reserved),
				Why: "Addresses cost no memory, but there is an end to them: a range that is longer than it has to be is refused " +
					"where the right one would fit.",
				Fix: "Reserve elem*max bytes, rounded up to the minimum granularity and no further: cuda.MemAddressReserve.",
			}, r.notes.Trace.SiteOf(x))}
		}
	}
	return nil
}

// tooMuch finds memory that is held beyond what the contract allows, behind an Append or, for ofShrink, behind a
// Shrink.
func (r *replay) tooMuch(part string) []verdict.Finding {
	for i := range r.steps[:r.right] {
		s := &r.steps[i]
		if !s.ok() || s.kind == closes || (s.kind == shrinks) != (part == ofShrink) || s.kind == appending &&
			s.mapped == s.found || s.kind == beside {
			continue // an Append that maps nothing has what was there before
		}
		after := s.before
		after.succeed(s.op)
		most := mapping.Most(after.length*r.elem, r.granularity)
		if s.held <= most {
			continue
		}
		f := verdict.Finding{Rule: "too-much",
			Message: fmt.Sprintf("%s should hold at most %d bytes of memory then, since its elements take %d and the "+
				"granularity is %d, but it holds %d.",
				r.doing(s), most, after.length*r.elem, r.granularity, s.held),
			Why: "Addresses cost nothing, memory does: what a vector holds without need, no other program on the device " +
				"can have.",
			Fix: "Map up to twice what the elements take, rounded up to the granularity, and not beyond the range."}
		if part == ofShrink {
			f.Why = "CUDA unmaps a mapping as a whole: of one that is large, nothing can go as long as its first element stays."
			f.Fix = "Map in pieces, none larger than all before it together, or than a granule; and in each Shrink unmap " +
				"those that lie wholly behind the elements, also where it takes no element away."
			return r.finding(s, -1, f)
		}
		return r.finding(s, r.last(s, createCall), f)
	}
	return nil
}

// misstated finds a Cap that is not what is mapped, behind operations that failed or behind the others.
func (r *replay) misstated(failed bool) []verdict.Finding {
	for i := range r.steps[:r.right] {
		s := &r.steps[i]
		want := min(s.mapped/r.elem, r.max)
		if s.kind == closes && s.ok() || s.before.closed || s.cap == want || s.ok() == failed {
			continue
		}
		return r.finding(s, -1, verdict.Finding{Rule: "wrong-stats",
			Message: fmt.Sprintf("%s should have Cap = %d then, since %d bytes are mapped from Ptr on and max is %d, but it "+
				"says %d.", r.doing(s), want, s.mapped,
				r.max, s.cap),
			Why: "By Cap a caller knows how much may be appended before memory has to be mapped.",
			Fix: "Let Cap be the bytes that are mapped divided by elem, and at most max."})
	}
	return nil
}

// tooOften finds a vector that takes many more steps to grow than one would that grows by a quarter each time.
func (r *replay) tooOften() []verdict.Finding {
	quarters, grown, shrunk, last := mapping.Quarters{Granularity: r.granularity}, 0, 0, -1
	for i := range r.steps[:r.right] {
		s := &r.steps[i]
		if !s.ok() || s.kind == closes {
			continue
		}
		after := s.before
		after.succeed(s.op)
		if quarters.Need(after.length * r.elem); s.kind == shrinks {
			quarters.Shrink(after.length * r.elem)
			shrunk++ // what a vector has kept is its own choice
		}
		if s.kind == appending && s.mapped > s.found {
			grown, last = grown+1, i
		}
	}
	if grown <= quarters.Most()+shrunk {
		return nil
	}
	s := &r.steps[last]
	return r.finding(s, r.last(s, createCall), verdict.Finding{Rule: "grows-too-often",
		Message: fmt.Sprintf("In %q with %s the vector should grow in few steps, %d if by a quarter each time, but it grew "+
			"%d times.", r.Name, r.layout,
			quarters.Growths, grown),
		Why: "Every growth costs the same few calls, however little it adds. Steps that stay the same size make their " +
			"number grow with the vector; steps by a factor make it grow with the logarithm.",
		Fix: "Map more than is needed, up to twice as much, so that the next growths are not needed; where the range ends " +
			"before that, up to its end."})
}
