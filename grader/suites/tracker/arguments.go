package tracker

import (
	"errors"
	"fmt"
	"math"

	"cudalab/grader/suite"
	"cudalab/grader/suite/verdict"
	"cudalab/native/cuda"
)

// wrapped is what Wrap is called with.
type wrapped struct {
	none         bool // there is no allocator
	memory       cuda.DevicePtr
	bytes, limit int64
	edge         string // of good arguments, what is unusual about them
}

func (w wrapped) String() string {
	inner := "inner"
	if w.none {
		inner = "nil"
	}
	return fmt.Sprintf("tracker.Wrap(%s, %#x, %d, %d)", inner, uint64(w.memory), w.bytes, w.limit)
}

// somewhere is an address like another.
const somewhere cuda.DevicePtr = 1 << 40

// What is noted of a call of Wrap that went wrong, by the number of its Call.
const (
	noteTouched = "inner called by Wrap"
	noteBoth    = "tracker with an error"
	noteRefused = "good arguments refused" // by their number
)

var badArguments = []wrapped{
	{true, somewhere, 4096, 4096, ""},
	{false, 0, 4096, 4096, ""},
	{false, somewhere, 0, 4096, ""},
	{false, somewhere, -1, 4096, ""},
	{false, somewhere, math.MinInt64, 4096, ""},
	{false, somewhere, 4096, 0, ""},
	{false, somewhere, 4096, -4096, ""},
	{false, somewhere, 4096, math.MinInt64, ""},
	{false, somewhere, math.MaxInt64, 4096, ""},
	{false, 1 << 62, 1<<62 + 1, 4096, ""},
	{false, 1 << 63, 1, 1, ""},
	{false, 1<<63 - 4095, 4096, 4096, ""},
	{false, math.MaxUint64, 1, 1, ""},
	{false, math.MaxUint64 - 4095, 4096, 4096, ""}, // the sum runs over to 0
	{false, math.MaxUint64 - 255, 4096, 4096, ""},  // and beyond
}

var goodArguments = []wrapped{
	{false, somewhere, 4096, 4096, ""},
	{false, 1, 1, 1, "memory of one byte"},
	{false, somewhere, 4096, math.MaxInt64, "a limit above bytes"},
	{false, somewhere, 1 << 40, 1, "a limit of one byte"},
	{false, 1, math.MaxInt64, math.MaxInt64, "memory that ends at 1<<63"},
	{false, 1<<63 - 4096, 4096, 4096, "memory that ends at 1<<63"},
}

// wrapIt calls Wrap, and notes what it should not have done.
func wrapIt(b *suite.Bench, wrap Make, w wrapped) verdict.Outcome {
	return b.Call(w.String(), func() error { return w.try(b, wrap) })
}

func (w wrapped) try(b *suite.Bench, wrap Make) error {
	call := uint64(b.Calls() - 1)
	touched := false
	touch := func(eventKind, cuda.DevicePtr, int64, error) { touched = true }
	in := lend(newInner(layout{bytes: w.bytes}, w.memory, touch))
	if w.none {
		in = nil
	}
	t, err := wrap(in, w.memory, w.bytes, w.limit)
	if touched {
		b.Value(noteTouched, call)
	}
	if t != nil && err != nil {
		b.Value(noteBoth, call)
	}
	if t == nil && err == nil {
		return errors.New("neither a tracker nor an error")
	}
	return err
}

var refusals = suite.NewRefusals("arguments", "1a", badArguments, wrapIt, suite.Refusal{
	Function: "Wrap",
	Why: "A tracker over memory that cannot be would tell of gaps that are not there, and one without an allocator " +
		"panics at its first Alloc.",
	Fix: "Return contract.ErrArgument if inner is nil, bytes or limit is below 1, memory is 0, or memory + bytes is " +
		"above 1<<63: compare uint64(memory) with 1<<63 - uint64(bytes), since the sum may run over.",
	FixLate: "Call nothing in Wrap.",
}).Behind(suite.GoodCall[Make]{Make: func(b *suite.Bench, wrap Make) verdict.Outcome {
	return b.Call(withGood, func() error {
		for i, w := range goodArguments {
			if err := w.try(b, wrap); err != nil {
				b.Value(noteRefused, uint64(i))
				return err
			}
		}
		return nil
	})
}})

// arguments is the part that asks for bad arguments to be refused.
var arguments = suite.Arguments("refuses bad arguments, and calls nothing",
	refusals).And(func(e *suite.Evidence) (found []verdict.Finding) {
	notes := e.Cases[refusals.ID]
	for _, call := range notes.Values[noteTouched] {
		found = append(found, verdict.Finding{
			Rule: "asked-inner", Severity: verdict.Error, Record: -1, Function: "Wrap",
			Message: called(notes, call) + " should not have called inner, which is for Alloc and Free, but it did.",
			Why:     "Wrap only makes a tracker: a block that it took would be in nobody's account.",
			Fix:     "Keep inner for later, and call it in Alloc and Free alone.",
		})
	}
	for _, call := range notes.Values[noteBoth] {
		found = append(found, verdict.Finding{
			Rule: "tracker-with-error", Severity: verdict.Error, Record: -1, Function: "Wrap",
			Message: called(notes, call) + " should have answered a nil tracker with its error, but it answered one that is " +
				"not nil.",
			Why: "Who gets a tracker may use it.",
			Fix: "Return nil beside every error of Wrap: return nil, err.",
		})
	}
	for _, i := range notes.Values[noteRefused] {
		if i >= uint64(len(goodArguments)) {
			continue
		}
		allowed, fix := "", ""
		if edge := goodArguments[i].edge; edge != "" {
			allowed, fix = ", since "+edge+" is allowed", ": not "+edge
		}
		found = append(found, verdict.Finding{
			Rule: "good-argument-refused", Severity: verdict.Error, Record: -1, Function: "Wrap", Refused: true,
			Message: fmt.Sprintf("%v should have answered a tracker and nil%s, but it did not.", goodArguments[i], allowed),
			Why:     "Memory of one byte, memory that ends at 1<<63 and a limit above the memory are unusual, and do no harm.",
			Fix:     "Refuse what the comment above Wrap names, and nothing else" + fix + ".",
		})
	}
	return verdict.Unique(found)
}).Deeper(func(e *suite.Evidence) []verdict.Finding {
	return lab.Between.InNew(e, e.Cases[refusals.ID], len(badArguments))
})

// withGood is the call of Wrap with one good argument after the other, in words.
const withGood = "Wrap with good arguments"

// called is the call of Wrap with a number, in words.
func called(notes *verdict.CaseNotes, call uint64) string {
	if call < uint64(len(notes.Outcomes)) {
		return notes.Outcomes[call].Label
	}
	return "Wrap"
}
