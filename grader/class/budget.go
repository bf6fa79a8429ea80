package class

import (
	"context"
	"errors"
	"sync"
	"time"

	"cudalab/grader/machine/lock"
)

// errTimeout is the cause of a context whose budget is spent.
var errTimeout = errors.New("the submission took longer than it may")

// budget is the time that one submission may take. It can be stopped, so that waiting for others costs nothing.
type budget struct {
	mu     sync.Mutex
	left   time.Duration
	since  time.Time // when the timer was started; zero while it is stopped
	timer  *time.Timer
	cancel context.CancelCauseFunc
}

// withBudget is a context that is done, with errTimeout as its cause, once it has run for d without the times between
// stop and start.
func withBudget(ctx context.Context, d time.Duration) (context.Context, *budget, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	b := &budget{left: d, cancel: cancel}
	b.start()
	return ctx, b, func() {
		b.stop()
		cancel(nil)
	}
}

// waiting are turns on a GPU that are waited for with the budget stopped.
func (b *budget) waiting(turns lock.Turns) lock.Turns {
	stopped := func(turn func(context.Context) (func(), error)) func(context.Context) (func(), error) {
		return func(ctx context.Context) (release func(), err error) {
			b.stop()
			defer b.start()
			return turn(ctx)
		}
	}
	return lock.Turns{Share: stopped(turns.Share), Time: stopped(turns.Time), Alone: stopped(turns.Alone)}
}

func (b *budget) start() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.since = time.Now()
	b.timer = time.AfterFunc(b.left, func() { b.cancel(errTimeout) })
}

func (b *budget) stop() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.since.IsZero() {
		return
	}
	b.timer.Stop()
	b.left -= time.Since(b.since)
	b.since = time.Time{}
}
