package restore_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cudalab/grader/desk/restore"
	"cudalab/grader/suites/course"
)

func exercise(t *testing.T) course.Exercise {
	c, err := course.Open("../../..")
	require.NoError(t, err)
	return c.Exercises[0]
}

func write(t *testing.T, path, text string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
}

func requireText(t *testing.T, want, path string) {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, want, string(text))
}

func requireState(t *testing.T, want restore.State, root string, e course.Exercise) {
	t.Helper()
	state, err := restore.Look(root, e)
	require.NoError(t, err)
	require.Equal(t, want, state)
}

func TestWhatWasWrittenIsKept(t *testing.T) {
	e, root := exercise(t), t.TempDir()
	dir := filepath.Join(root, e.Folder())
	write(t, filepath.Join(dir, e.Package+".go"), "package mine\n")
	write(t, filepath.Join(dir, "more.go"), "package more\n")
	write(t, filepath.Join(dir, "notes.txt"), "notes")
	requireState(t, restore.Edited, root, e)

	now := time.Date(2026, 7, 1, 12, 30, 59, 0, time.UTC)
	backup, err := restore.Exercise(root, e, now)
	require.NoError(t, err)
	require.Equal(t, filepath.Join(root, ".cudalab", "backup", e.Name+"-2026-07-01-123059"), backup)
	requireText(t, "package mine\n", filepath.Join(backup, e.Package+".go"))
	requireText(t, "package more\n", filepath.Join(backup, "more.go"))
	requireText(t, "notes", filepath.Join(dir, "notes.txt"))
	require.NoFileExists(t, filepath.Join(dir, "more.go"))
	skeleton, err := os.ReadFile(filepath.Join("../../..", e.Folder(), e.Package+".go"))
	require.NoError(t, err)
	requireText(t, string(skeleton), filepath.Join(dir, e.Package+".go"))
	requireState(t, restore.Pristine, root, e)

	write(t, filepath.Join(dir, e.Package+".go"), "package again\n")
	again, err := restore.Exercise(root, e, now)
	require.NoError(t, err)
	require.Equal(t, backup+"-2", again)
	requireText(t, "package mine\n", filepath.Join(backup, e.Package+".go"))
}

// A folder's name may hold what means something in a pattern.
func TestWhatWasWrittenIsKeptWhateverTheCourseIsCalled(t *testing.T) {
	e, root := exercise(t), filepath.Join(t.TempDir(), "cuda [2026]")
	write(t, filepath.Join(root, e.Folder(), e.Package+".go"), "package mine\n")
	requireState(t, restore.Edited, root, e)
	backup, err := restore.Exercise(root, e, time.Now())
	require.NoError(t, err)
	requireText(t, "package mine\n", filepath.Join(backup, e.Package+".go"))
	requireState(t, restore.Pristine, root, e)
}

func TestAFolderThatIsGoneComesBack(t *testing.T) {
	e, root := exercise(t), t.TempDir()
	requireState(t, restore.Missing, root, e)
	backup, err := restore.Exercise(root, e, time.Now())
	require.NoError(t, err)
	require.Empty(t, backup)
	requireState(t, restore.Pristine, root, e)
}

func TestNothingIsLostWhereNoCopyCanBeKept(t *testing.T) {
	e, root := exercise(t), t.TempDir()
	mine := filepath.Join(root, e.Folder(), e.Package+".go")
	write(t, mine, "package mine\n")
	write(t, filepath.Join(root, ".cudalab"), "a file in the way")
	_, err := restore.Exercise(root, e, time.Now())
	require.Error(t, err)
	requireText(t, "package mine\n", mine)
}
