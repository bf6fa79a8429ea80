package lock_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cudalab/grader/machine/lock"
)

func TestOneGPUHasOneLock(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	t.Setenv("CUDA_VISIBLE_DEVICES", "")
	release, err := lock.GPU(context.Background())
	require.NoError(t, err)
	defer release()

	t.Setenv("CUDA_VISIBLE_DEVICES", "0,1")
	_, err = lock.GPU(soon(t))
	require.ErrorIs(t, err, context.DeadlineExceeded)
	_, err = lock.SharedGPU(soon(t))
	require.ErrorIs(t, err, context.DeadlineExceeded)

	t.Setenv("CUDA_VISIBLE_DEVICES", "GPU-1/2")
	another, err := lock.GPU(context.Background())
	require.NoError(t, err)
	another()
}

func TestManyShareAGPUAndOneTimesOnIt(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	one, err := lock.ShareGPU(context.Background(), "1")
	require.NoError(t, err)
	two, err := lock.ShareGPU(context.Background(), "1")
	require.NoError(t, err)
	_, err = lock.TimeGPU(soon(t), "1")
	require.ErrorIs(t, err, context.DeadlineExceeded)
	one()
	two()
	alone, err := lock.TimeGPU(context.Background(), "1")
	require.NoError(t, err)
	_, err = lock.ShareGPU(soon(t), "1")
	require.ErrorIs(t, err, context.DeadlineExceeded)
	other, err := lock.ShareGPU(context.Background(), "0")
	require.NoError(t, err)
	other()
	alone()
}

// TestWhoTimesIsNotKeptWaiting has the GPU shared by someone at every moment.
func TestWhoTimesIsNotKeptWaiting(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	first, err := lock.ShareGPU(ctx, "")
	require.NoError(t, err)
	timed := make(chan error)
	go func() {
		release, err := lock.TimeGPU(ctx, "")
		if err == nil {
			release()
		}
		timed <- err
	}()
	for waits := false; !waits; { // until whoever wants to time stands in the door
		second, err := lock.ShareGPU(soon(t), "")
		if waits = err != nil; !waits {
			second()
		}
	}
	first()
	require.NoError(t, <-timed)
}

// soon is a context for waiting in vain.
func soon(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	t.Cleanup(cancel)
	return ctx
}
