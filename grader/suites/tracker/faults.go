package tracker

import (
	"fmt"

	"cudalab/grader/suite/sequence"
)

// what says what came in the place of what should have.
func (m *model) what(done func() reply) string {
	switch e := m.log.next(); e.kind {
	case eventAsk:
		return "it asked inner for " + bytes(e.a)
	case eventGive:
		return "it gave a block back to inner"
	case eventFull:
		return "it called OnFull's function"
	}
	return "it returned " + done().says
}

// inRoom is a fault of a call that OnFull's function has made.
func inRoom(call string, f *sequence.Fault) *sequence.Fault {
	if f != nil {
		f.Message = fmt.Sprintf("called OnFull's function, in which %s %s", call, f.Message)
	}
	return f
}

const askedWhy = "Inner's blocks are handed out by its own rules: a call too many takes a block that nobody " +
	"will ever give back, or gives back one that somebody else has by now."

// unasked is the fault of a call that should not have come any more; when says why.
func (m *model) unasked(part, when string, e event) *sequence.Fault {
	f := &sequence.Fault{Part: part, Rule: "asked-inner", Why: askedWhy,
		Fix: "Ask inner once in each try, and try a second time only where OnFull's function has said true."}
	switch e.kind {
	case eventAsk:
		f.Message = fmt.Sprintf("%s, but it asked inner for %s", when, bytes(e.a))
		if e.a == m.asked {
			f.Message += " once more"
		}
	case eventGive:
		f.Message = when + ", but it gave a block back to inner"
	case eventFull:
		f.Rule = "called-again"
		f.Message = when + ", but it called OnFull's function"
		f.Why = "The function frees what its user can spare. One that is called again and again, or within itself, has " +
			"nothing left to spare, and does not end."
		f.Fix = "Call it only where limit or inner has no room, once for each Alloc, and not while it is running."
		if m.does == noFunction && m.within {
			f.Why = "OnFull may be called at any time, by the function too, and the last call of it counts."
			f.Fix = "Leave the function as OnFull has set it last: do not take it away while it runs and put it back behind " +
				"that. That it is running is for a variable of its own to say."
		}
	default:
		f.Message = when + ", but it did not"
	}
	if part == ofErrors {
		f.Fix = "Look at the size, or for the block, before you call anything."
	}
	return f
}

// askedBeyondLimit is the fault of an Alloc that asked inner though limit has only so much room.
func askedBeyondLimit(size, room int64) *sequence.Fault {
	return &sequence.Fault{Part: ofFull, Rule: "asked-inner",
		Message: fmt.Sprintf("should not have asked inner, since limit leaves room for %s more, but it asked inner for %d",
			bytes(room), size),
		Why: "A limit is a promise to others who use the same memory; it is held before a block is taken, not after.",
		Fix: "Look at limit first in every try, also in the second: is size > limit - Live? The sum Live + size may " +
			"be more than an int64 can count, the difference cannot."}
}

// notAsked is the fault of a try that did not ask inner.
func (m *model) notAsked(size int64, again bool, done func() reply) *sequence.Fault {
	e := m.log.next()
	f := &sequence.Fault{Part: ofFull, Rule: "inner-not-asked",
		Message: fmt.Sprintf("should have asked inner for %s, since limit leaves room for %d more, but %s", bytes(size),
			m.layout.limit-m.total.Live, m.what(done)),
		Why: "Whether there is room only inner knows, and the tracker is there to pass on what it says.",
		Fix: "Compare size with limit less what is live; where it is not larger, ask inner."}
	if e.kind != eventAsk && e.kind != eventGive && e.kind != eventFull {
		f.Look = sequence.Answer{Err: done().err}.Look(sequence.Nil)
	}
	switch {
	case again:
		f.Rule = "not-retried"
		f.Message = fmt.Sprintf("should have asked inner for %s once more, since OnFull's function said true, but %s",
			bytes(size), m.what(done))
		f.Why = "Who made room did it for this Alloc, and what is live has changed since the first try."
		f.Fix = "After true try everything again from the start: limit, by what is live now, then inner."
	case e.kind == eventFull:
		f.Rule = "called-early"
		f.Why = "The function gives up something that its user would rather keep, such as a cache: it is for where " +
			"there is no room."
		f.Fix = "Ask inner first, and call the function if the answer is contract.ErrFull: errors.Is(err, contract.ErrFull)."
	}
	return f
}

// askedOtherwise is the fault of an Alloc that asked inner for other bytes than it should have.
func askedOtherwise(size, asked int64) *sequence.Fault {
	return &sequence.Fault{Part: ofErrors, Rule: "asked-inner",
		Message: fmt.Sprintf("should have asked inner for %s, but it asked for %d", bytes(size), asked),
		Why:     "How sizes are rounded is inner's affair, and the account is of what was asked for.",
		Fix:     "Pass the size on to inner.Alloc as it is."}
}

// notCalled is the fault of an Alloc without room that did not call OnFull's function.
func (m *model) notCalled(first tried, done func() reply) *sequence.Fault {
	f := &sequence.Fault{Part: ofFull, Rule: "not-called",
		Message: "should have called OnFull's function, since there was no room, but " + m.what(done),
		Why:     "The function is its user's one chance to make room: what it could free is often just what is lacking.",
		Fix: "Call it when limit has no room, and when inner's error is contract.ErrFull or wraps it: errors.Is(err, " +
			"contract.ErrFull), since == misses what is wrapped."}
	if m.called[first.byInner] {
		f.Message += ", though an Alloc before that found no room did call it"
		f.Why = "Each Alloc without room has a chance of its own, whatever became of the one before."
		f.Fix = "What your code notes while the function runs, such as that it is running, it has to forget as soon " +
			"as that has returned, whether it said true or false."
	}
	if m.log.next().kind == eventAsk {
		f.Rule = "asked-inner"
		f.Why = askedWhy
		f.Fix = "Try a second time only behind OnFull's function, and only if it has said true."
	}
	return f
}

// calledOtherwise is the fault of a call of OnFull's function with another size.
func calledOtherwise(size, with int64) *sequence.Fault {
	return &sequence.Fault{Part: ofFull, Rule: "wrong-size",
		Message: fmt.Sprintf("should have called OnFull's function with %d, but it called it with %d", size, with),
		Why:     "By the size the function decides how much to give up.",
		Fix:     "Call it with the size that Alloc was called with."}
}

// calledEarlier is the fault of a call of a function that another one had taken the place of.
func (m *model) calledEarlier(does full) *sequence.Fault {
	return &sequence.Fault{Part: ofFull, Rule: "earlier-function",
		Message: fmt.Sprintf("should have called the function that OnFull was given last, to %v, but it called an earlier "+
			"one, to %v", m.does, does),
		Why: "Who calls OnFull again has other things to spare now: an earlier function gives up what is in use by then.",
		Fix: "Have every OnFull put its function in the place of the one before."}
}

// passedOn is the fault of a Free that inner should never have seen.
func passedOn() *sequence.Fault {
	return &sequence.Fault{Part: ofErrors, Rule: "asked-inner",
		Message: "should have returned contract.ErrInvalidFree, since no live block begins there, but it passed the " +
			"address on to inner",
		Why: "Not every allocator looks: one that takes a block back twice hands it out to two users. The tracker knows " +
			"what is live, so it is the one that can tell.",
		Fix: "Look the address up among the live blocks first, and return contract.ErrInvalidFree where it is not one of " +
			"theirs."}
}

// notGiven is the fault of a Free that did not give the block back.
func (m *model) notGiven(done func() reply) *sequence.Fault {
	return &sequence.Fault{Part: ofErrors, Rule: "inner-not-asked",
		Message: "should have given the block back to inner, but " + m.what(done),
		Why:     "A block that inner does not get back is lost, whatever the account says.",
		Fix:     "Call inner.Free with the address, and take the block off the books if that succeeds."}
}

func givenOtherwise() *sequence.Fault {
	return &sequence.Fault{Part: ofErrors, Rule: "asked-inner",
		Message: "should have given this block back to inner, but it gave back another",
		Why:     askedWhy, Fix: "Call inner.Free with the address that Free was called with."}
}

func freeRefused(r reply) *sequence.Fault {
	return &sequence.Fault{Part: ofErrors, Rule: "free-refused",
		Message: "should have returned nil, since inner has taken the block back, but it returned " + r.says,
		Look:    sequence.Answer{Err: r.err}.Look(sequence.Nil),
		Why:     "Who is told of an error believes that the block is still there.",
		Fix:     "Return nil where the block was live and inner.Free has returned nil."}
}

func blockRefused(size int64, r reply) *sequence.Fault {
	return &sequence.Fault{Part: ofErrors, Rule: "block-refused",
		Message: fmt.Sprintf("should have handed out inner's block of %s, but it returned %s", bytes(size), r.says),
		Look:    sequence.Answer{Err: r.err}.Look(sequence.Nil),
		Why:     "A block that inner has handed out and that nobody gets is lost.",
		Fix:     "Book the block that inner has handed out, and return its address with nil."}
}

func otherBlock() *sequence.Fault {
	return &sequence.Fault{Part: ofErrors, Rule: "wrong-block",
		Message: "should have returned the address that inner handed out, but it returned another",
		Why:     "The block's user would write where somebody else's data is.",
		Fix:     "Return what inner.Alloc has returned, as it is: what the tracker has to remember belongs on the host."}
}

// refused judges what a call returned that had to be refused.
func refused(part string, want sequence.Err, byInner bool, r reply) *sequence.Fault {
	if r.err == want && (!byInner || r.same) {
		return nil
	}
	f := sequence.WrongError(want, sequence.Answer{Err: r.err})
	f.Part = part
	f.Message = fmt.Sprintf("should have returned %v, but it returned %s", want, r.says)
	switch {
	case byInner:
		f.Message = fmt.Sprintf("should have returned the error of inner's last answer, but it returned %s", r.says)
		f.Why = "What was wrong below only inner can say, and the caller finds it with errors.Is."
		f.Fix = "Return inner's error as it is, or wrap it with %w. After a second try it is the second's."
	case want == sequence.ErrInvalidFree && r.err == sequence.Nil:
		f.Rule = "invalid-free-accepted"
		f.Why = "Who frees what is not live has a mistake in the program, and finds it only if told."
		f.Fix = "Look the address up among the live blocks, by where they begin, and return contract.ErrInvalidFree if it " +
			"is none of them."
	case want == sequence.ErrFull && r.err == sequence.ErrSize:
		f.Why = "contract.ErrSize says that the size can never be had, and this one can, when others have freed their blocks."
		f.Fix = "Return contract.ErrFull where limit has no room just now. contract.ErrSize is for a size below 1, above " +
			"limit or above 1<<62."
	}
	return &f
}
