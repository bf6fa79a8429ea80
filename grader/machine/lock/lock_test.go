package lock_test

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cudalab/grader/machine/lock"
)

// TestMain lets the test program be the other process: it holds the lock that it is named until its input ends.
func TestMain(m *testing.M) {
	path := os.Getenv("LOCK_TEST_HOLD")
	if path == "" {
		os.Exit(m.Run())
	}
	if _, err := lock.Acquire(context.Background(), path); err != nil {
		panic(err)
	}
	os.Stdout.WriteString("held\n")
	_, _ = os.Stdin.Read(make([]byte, 1)) // until killed, or the test is gone
}

func TestAnotherProcessHoldsItUntilItIsKilled(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	other := exec.Command(os.Args[0])
	other.Env = append(os.Environ(), "LOCK_TEST_HOLD="+path)
	stdin, err := other.StdinPipe()
	require.NoError(t, err)
	defer stdin.Close()
	stdout, err := other.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, other.Start())
	defer func() { _ = other.Process.Kill() }()
	said, err := bufio.NewReader(stdout).ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "held\n", said)

	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	_, err = lock.Acquire(ctx, path)
	require.ErrorIs(t, err, context.DeadlineExceeded)

	require.NoError(t, other.Process.Kill())
	_ = other.Wait() // it was killed
	release, err := lock.Acquire(context.Background(), path)
	require.NoError(t, err)
	release()
}

func TestReleaseLetsTheNextOneIn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	for range 3 {
		release, err := lock.Acquire(context.Background(), path)
		require.NoError(t, err)
		release()
	}
}

func TestNoPlaceForTheFile(t *testing.T) {
	_, err := lock.Acquire(context.Background(), filepath.Join(t.TempDir(), "missing", "lock"))
	require.ErrorIs(t, err, os.ErrNotExist)
}
