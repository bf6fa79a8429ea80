package course_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/grader/suites/course"
)

func open(t *testing.T) *course.Course {
	c, err := course.Open("")
	require.NoError(t, err)
	return c
}

func TestTheCourseIsFoundFromAnywhereInside(t *testing.T) {
	root, err := filepath.Abs("../../..")
	require.NoError(t, err)
	require.Equal(t, root, open(t).Root)
	c, err := course.Open("../../..")
	require.NoError(t, err)
	require.Equal(t, root, c.Root)
}

func TestOutsideOfTheCourse(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module other // cudalab\n"), 0o644))
	_, err := course.Open(dir)
	require.ErrorIs(t, err, course.ErrOutside)
	t.Chdir(dir)
	_, err = course.Open("")
	require.ErrorIs(t, err, course.ErrOutside)
	require.ErrorContains(t, err, dir)
}

func TestFind(t *testing.T) {
	c := open(t)
	for _, name := range []string{"async-pipeline", "asyncpipeline", "Async-Pipeline", "exercises/asyncpipeline/", "1"} {
		e, err := c.Find(name)
		require.NoError(t, err, name)
		require.Equal(t, "async-pipeline", e.Name)
	}
	for name, nearest := range map[string]string{
		"async-pipline": "async-pipeline", "asynpipeline": "async-pipeline", "pipeline": "async-pipeline",
		"xyzzy": "", "": "", "a": "", "0": "", fmt.Sprint(len(c.Exercises) + 1): "", "-1": "",
	} {
		_, err := c.Find(name)
		unknown := &course.Unknown{}
		require.ErrorAs(t, err, &unknown, name)
		require.Equal(t, nearest, unknown.Nearest, name)
	}
}

func TestExists(t *testing.T) {
	require.NoError(t, course.Exists("."))
	require.ErrorContains(t, course.Exists("missing"), "there is no folder missing")
	require.ErrorContains(t, course.Exists("course.go"), "is a file, not a folder")
}
