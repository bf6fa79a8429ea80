package cli

import (
	"context"
	"sync"

	"cudalab/grader/judge/check"
	"cudalab/grader/judge/compile"
	"cudalab/grader/suites/course"
)

// warm has what a runner consists of but the student's code at hand, for as long as the program runs: a check then waits for the
// compiler and the linker alone.
type warm struct {
	root string

	mu      sync.Mutex
	known   map[string]*compile.Precompiled // by exercise; nil where it is being looked up, or cannot be had
	looking sync.WaitGroup
}

// of is an exercise's; nil where there is none yet, or where the course has changed since. Then the check is go build's.
func (w *warm) of(e course.Exercise) *compile.Precompiled {
	w.mu.Lock()
	defer w.mu.Unlock()
	p := w.known[e.Name]
	if p != nil && !p.Fresh() {
		delete(w.known, e.Name)
		return nil
	}
	return p
}

// prepare looks an exercise's up, beside whatever goes on, unless that was done before. go build has compiled it by then.
func (w *warm) prepare(ctx context.Context, e course.Exercise) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, begun := w.known[e.Name]; begun {
		return
	}
	if w.known == nil {
		w.known = map[string]*compile.Precompiled{}
	}
	w.known[e.Name] = nil
	w.looking.Go(func() {
		p := check.Precompile(ctx, w.root, []course.Exercise{e}, nil)
		w.mu.Lock()
		defer w.mu.Unlock()
		w.known[e.Name] = p
	})
}
