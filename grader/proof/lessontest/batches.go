package lessontest

import (
	"context"
	"slices"
	"sync"

	"cudalab/grader/judge/check"
)

// perRunner is how many programs share a runner: linking one for each takes a third of the time of a lesson's test,
// and from here on it is not worth mentioning.
const perRunner = 12

// batches are the programs of a lesson by the runners that they share. Tests enter them, all that run beside each
// other before the first of these is checked; so no program is built that nobody has asked for.
type batches struct {
	mu      sync.Mutex
	waiting []*batched
}

// batched is a program that is in a batch, or waits for one.
type batched struct {
	code  check.Code
	batch *batch // nil: it waits
	at    int    // in the batch
}

// batch are programs that share a runner.
type batch struct {
	linked func() (*check.Programs, error) // once
	left   int                             // that are still to be checked
}

// enter has a program wait for its batch.
func (b *batches) enter(code check.Code) *batched {
	b.mu.Lock()
	defer b.mu.Unlock()
	p := &batched{code: code}
	b.waiting = append(b.waiting, p)
	return p
}

// check checks a program in the runner of its batch. The request is the same for all, but for the code.
func (b *batches) check(ctx context.Context, q check.Request, p *batched) (check.Result, error) {
	b.mu.Lock()
	if p.batch == nil {
		b.form(ctx, q)
	}
	b.mu.Unlock()
	linked, err := p.batch.linked()
	if err != nil {
		return check.Result{}, err
	}
	r, err := linked.Check(ctx, p.at)
	b.mu.Lock()
	defer b.mu.Unlock()
	if p.batch.left--; p.batch.left == 0 {
		linked.Close()
	}
	return r, err
}

// form makes batches of about the same size of all programs that wait.
func (b *batches) form(ctx context.Context, q check.Request) {
	n := len(b.waiting)
	several := (n + perRunner - 1) / perRunner
	for programs := range slices.Chunk(b.waiting, (n+several-1)/several) {
		q := q
		for _, p := range programs {
			q.Code = append(q.Code, p.code)
		}
		of := &batch{left: len(programs), linked: sync.OnceValues(func() (*check.Programs, error) {
			return check.Link(ctx, q)
		})}
		for i, p := range programs {
			p.batch, p.at = of, i
		}
	}
	b.waiting = nil
}
