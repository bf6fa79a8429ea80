package progress_test

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/grader/progress"
	"cudalab/grader/suite"
)

func record(t *testing.T, root string, r suite.Report) {
	require.NoError(t, progress.Record(context.Background(), root, r))
}

func TestAFailingSeedIsKeptUntilItPasses(t *testing.T) {
	root := t.TempDir()
	require.Empty(t, progress.Load(root))
	for _, step := range []struct {
		status suite.Status
		seed   uint64
		want   uint64
	}{
		{suite.NotStarted, 5, 0},
		{suite.Failed, 6, 6},
		{suite.BuildFailed, 7, 6},
		{suite.Refused, 8, 6},
		{suite.Crashed, 9, 9},
		{suite.Timeout, 10, 10},
		{suite.Passed, 10, 0},
	} {
		record(t, root, suite.Report{Exercise: "slab", Status: step.status, Seed: step.seed, Score: 3, MaxScore: 4,
			Device: suite.Device{Kind: "sim"}})
		e := progress.Load(root)["slab"]
		require.Equal(t, step.want, e.FailingSeed, step.status)
		require.Equal(t, step.status, e.Status)
		require.Equal(t, 3.0, e.Score)
		require.Equal(t, "sim", e.Device)
		require.False(t, e.When.IsZero())
	}
}

func TestADamagedFileIsStartedAnew(t *testing.T) {
	for _, text := range []string{"", "{", "null", "[]", `{"slab": 3}`} {
		root := t.TempDir()
		require.NoError(t, os.Mkdir(filepath.Join(root, ".cudalab"), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(root, ".cudalab", "progress.json"), []byte(text), 0o644))
		require.Empty(t, progress.Load(root), text)
		record(t, root, suite.Report{Exercise: "buddy", Status: suite.Passed})
		require.Len(t, progress.Load(root), 1, text)
	}
}

func TestChecksThatEndAtOnceLoseNothing(t *testing.T) {
	root := t.TempDir()
	var all sync.WaitGroup
	names := []string{"a", "b", "c", "d", "e", "f", "g", "h"}
	for _, name := range names {
		all.Go(func() {
			require.NoError(t, progress.Record(context.Background(), root, suite.Report{Exercise: name, Status: suite.Passed}))
		})
	}
	all.Wait()
	require.Len(t, progress.Load(root), len(names))
	left, err := os.ReadDir(filepath.Join(root, ".cudalab"))
	require.NoError(t, err)
	require.Len(t, left, 2, "only the file and its lock")
}

func TestNoPlaceToWrite(t *testing.T) {
	root := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(root, ".cudalab"), nil, 0o644))
	require.Error(t, progress.Record(context.Background(), root, suite.Report{Exercise: "slab"}))
	require.Empty(t, progress.Load(root))
}
