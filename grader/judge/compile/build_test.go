package compile

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cudalab/grader/machine/child"
)

// printed runs a runner and returns what it prints.
func printed(t *testing.T, r alone) string {
	t.Helper()
	require.True(t, r.OK(), "there is no runner: %v %v", r.Refusals, r.Errors)
	text, err := exec.Command(r.Binary).Output()
	require.NoError(t, err)
	return string(text)
}

// answering is a submission whose Run answers an error with that text.
func answering(t testing.TB, answer string) string {
	return folder(t, map[string]string{
		"sample.go":    header + "func Run(streams []cuda.Stream, n int) error { return contract.TODO(`" + answer + "`) }\n",
		"allocator.go": allocator,
	})
}

func TestTheFolderTakesTheExercisesPlace(t *testing.T) {
	before := tree(t, course)
	require.Equal(t, "1a\n", printed(t, built(t, request(course+"/exercises/sample"))), "the skeleton itself")
	require.Equal(t, "mine\n", printed(t, built(t, request(answering(t, "mine")))))

	// Files of the skeleton that the student does not have are gone.
	dir := folder(t, map[string]string{
		"sample.go":    header + "func Run(streams []cuda.Stream, n int) error { return contract.TODO(leftover) }\n",
		"allocator.go": allocator,
	})
	r := built(t, request(dir))
	require.Len(t, r.Errors, 1)
	require.Equal(t, "undefined: leftover", r.Errors[0].Message)
	require.Equal(t, before, tree(t, course), "nothing in the course has changed")
}

func tree(t *testing.T, root string) map[string]string {
	t.Helper()
	files := map[string]string{}
	require.NoError(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			files[path] = ""
			return err
		}
		text, err := os.ReadFile(path)
		files[path] = string(text)
		return err
	}))
	return files
}

// A shell names the working directory in PWD as it was reached, and go build believes it.
func TestTheCourseMayBeReachedThroughALink(t *testing.T) {
	real, err := filepath.Abs(course)
	require.NoError(t, err)
	link := filepath.Join(t.TempDir(), "Übung mit Leerzeichen")
	require.NoError(t, os.Symlink(real, link))
	q := request("exercises/sample")
	for _, root := range []string{".", link} {
		t.Run(root, func(t *testing.T) {
			t.Chdir(link)
			q.Root = root
			require.Equal(t, "1a\n", printed(t, built(t, q)))
		})
	}
}

func TestSourceMap(t *testing.T) {
	dir := folder(t, map[string]string{
		"sample.go": header + `
func Run(streams []cuda.Stream, n int) error {
	panic("on purpose")
}
`,
		"allocator.go": allocator,
	})
	r := built(t, request(dir))
	require.True(t, r.OK())
	var failure *exec.ExitError
	require.ErrorAs(t, exec.Command(r.Binary).Run(), &failure)
	cmd := exec.Command(r.Binary)
	text, _ := cmd.CombinedOutput()
	m := regexp.MustCompile(`(?m)^\t(\S*sample\.go):(\d+)`).FindStringSubmatch(string(text))
	require.NotNil(t, m, "no frame in\n%s", text)
	path, ok := r.Sources.RealPath(m[1])
	require.True(t, ok, "%s is not known", m[1])
	require.Equal(t, filepath.Join(dir, "sample.go"), path)
	require.Equal(t, "12", m[2])

	_, ok = r.Sources.RealPath("cudalab/grader/judge/runner/runner.go")
	require.False(t, ok)
}

func TestLinkedCourse(t *testing.T) {
	target, err := filepath.Abs(course)
	require.NoError(t, err)
	link := filepath.Join(t.TempDir(), "link")
	require.NoError(t, os.Symlink(target, link))
	q := request(answering(t, "through a link"))
	q.Root = link
	require.Equal(t, "through a link\n", printed(t, built(t, q)))
}

func TestBuildsAtTheSameTime(t *testing.T) {
	var wait sync.WaitGroup
	paths := make([]string, 3)
	for i := range paths {
		answer := strings.Repeat("x", i+1)
		dir := answering(t, answer)
		wait.Go(func() {
			r, err := request(dir).build(context.Background())
			if err != nil || r.Binary == "" {
				t.Errorf("%v %v", err, r)
				return
			}
			defer r.Close()
			paths[i] = r.Binary
			text, err := exec.Command(r.Binary).Output()
			if err != nil || string(text) != answer+"\n" {
				t.Errorf("got %q, want %q (%v)", text, answer, err)
			}
		})
	}
	wait.Wait()
}

func TestTheRunnerStaysUntilClose(t *testing.T) {
	first := built(t, request(answering(t, "first")))
	second := built(t, request(answering(t, "second")))
	require.NotEqual(t, first.Binary, second.Binary)
	require.Equal(t, "first\n", printed(t, first))
	require.Equal(t, "second\n", printed(t, second))

	kept, next := first.Binary, second.Binary
	second.Close()
	first.Close()
	require.Empty(t, first.Binary)
	require.FileExists(t, kept, "kept for the next build")
	require.FileExists(t, next, "and for when there are two again")
	third := built(t, request(answering(t, "third")))
	require.Equal(t, kept, third.Binary)
	require.Equal(t, next, built(t, request(answering(t, "fourth"))).Binary)
	require.Equal(t, "third\n", printed(t, third))
}

// A folder that cannot be written to is simulated by a file in its place, which stops root as well.
func TestNoCacheFolder(t *testing.T) {
	blocked := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(blocked, nil, 0o600))
	t.Setenv("XDG_CACHE_HOME", blocked)
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	r := built(t, request(answering(t, "elsewhere")))
	require.Equal(t, "elsewhere\n", printed(t, r))
	require.True(t, strings.HasPrefix(r.Binary, temp))
	r.Close()

	// Others can write to the folder that bears the usual name: it is not used.
	dirs, err := filepath.Glob(filepath.Join(temp, "cudalab-*"))
	require.NoError(t, err)
	require.Len(t, dirs, 1)
	require.NoError(t, os.Chmod(dirs[0], 0o777))
	r = built(t, request(answering(t, "elsewhere")))
	require.False(t, strings.HasPrefix(r.Binary, dirs[0]))
	used := r.Binary
	r.Close()
	require.NoFileExists(t, used)

	dir := answering(t, "nowhere")
	t.Setenv("TMPDIR", blocked)
	_, err = request(dir).build(context.Background())
	var environment *EnvironmentError
	require.ErrorAs(t, err, &environment)
	require.Contains(t, environment.Fix, "TMPDIR")
}

func TestReadOnlyCourse(t *testing.T) {
	root := filepath.Join(t.TempDir(), "course")
	require.NoError(t, os.CopyFS(root, os.DirFS(course)))
	var dirs []string
	require.NoError(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if d.IsDir() {
			dirs = append(dirs, path)
		}
		return err
	}))
	for _, d := range dirs {
		require.NoError(t, os.Chmod(d, 0o555))
		t.Cleanup(func() { os.Chmod(d, 0o755) })
	}
	if f, err := os.Create(filepath.Join(root, "probe")); err == nil {
		f.Close()
		t.Skip("this user may write to read-only folders (root?): nothing to prove")
	}
	q := request(answering(t, "read-only"))
	q.Root = root
	require.Equal(t, "read-only\n", printed(t, built(t, q)))
}

func TestEnvironmentErrors(t *testing.T) {
	var environment *EnvironmentError
	ctx := context.Background()

	q := request(answering(t, ""))
	q.Root = t.TempDir()
	_, err := q.build(ctx)
	require.ErrorAs(t, err, &environment)
	require.Contains(t, environment.Problem, "go.mod")

	require.ErrorAs(t, built(t, request("/no/such/folder")).Err, &environment)
	require.Contains(t, environment.Problem, "/no/such/folder")

	q = request(answering(t, ""))
	q.GoTool = "/no/such/go"
	_, err = q.build(ctx)
	require.ErrorAs(t, err, &environment)
	require.Contains(t, environment.Fix, "https://go.dev/dl")

	// A course that needs a newer Go than there is.
	q = request(answering(t, ""))
	q.Root = filepath.Join(t.TempDir(), "course")
	require.NoError(t, os.CopyFS(q.Root, os.DirFS(course)))
	require.NoError(t, os.WriteFile(filepath.Join(q.Root, "go.mod"), []byte("module cudalab\n\ngo 1.999\n"), 0o600))
	_, err = q.build(ctx)
	require.ErrorAs(t, err, &environment)
	require.Contains(t, environment.Problem, "needs Go 1.999 or newer")
	require.Regexp(t, `it is 1\.\d+`, environment.Problem)

	q = request(answering(t, ""))
	q.Exercises[0].Package = "../sample"
	_, err = q.build(ctx)
	require.ErrorContains(t, err, "../sample")
}

func TestFaultsOfTheCourseAreNotTheStudents(t *testing.T) {
	root := filepath.Join(t.TempDir(), "course")
	require.NoError(t, os.CopyFS(root, os.DirFS(course)))
	suite := filepath.Join(root, "grader/suites/sample/sample.go")
	require.NoError(t, os.WriteFile(suite, []byte("package sample\n\nfunc New() int { return true }\n"), 0o600))
	q := request(answering(t, ""))
	q.Root = root
	r := built(t, q)
	require.Empty(t, r.Errors)
	require.ErrorContains(t, r.Err, "not in the exercise")
	require.ErrorContains(t, r.Err, "cannot use true")

	q = request(answering(t, ""))
	q.Exercises[0].Main = "suite.Nothing()"
	require.ErrorContains(t, built(t, q).Err, "suite.Nothing")
}

func TestContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := request(answering(t, "")).build(ctx)
	require.ErrorIs(t, err, context.Canceled)
}

func TestLimits(t *testing.T) {
	q := request(answering(t, "out of time"))
	q.Limits = child.Limits{CPU: 20 * time.Millisecond}
	r := built(t, q)
	require.False(t, r.OK())
	require.Len(t, r.Errors, 1)
	require.Contains(t, r.Errors[0].Message, "20ms of CPU time")
	require.Empty(t, r.Errors[0].File)

	// Each line doubles a constant text, of which the compiler then has to hold the last.
	explosive := header + run + "const c0 = `0123456789abcdef`\n"
	for i := range 36 {
		explosive += fmt.Sprintf("const c%d = c%d + c%d\n", i+1, i, i)
	}
	q = request(folder(t, map[string]string{"sample.go": explosive + "var Kept = c36\n", "allocator.go": allocator}))
	q.Limits = child.Limits{Memory: 400 << 20}
	r = built(t, q)
	require.False(t, r.OK())
	require.Len(t, r.Errors, 1)
	require.Contains(t, r.Errors[0].Message, "400 MiB")
	require.Contains(t, r.Errors[0].Plain, "constant")
}

func TestGOFLAGS(t *testing.T) {
	t.Setenv("GOFLAGS", "-tags=nonsense -mod=vendor -race -buildvcs=true")
	t.Setenv("GOOS", "plan9")
	env := environment("")
	require.Contains(t, env, "GOFLAGS=-buildvcs=false -mod=vendor")
	require.NotContains(t, env, "GOOS=plan9")
	require.Contains(t, env, "CGO_ENABLED=0")
	require.Contains(t, env, "GOTOOLCHAIN=local")
}
