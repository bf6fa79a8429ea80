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
	release, err := lock.Here().Time(context.Background())
	require.NoError(t, err)
	defer release()

	t.Setenv("CUDA_VISIBLE_DEVICES", "0,1")
	_, err = lock.Here().Time(soon(t))
	require.ErrorIs(t, err, context.DeadlineExceeded)
	_, err = lock.Here().Share(soon(t))
	require.ErrorIs(t, err, context.DeadlineExceeded)

	t.Setenv("CUDA_VISIBLE_DEVICES", "GPU-1/2")
	another, err := lock.Here().Time(context.Background())
	require.NoError(t, err)
	another()
}

func TestManyShareAGPUAndOneTimesOnIt(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	one, err := lock.On("1").Share(context.Background())
	require.NoError(t, err)
	two, err := lock.On("1").Share(context.Background())
	require.NoError(t, err)
	_, err = lock.On("1").Time(soon(t))
	require.ErrorIs(t, err, context.DeadlineExceeded)
	one()
	two()
	alone, err := lock.On("1").Time(context.Background())
	require.NoError(t, err)
	_, err = lock.On("1").Share(soon(t))
	require.ErrorIs(t, err, context.DeadlineExceeded)
	other, err := lock.On("0").Share(context.Background())
	require.NoError(t, err)
	other()
	alone()
}

// TestWhoTimesIsNotKeptWaiting has the GPU shared by someone at every moment.
func TestWhoTimesIsNotKeptWaiting(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	first, err := lock.On("").Share(ctx)
	require.NoError(t, err)
	timed := make(chan error)
	go func() {
		release, err := lock.On("").Time(ctx)
		if err == nil {
			release()
		}
		timed <- err
	}()
	for waits := false; !waits; { // until whoever wants to time stands in the door
		second, err := lock.On("").Share(soon(t))
		if waits = err != nil; !waits {
			second()
		}
	}
	first()
	require.NoError(t, <-timed)
}

// TestAloneIsAloneOnAllGPUs has nobody in beside who is alone, on whatever GPU, and those who share and time go on once
// it is over.
func TestAloneIsAloneOnAllGPUs(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	shared, err := lock.On("0").Share(context.Background())
	require.NoError(t, err)
	timed, err := lock.On("1").Time(context.Background())
	require.NoError(t, err)
	_, err = lock.On("2").Alone(soon(t))
	require.ErrorIs(t, err, context.DeadlineExceeded)
	shared()
	_, err = lock.On("1").Alone(soon(t))
	require.ErrorIs(t, err, context.DeadlineExceeded)
	timed()
	alone, err := lock.On("1").Alone(context.Background())
	require.NoError(t, err)
	for _, gpu := range []string{"0", "1"} {
		turns := lock.On(gpu)
		for _, turn := range []func(context.Context) (func(), error){turns.Share, turns.Time, turns.Alone} {
			_, err = turn(soon(t))
			require.ErrorIs(t, err, context.DeadlineExceeded)
		}
	}
	alone()
	again, err := lock.On("0").Time(context.Background())
	require.NoError(t, err)
	again()
}

// soon is a context for waiting in vain.
func soon(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	t.Cleanup(cancel)
	return ctx
}
