package growable

import (
	"errors"

	"cudalab/grader/suite/mapping"
	"cudalab/grader/suite/sequence"
	"cudalab/native/cuda"
	"cudalab/native/device"
)

// state is what is to be known of a vector.
type state struct {
	layout
	length int64
	closed bool
}

// want is what an operation has to be answered with: sequence.ErrOther is CUDA's error.
func (s *state) want(o op) sequence.Err {
	switch {
	case o.kind == beside:
		return sequence.Nil
	case s.closed:
		return sequence.ErrClosed
	case o.kind == appending && o.n < 1:
		return sequence.ErrSize
	case o.kind == appending && o.n > s.max-s.length:
		return sequence.ErrFull
	case o.kind == appending && s.memory > 0 && mapping.RoundUp((s.length+o.n)*s.elem, s.granularity) > s.memory:
		return sequence.ErrOther
	case o.kind == shrinks && (o.n < 0 || o.n > s.length):
		return sequence.ErrArgument
	case o.fail != nil:
		return sequence.ErrOther
	}
	return sequence.Nil
}

// accepts reports whether an answer is the one wanted.
func (l layout) accepts(want sequence.Err, a sequence.Answer) bool {
	code := codeOf(a)
	return a.Err == want && (want != sequence.ErrOther || code != 0 && (l.memory == 0 || code == device.ErrorOutOfMemory))
}

// succeed takes in that an operation was carried out.
func (s *state) succeed(o op) {
	switch o.kind {
	case appending:
		s.length += o.elements()
	case shrinks:
		s.length = o.n
	case closes:
		s.closed = true
	}
}

// answerOf is an answer with CUDA's error in it, and with one more number that was seen of the operation. Like
// sequence.Classify it is for within a Call.
func answerOf(err error, more int64) sequence.Answer {
	code := device.Code(0)
	switch {
	case err == nil:
	case errors.Is(err, cuda.ErrorMemoryAllocation):
		code = device.ErrorOutOfMemory
	default:
		errors.As(err, &code)
	}
	a := sequence.Answer{Err: sequence.Classify(err)}
	return a.With(sequence.Details{Seen: []int64{int64(code), more}})
}

// codeOf and moreOf are the numbers that were seen, as far as they were noted: a runner is the student's process.
func codeOf(a sequence.Answer) device.Code { return device.Code(numbers(a.Seen())[0]) }
func moreOf(a sequence.Answer) int64       { return numbers(a.Seen())[1] }

// numbers are the first two of some, or zeros.
func numbers(all []int64) (two [2]int64) {
	copy(two[:], all)
	return two
}

// says is an answer in words.
func says(a sequence.Answer) string {
	if a.Err == sequence.ErrOther {
		return a.Details().Text
	}
	return a.Err.String()
}
