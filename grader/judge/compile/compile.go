package compile

import (
	"context"
	"slices"
)

// CompileError is one thing the compiler has to say about the student's code.
type CompileError struct {
	File    string // under Exercise.Dir as it was given; empty where no line is at fault
	Line    int    // from 1
	Col     int    // in bytes, from 1; 0: not known
	Message string // the compiler's own words
	Plain   string // what that means and what to do, in a sentence or two; empty where the compiler's words are plain

	function string // of the contract, which the code has in another way; "" where the error is about something else
	// method is the one of what the function makes that the error is about, and of the type that should have it; lacks
	// says that there is none.
	method, of string
	lacks      bool
}

// A builder makes one runner.
type builder struct {
	Course
	api  *api
	tool string
	slot *slot
	work *workspace
	// exercises are those of all submissions.
	exercises []Exercise
	done      map[*submission]bool // compiled, without go build
}

// link makes one runner of as many of the submissions as can be, which is at binary until release. What keeps the
// others out of it goes into them. There is no binary if that is all of them.
func link(ctx context.Context, c Course, submissions []*submission, api *api, name string) (
	binary string, release func(), err error) {
	b := &builder{Course: c, api: api, done: map[*submission]bool{}}
	for _, s := range submissions {
		b.exercises = append(b.exercises, s.Exercise)
	}
	if b.tool, err = goTool(c); err != nil {
		return "", nil, err
	}
	if b.slot, err = claimSlot(c.Root, name); err != nil {
		return "", nil, err
	}
	linked := false
	if b.work, err = newWorkspace(api, b.slot.work, submissions); err != nil {
		err = noPlace(err)
	} else if _, err = b.prepare(ctx, false); err == nil {
		linked, err = b.linkMost(ctx, submissions)
	}
	if err != nil || !linked {
		b.slot.release()
		return "", nil, err
	}
	return b.slot.binary, b.slot.release, nil
}

// linkMost builds without those that turn out not to compile, until the rest does; it reports whether there is a rest.
// What no place in anyone's code explains, a limit among it, is put down to those that show it when built alone; where
// nobody does, they are too much for one program together, and each is to have its own.
func (b *builder) linkMost(ctx context.Context, submissions []*submission) (linked bool, err error) {
	for len(submissions) > 0 {
		unexplained, err := b.make(ctx, submissions)
		again := false
		if err == nil && unexplained == nil {
			if again, err = b.supply(submissions); err == nil && !again {
				again, err = b.lendInstead(submissions)
			}
		}
		switch {
		case err != nil:
			return false, err
		case again:
			continue
		case unexplained == nil && !slices.ContainsFunc(submissions, (*submission).bad):
			return true, nil
		case unexplained == nil:
		case len(submissions) == 1:
			unexplained.blame(submissions[0])
		default:
			for i := range submissions {
				alone, err := b.make(ctx, submissions[i:i+1])
				if err != nil {
					return false, err
				}
				if alone != nil {
					alone.blame(submissions[i])
				}
			}
			if !slices.ContainsFunc(submissions, (*submission).bad) {
				for _, s := range submissions {
					s.apart = true
				}
				return false, nil
			}
		}
		submissions = slices.DeleteFunc(slices.Clone(submissions), (*submission).bad)
	}
	return false, nil
}

// make makes a runner of the submissions. Errors that the compiler finds in a student's code go into that submission;
// unexplained is any other failure. Whatever assemble cannot tell go build does.
func (b *builder) make(ctx context.Context, submissions []*submission) (unexplained *failure, err error) {
	made, ok, err := b.assemble(ctx, submissions)
	if err != nil {
		return nil, err
	}
	if !ok {
		b.Precompiled.forget()
		unexplained, err = b.goBuild(ctx, submissions)
		made = unexplained == nil && err == nil && !slices.ContainsFunc(submissions, (*submission).bad)
	}
	if made {
		unexplained = tooLargeProgram(b.slot.binary)
	}
	return unexplained, err
}
