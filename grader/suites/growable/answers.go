package growable

import (
	"errors"

	"cudalab/exercises/contract"
	"cudalab/grader/suite"
	"cudalab/grader/suite/mapping"
	"cudalab/native/cuda"
	"cudalab/native/device"
)

// What a vector has answered, as bits: the errors that errors.Is finds in what came back.
const (
	isArgument = 1 << iota
	isSize
	isFull
	isClosed
	isCUDA   // an error of CUDA's
	isOther  // any error
	isGap    // one that ends the script
	isMemory // CUDA's out of memory
	isBoth   // of New: a vector beside the error
	isStruck // a CUDA call that was to fail has failed meanwhile
)

// errNothing is a New's that answers neither a vector nor an error.
var errNothing = errors.New("neither a vector nor an error")

// bitsOf finds out what an error is.
func bitsOf(err error) (bits uint64) {
	if err == nil {
		return 0
	}
	err = suite.Sound(err)
	bits = isOther
	if gap := (*contract.Gap)(nil); errors.As(err, &gap) {
		bits |= isGap
	}
	if code := device.Code(0); errors.As(err, &code) {
		bits |= isCUDA
	}
	for bit, known := range map[uint64]error{isArgument: contract.ErrArgument, isSize: contract.ErrSize, isFull: contract.ErrFull,
		isClosed: contract.ErrClosed, isMemory: cuda.ErrorMemoryAllocation} {
		if errors.Is(err, known) {
			bits |= bit
		}
	}
	return bits
}

// state is what is to be known of a vector.
type state struct {
	layout
	length int64
	closed bool
}

// want is what an operation has to be answered with: 0 for no error.
func (s *state) want(o op) (bits uint64) {
	switch {
	case s.closed:
		return isClosed
	case o.kind == appending && o.n < 1:
		return isSize
	case o.kind == appending && o.n > s.max-s.length:
		return isFull
	case o.kind == appending && s.memory > 0 && mapping.RoundUp((s.length+o.n)*s.elem, s.granularity) > s.memory:
		return isMemory
	case o.kind == shrinks && (o.n < 0 || o.n > s.length):
		return isArgument
	case o.fail != nil:
		return isCUDA
	}
	return 0
}

// accepts reports whether an answer is the one wanted. CUDA's error must be none of the contract's as well.
func accepts(want, bits uint64) bool {
	const contracts = isArgument | isSize | isFull | isClosed
	switch want {
	case 0:
		return bits&isOther == 0
	case isMemory, isCUDA:
		return bits&want != 0 && bits&contracts == 0
	}
	return bits&contracts == want
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

// says is an answer in words.
func says(bits uint64, text string) string {
	for _, e := range errorNames {
		if bits&e.bit != 0 {
			return e.name
		}
	}
	if bits == 0 {
		return "nil"
	}
	return text
}

// errorNames are the answers that have a name.
var errorNames = []struct {
	bit  uint64
	name string
}{{isArgument, "contract.ErrArgument"}, {isSize, "contract.ErrSize"}, {isFull, "contract.ErrFull"}, {isClosed, "contract.ErrClosed"}}
