package compile

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The course in testdata has the real one's packages, each reduced to a few lines, and the exercise "sample".
const course = "testdata/course"

const sampleMain = `suite.New(exercise.Run, solution.Run, suite.Of(exercise.New))`

// header opens a submission's file; what a test adds begins on line 10.
const header = `package sample

import (
	"cudalab/exercises/contract"
	"cudalab/native/cuda"
)

var _ = contract.ErrArgument
var _ cuda.Stream
`

// allocator completes a submission whose subject is something else than the allocator.
const allocator = `package sample

import "cudalab/native/cuda"

type Allocator struct{}

func New(total int64) (*Allocator, error) { return &Allocator{}, nil }

func (a *Allocator) Alloc(size int64) (cuda.DevicePtr, error) { return 1, nil }
`

const run = "func Run(streams []cuda.Stream, n int) error { return nil }\n"

// TestMain keeps the runners that tests leave for the next build out of the user's cache, but not Go's own cache: the
// standard library would be compiled anew.
func TestMain(m *testing.M) {
	goCache, err := exec.Command("go", "env", "GOCACHE").Output()
	if err != nil {
		panic(err)
	}
	os.Setenv("GOCACHE", strings.TrimSpace(string(goCache)))
	caches, err := os.MkdirTemp("", "cudalab-test-")
	if err != nil {
		panic(err)
	}
	os.Setenv("XDG_CACHE_HOME", caches)
	code := m.Run()
	os.RemoveAll(caches)
	os.Exit(code)
}

// folder makes a student's folder.
func folder(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	return dir
}

// asked is what a test has built.
type asked struct {
	Course
	Exercises []Exercise
}

func (a asked) build(ctx context.Context) (*Result, error) {
	return Build(ctx, a.Course, a.Exercises...)
}

func request(dir string) asked { return requestOf(sample(dir)) }

func requestOf(exercises ...Exercise) asked { return asked{Course{Root: course}, exercises} }

func sample(dir string) Exercise {
	return Exercise{Package: "sample", Dir: dir, Main: sampleMain, Solution: true}
}

// alone is what came of a request for one exercise.
type alone struct {
	*Result
	*Linked
}

func built(t testing.TB, q asked) alone {
	t.Helper()
	r := together(t, q)
	require.Len(t, r.Exercises, 1)
	return alone{r, &r.Exercises[0]}
}

func together(t testing.TB, q asked) *Result {
	t.Helper()
	r, err := q.build(context.Background())
	require.NoError(t, err)
	t.Cleanup(r.Close)
	return r
}

// lineOf is the number of the first line that holds a text.
func lineOf(t *testing.T, text, part string) int {
	t.Helper()
	before, _, found := strings.Cut(text, part)
	require.True(t, found, "%q is not there", part)
	return strings.Count(before, "\n") + 1
}
