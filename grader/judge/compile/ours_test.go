package compile

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cudalab/grader/machine/child"
)

// The standard library takes a multiple of this limit to compile; the student's code does not.
func TestOnlyTheStudentsCodeIsLimited(t *testing.T) {
	if testing.Short() {
		t.Skip("it compiles the standard library")
	}
	cold := filepath.Join(t.TempDir(), "go-build")
	t.Setenv("GOCACHE", cold)
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	q := request(answering(t, "at last"))
	q.Limits = child.Limits{CPU: 4 * time.Second}
	told := 0
	q.Preparing = func() { told++ }
	require.Equal(t, "at last\n", printed(t, built(t, q)))
	require.Equal(t, 1, told, "somebody waits, and is told why")

	before := remembered(t, q)
	require.Equal(t, 1, told, "what is compiled is remembered")

	// A cache that was emptied is noticed, be it in part.
	require.NoError(t, os.Remove(strings.Split(before, "\n")[40]))
	require.Equal(t, "at last\n", printed(t, built(t, q)))
	require.Equal(t, before, remembered(t, q))
}

// remembered builds once more and returns what is remembered to be compiled.
func remembered(t *testing.T, q asked) string {
	t.Helper()
	require.Equal(t, "at last\n", printed(t, built(t, q)))
	files, err := filepath.Glob(filepath.Join(os.Getenv("XDG_CACHE_HOME"), "cudalab", "*", "compiled-*[0-9a-f]"))
	require.NoError(t, err)
	require.Len(t, files, 1)
	text, err := os.ReadFile(files[0])
	require.NoError(t, err)
	return string(text)
}

// What is remembered may be of another cache, which nobody can tell without asking Go. Then a limit is no verdict.
func TestALimitIsBelievedOnlyWhereAllElseWasCompiled(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	b := &builder{slot: &slot{binary: filepath.Join(t.TempDir(), "sample")}, api: newAPI(course)}
	var err error
	b.tool, err = goTool(Course{})
	require.NoError(t, err)
	b.Root = course
	news, err := b.prepare(context.Background(), false)
	require.NoError(t, err)
	require.True(t, news)
	for range 2 {
		news, err = b.prepare(context.Background(), true)
		require.NoError(t, err)
		require.False(t, news, "it is as remembered: the limit is the student's")
	}
	memory := filepath.Join(filepath.Dir(b.slot.binary), "compiled-"+cache(b.tool, "", nil))
	require.NoError(t, os.WriteFile(memory, []byte(memory), 0o600))
	news, err = b.prepare(context.Background(), false)
	require.NoError(t, err)
	require.False(t, news, "the memory is of something that is there")
	news, err = b.prepare(context.Background(), true)
	require.NoError(t, err)
	require.True(t, news, "but not of what is needed: the build is to be tried again")
}

func TestABusyMachineIsNobodysFault(t *testing.T) {
	q := request(answering(t, "out of time"))
	q.Limits = child.Limits{Wall: time.Millisecond}
	_, err := q.build(context.Background())
	var environment *EnvironmentError
	require.ErrorAs(t, err, &environment)
	require.Contains(t, environment.Problem, "1ms")
	require.Contains(t, environment.Fix, "Try again")
}
