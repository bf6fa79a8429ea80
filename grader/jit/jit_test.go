package jit

import (
	"context"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/native/driver"
)

func TestFill(t *testing.T) {
	dir := t.TempDir()
	n, err := Fill(context.Background(), dir, "")
	if _, openErr := driver.Open(); openErr != nil {
		require.EqualError(t, err, openErr.Error(), "the driver's own words, from the other process")
		t.Skip(openErr)
	}
	require.NoError(t, err)
	require.Positive(t, n)
	files, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.NotEmpty(t, files)
}

func TestFillThatIsStopped(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := Fill(ctx, t.TempDir(), "")
	require.ErrorIs(t, err, context.Canceled)
}
