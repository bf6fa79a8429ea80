package class

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cudalab/grader/machine/lock"
)

func TestBudgetEnds(t *testing.T) {
	ctx, _, cancel := withBudget(context.Background(), 10*time.Millisecond)
	defer cancel()
	<-ctx.Done()
	require.ErrorIs(t, context.Cause(ctx), errTimeout)
}

func TestWaitingForTheGPUCostsNothing(t *testing.T) {
	const all = 50 * time.Millisecond
	ctx, b, cancel := withBudget(context.Background(), all)
	defer cancel()
	turn := func(ctx context.Context) (func(), error) {
		time.Sleep(2 * all)
		require.NoError(t, ctx.Err())
		return func() {}, nil
	}
	turns := b.waiting(lock.Turns{Share: turn, Time: turn, Alone: turn})
	for _, wait := range []func(context.Context) (func(), error){turns.Share, turns.Time, turns.Alone} {
		release, err := wait(ctx)
		require.NoError(t, err)
		release()
	}
	<-ctx.Done()
	require.ErrorIs(t, context.Cause(ctx), errTimeout, "what is left of it still ends")
}
