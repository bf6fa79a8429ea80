package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"
	landlock "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/require"

	"cudalab/grader/proof/sample"
	"cudalab/grader/suites/course"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"cudalab": func() { Main(course.Own()) }})
}

// sampledScripts is how many scripts `make test` runs: each takes some seconds.
const sampledScripts = 1

// TestScripts runs cudalab as a person would. Each script has a folder, a course's root in CUDALAB_ROOT and caches for
// runners of its own, and shares Go's caches with the machine. The condition [landlock] is a kernel that can confine
// submissions.
func TestScripts(t *testing.T) {
	root, err := filepath.Abs("../../..")
	require.NoError(t, err)
	caches := goCaches(t)
	compiled := compiled(t, root, caches)
	scripts, err := filepath.Glob("testdata/*.txtar")
	require.NoError(t, err)
	runs := sample.Of("scripts", len(scripts), sampledScripts)
	var files []string
	for i, script := range scripts {
		if runs(i) {
			files = append(files, script)
		}
	}
	testscript.Run(t, testscript.Params{
		Files: files,
		Setup: func(env *testscript.Env) error {
			env.Setenv("GOCACHE", caches[0])
			env.Setenv("GOMODCACHE", caches[1])
			env.Setenv("XDG_CACHE_HOME", filepath.Join(env.WorkDir, ".cache"))
			env.Setenv("CUDALAB_ROOT", root)
			return os.CopyFS(filepath.Join(env.WorkDir, ".cache"), os.DirFS(compiled))
		},
		Condition: func(name string) (bool, error) {
			if name != "landlock" {
				return false, fmt.Errorf("there is no condition %q", name)
			}
			version, err := landlock.LandlockGetABIVersion()
			return err == nil && version > 0, nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"status":   status,
			"course":   copyCourse,
			"await":    await,
			"terminal": inTerminal,
			"same":     same,
		},
	})
}

// goCaches are the folders of Go's caches, for builds and for modules. Without the first every build would begin with
// the standard library.
func goCaches(t testing.TB) []string {
	t.Helper()
	said, err := exec.Command("go", "env", "GOCACHE", "GOMODCACHE").Output()
	require.NoError(t, err)
	return strings.Fields(string(said))
}

// same holds two large files to be equal, and shows the first line that is not: same trace.json before.json.
func same(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: same FILE FILE")
	}
	is, was := strings.Split(ts.ReadFile(args[0]), "\n"), strings.Split(ts.ReadFile(args[1]), "\n")
	for i := range min(len(is), len(was)) {
		if is[i] != was[i] {
			ts.Fatalf("line %d differs:\n%s\n%s", i+1, is[i], was[i])
		}
	}
	if len(is) != len(was) {
		ts.Fatalf("%d lines, and %d", len(is), len(was))
	}
}

// compiled is a cache folder of cudalab's that remembers that what is not a student's is compiled. Without it every
// script would ask Go anew, and on a busy machine say that this takes a while.
func compiled(t *testing.T, root string, caches []string) (cache string) {
	t.Helper()
	full := t.TempDir()
	check := exec.Command("cudalab", "check", "async-pipeline", "--solution", "--no-timing", "--device", "sim")
	// A script has no home, where Go's settings are, and no settings of Go's but these.
	check.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=/no-home", "XDG_CACHE_HOME=" + full, "CUDALAB_ROOT=" + root,
		"GOCACHE=" + caches[0], "GOMODCACHE=" + caches[1]}
	said, err := check.CombinedOutput()
	require.NoError(t, err, string(said))
	memories, err := filepath.Glob(filepath.Join(full, "cudalab", "*", "packages-*"))
	require.NoError(t, err)
	require.NotEmpty(t, memories)
	cache = t.TempDir()
	for _, m := range memories {
		text, err := os.ReadFile(m)
		require.NoError(t, err)
		below, err := filepath.Rel(full, m)
		require.NoError(t, err)
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(cache, below)), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(cache, below), text, 0o600))
	}
	return cache
}

// status runs a command that must end with the given status: status 3 cudalab doctor.
func status(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status N command...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	var exit *exec.ExitError
	if err := ts.Exec(args[1], args[2:]...); errors.As(err, &exit) {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("exit status %d instead of %d", got, want)
	}
}

// copyCourse copies what makes a course into the folder given, and makes it CUDALAB_ROOT.
func copyCourse(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: course FOLDER")
	}
	from, to := ts.Getenv("CUDALAB_ROOT"), ts.MkAbs(args[0])
	ts.Check(os.MkdirAll(to, 0o755))
	for _, part := range []string{"go.mod", "go.sum", "exercises", "solutions", "kernels", "native", "grader"} {
		ts.Check(filepath.WalkDir(filepath.Join(from, part), func(path string, e fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			below, err := filepath.Rel(from, path)
			if err != nil {
				return err
			}
			if e.IsDir() {
				return os.MkdirAll(filepath.Join(to, below), 0o755)
			}
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			return os.WriteFile(filepath.Join(to, below), text, 0o644)
		}))
	}
	ts.Setenv("CUDALAB_ROOT", to)
}

// inTerminal runs a command on a terminal that is so many characters wide, types what a file holds, and writes all that
// the terminal shows to another file: terminal 60 typed shown cudalab list.
func inTerminal(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 4 {
		ts.Fatalf("usage: terminal WIDTH TYPED SHOWN command...")
	}
	width, err := strconv.Atoi(args[0])
	ts.Check(err)
	cmd := exec.Command(args[3], args[4:]...)
	cmd.Dir = ts.MkAbs(".")
	for _, name := range []string{"PATH", "HOME", "TERM", "PAGER", "EDITOR", "NO_COLOR", "CUDALAB_ROOT", "GOCACHE",
		"GOMODCACHE", "XDG_CACHE_HOME"} {
		if value := ts.Getenv(name); value != "" {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
	}
	tty, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 24, Cols: uint16(width)})
	ts.Check(err)
	defer tty.Close()
	_, err = tty.WriteString(ts.ReadFile(args[1]))
	ts.Check(err)
	shown, _ := io.ReadAll(tty) // it ends with an error when the command does
	ts.Check(os.WriteFile(ts.MkAbs(args[2]), shown, 0o644))
	if err := cmd.Wait(); (err != nil) != neg {
		ts.Fatalf("ended with %v and showed\n%s", err, shown)
	}
}

// await waits until a file is there.
func await(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: await FILE")
	}
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if _, err := os.Stat(ts.MkAbs(args[0])); err == nil {
			return
		}
	}
	ts.Fatalf("%s did not appear", args[0])
}
