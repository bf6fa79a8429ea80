package watch_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cudalab/grader/desk/watch"
)

// each runs a test with events and by polling: what is noticed must be the same.
func each(t *testing.T, test func(t *testing.T, dir string, f *watch.Folder)) {
	for name, poll := range map[string]bool{"events": false, "polling": true} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "slab [2026]") // brackets mean something in a pattern
			require.NoError(t, os.Mkdir(dir, 0o755))
			save(t, dir, "slab.go", "package slab\n")
			f := watch.Open(dir, poll)
			t.Cleanup(f.Close)
			require.Empty(t, f.Note)
			test(t, dir, f)
		})
	}
}

func save(t *testing.T, dir, name, text string) {
	t.Helper()
	require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
}

func noticed(t *testing.T, f *watch.Folder) {
	t.Helper()
	select {
	case <-f.Saves:
	case <-time.After(20 * time.Second):
		require.Fail(t, "the save was not noticed")
	}
}

func TestSavesAreNoticed(t *testing.T) {
	each(t, func(t *testing.T, dir string, f *watch.Folder) {
		save(t, dir, "slab.go", "package slab // written in place\n")
		noticed(t, f)

		save(t, dir, "4913", "package slab // written elsewhere\n")
		require.NoError(t, os.Rename(filepath.Join(dir, "4913"), filepath.Join(dir, "slab.go")))
		noticed(t, f)

		save(t, dir, "more.go", "package slab\n")
		noticed(t, f)
		require.NoError(t, os.Remove(filepath.Join(dir, "more.go")))
		noticed(t, f)
	})
}

func TestAFolderThatIsReplacedIsStillWatched(t *testing.T) {
	each(t, func(t *testing.T, dir string, f *watch.Folder) {
		require.NoError(t, os.RemoveAll(dir))
		noticed(t, f)
		require.NoError(t, os.Mkdir(dir, 0o755))
		save(t, dir, "slab.go", "package slab // anew\n")
		noticed(t, f)
	})
}

func TestOtherFilesAreNoSaves(t *testing.T) {
	each(t, func(t *testing.T, dir string, f *watch.Folder) {
		save(t, dir, ".slab.go.swp", "what an editor keeps")
		save(t, dir, "notes.txt", "a student's own")
		save(t, dir, "last.go", "package slab\n")
		noticed(t, f)
		require.Empty(t, f.Saves, "one save was made, and one is told")
	})
}

func TestAFolderThatCannotBeWatchedIsPolled(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "later")
	f := watch.Open(dir, false)
	t.Cleanup(f.Close)
	require.Contains(t, f.Note, "does not report saves")
	require.NoError(t, os.Mkdir(dir, 0o755))
	save(t, dir, "slab.go", "package slab\n")
	noticed(t, f)
}

func TestChanged(t *testing.T) {
	dir := t.TempDir()
	require.Zero(t, watch.Changed(dir))
	save(t, dir, "slab.go", "package slab\n")
	when := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	require.NoError(t, os.Chtimes(filepath.Join(dir, "slab.go"), when, when))
	require.True(t, watch.Changed(dir).Equal(when))
}
