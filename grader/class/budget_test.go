package class

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
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
	release, err := b.waiting(ctx, "0", func(ctx context.Context, gpu string) (func(), error) {
		time.Sleep(2 * all)
		require.NoError(t, ctx.Err())
		return func() {}, nil
	})
	require.NoError(t, err)
	release()
	<-ctx.Done()
	require.ErrorIs(t, context.Cause(ctx), errTimeout, "what is left of it still ends")
}
