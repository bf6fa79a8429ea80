package compile

import (
	"crypto/sha256"
	"debug/elf"
	"fmt"
	"os"

	"cudalab/grader/machine/child"
)

// failure is one of a build's that names no place in a student's code.
type failure struct {
	limit *CompileError // what the student is told, where it is known to be theirs
	text  string        // else what go build said
}

func (f *failure) Error() string {
	return "go build failed for a reason that is not in the exercise:\n" + f.text
}

// blame puts a failure down to the only submission that was there.
func (f *failure) blame(s *submission) {
	if f.limit != nil {
		s.errors = []CompileError{*f.limit}
	} else {
		s.err = f
	}
}

// stopped says which limit a build ran into.
func stopped(reason child.Reason, l child.Limits) *CompileError {
	limit := "ran into the limit on its " + string(reason)
	switch reason {
	case child.CPUTime:
		limit = fmt.Sprintf("was not done after %v of CPU time", l.CPU)
	case child.Memory:
		limit = fmt.Sprintf("needed more than %d MiB of memory", l.Memory>>20)
	}
	return beyond(limit)
}

// maxProgram is how many bytes a runner may take before anything in it runs. It takes some ten MiB, and has a hundred
// times as much for all that it does.
const maxProgram = 256 << 20

// tooLargeProgram is the failure of a program that takes too much memory by its mere size: huge variables, in short.
// That is looked at where grading happens, on Linux.
func tooLargeProgram(path string) *failure {
	program, err := elf.Open(path)
	if err != nil {
		return nil
	}
	defer program.Close()
	size := uint64(0)
	for _, p := range program.Progs {
		if p.Type == elf.PT_LOAD {
			size += p.Memsz
		}
	}
	if size <= maxProgram {
		return nil
	}
	_ = os.Remove(path)
	limit := beyond(fmt.Sprintf("made a program that takes %d MiB of memory before it does anything, of at most %d MiB",
		size>>20, maxProgram>>20))
	limit.Plain = "Package variables are part of the program, whole. Look for a huge array; what a call needs it can make."
	return &failure{limit: limit}
}

// beyond is what is said of code that a build ran into a limit with.
func beyond(limit string) *CompileError {
	return &CompileError{
		Message: "go build " + limit,
		Plain: "The compiler works out constants, arrays and type parameters while it compiles. Look for a huge array or " +
			"constant, or for a generic type that contains itself.",
	}
}

// broken is what is said of code that Go's own tools break down over: text is their first words.
func broken(text string) *CompileError {
	return &CompileError{
		Message: fmt.Sprintf("Go's compiler and linker should have made a program of this, but gave up: %s", text),
		Plain: "They give up on what is far larger, or nested far deeper, than what people write. Look for a huge array, " +
			"or an expression without end.",
	}
}

// digest is one of a submission's files as the compiler sees them, but for the package's name: whoever runs into a
// limit with the same text does so in every exercise.
func (s *submission) digest() [sha256.Size]byte {
	h := sha256.New()
	for _, f := range s.files {
		name := s.set.PositionFor(f.syntax.Name.Pos(), false).Offset
		fmt.Fprintf(h, "%q %q\n", f.text[:name], f.text[name+len(f.syntax.Name.Name):])
	}
	return [sha256.Size]byte(h.Sum(nil))
}
