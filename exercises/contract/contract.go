// Package contract holds what an exercise, its solution and its grader share: the types in their signatures, the
// errors they compare with errors.Is, and the marker for a gap that is still to be filled.
package contract

import "errors"

// ErrArgument is what an exercise answers to arguments that its contract rules out. Wrapping it with more words is
// welcome.
var ErrArgument = errors.New("invalid argument")

// Gap is the error that a skeleton returns where code is still missing.
type Gap struct {
	ID string // the gap's number as in the skeleton's comments, "1a"
}

func (g *Gap) Error() string {
	if g == nil {
		return "a nil *contract.Gap, which is no gap"
	}
	return "TODO(" + g.ID + ") is still to be written"
}

// TODO marks a gap: a skeleton returns TODO("1a") where the code for TODO(1a) belongs, and panics with it where no error is
// returned.
func TODO(id string) error { return &Gap{ID: id} }
