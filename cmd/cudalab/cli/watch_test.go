package cli

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/stretchr/testify/require"
	"golang.org/x/term"
)

// desk is a `cudalab watch` that is running on a course of its own, with what it has shown so far.
type desk struct {
	t     *testing.T
	root  string
	typed io.Writer
	cmd   *exec.Cmd

	mu     sync.Mutex
	shown  bytes.Buffer
	read   int // how much of shown has been looked at
	closed chan struct{}
}

// sit begins to watch, with the keys of a terminal or of a pipe. The course is reached through a link.
func sit(t *testing.T, terminal *os.File, tty *os.File, args ...string) *desk {
	t.Helper()
	program, err := os.Executable()
	require.NoError(t, err)
	d := &desk{t: t, root: filepath.Join(t.TempDir(), "Übungen"), closed: make(chan struct{})}
	real := t.TempDir()
	copyTree(t, "../../..", real)
	require.NoError(t, os.Symlink(real, d.root))
	// testscript's TestMain made a cudalab of this program: it goes by the name that it is called by.
	cudalab := filepath.Join(t.TempDir(), "cudalab")
	require.NoError(t, os.Symlink(program, cudalab))
	d.cmd = exec.Command(cudalab, append([]string{"watch", "--device", "sim"}, args...)...)
	d.cmd.Dir = d.root
	d.cmd.Env = append(os.Environ(), "PWD="+d.root, "CUDALAB_ROOT=", "NO_COLOR=", "TERM=xterm", "XDG_CACHE_HOME="+
		t.TempDir(), "GOCACHE="+goCaches(t)[0])
	var shows io.Reader
	if terminal != nil {
		d.cmd.Stdin, d.cmd.Stdout, d.cmd.Stderr = tty, tty, tty
		d.typed, shows = terminal, terminal
	} else {
		in, err := d.cmd.StdinPipe()
		require.NoError(t, err)
		out, err := d.cmd.StdoutPipe()
		require.NoError(t, err)
		d.typed, shows = in, out
	}
	require.NoError(t, d.cmd.Start())
	t.Cleanup(func() { d.cmd.Process.Kill() })
	go func() {
		defer close(d.closed)
		buffer := make([]byte, 4096)
		for {
			n, err := shows.Read(buffer)
			d.mu.Lock()
			d.shown.Write(buffer[:n])
			d.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	return d
}

func copyTree(t testing.TB, from, to string) {
	t.Helper()
	for _, part := range []string{"go.mod", "go.sum"} {
		text, err := os.ReadFile(filepath.Join(from, part))
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(to, part), text, 0o644))
	}
	for _, part := range []string{"exercises", "solutions", "kernels", "native", "grader"} {
		require.NoError(t, os.CopyFS(filepath.Join(to, part), os.DirFS(filepath.Join(from, part))))
	}
}

func (d *desk) press(text string) {
	d.t.Helper()
	_, err := io.WriteString(d.typed, text)
	require.NoError(d.t, err)
}

// sees waits until something new is shown that matches.
func (d *desk) sees(pattern string) {
	d.t.Helper()
	wanted := regexp.MustCompile(pattern)
	for deadline := time.Now().Add(60 * time.Second); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		d.mu.Lock()
		at := wanted.FindIndex(d.shown.Bytes()[d.read:])
		if at != nil {
			d.read += at[1]
			d.mu.Unlock()
			return
		}
		d.mu.Unlock()
	}
	d.t.Fatalf("%q was not shown, but\n%s", pattern, d.shown.String()[d.read:])
}

// saves writes an exercise's file: the solution's, in which a text is replaced.
func (d *desk) saves(name, old, new string) {
	d.t.Helper()
	text, err := os.ReadFile(filepath.Join(d.root, "solutions", name, name+".go"))
	require.NoError(d.t, err)
	require.Contains(d.t, string(text), old)
	edited := strings.Replace(string(text), old, new, 1)
	// As editors do: a new file takes the old one's place.
	path := filepath.Join(d.root, "exercises", name, name+".go")
	require.NoError(d.t, os.WriteFile(path+"~", []byte(edited), 0o644))
	require.NoError(d.t, os.Rename(path+"~", path))
}

// leaves waits for the end.
func (d *desk) leaves(status int) {
	d.t.Helper()
	<-d.closed
	err := d.cmd.Wait()
	if status != 0 {
		require.Error(d.t, err)
	}
	require.Equal(d.t, status, d.cmd.ProcessState.ExitCode(), d.shown.String())
}

func TestWatchThroughTheCourse(t *testing.T) {
	if testing.Short() {
		t.Skip("checks several times")
	}
	d := sit(t, nil, nil)
	d.sees(`Watching exercises/asyncpipeline: save a file and it is checked\.`)
	d.sees(`Type a letter and Enter`)
	d.sees(`NOT STARTED`)
	d.press("h\n")
	d.sees(`Hint 1 of 3 for TODO\(1a\)`)
	d.press("hint, please\n")
	d.sees(`Hint 2 of 3 for TODO\(1a\)`)
	d.press("x\n")
	d.sees(`There is no key 'x'`)

	d.saves("asyncpipeline", "return nil\n}", "return nil")
	d.sees(`error compile at exercises/asyncpipeline/asyncpipeline.go:\d+`)
	d.sees(`DOES NOT COMPILE`)
	d.saves("asyncpipeline", "return cuda.FreeAsync(data, stream)\n}", "return nil\n}")
	d.sees(`error leak at`)
	d.sees(`FAILED`)
	d.press("h\n")
	d.sees("The last check found `leak`")
	d.press("w\n")
	d.sees(`Trying changes of async-pipeline …`)
	d.sees(`One change in line \d+, in enqueue, is enough for “`)
	d.sees(`Ask again for the next step\.`)

	// What mends it passes with the failing workloads, then with new ones; then comes the next exercise.
	d.saves("asyncpipeline", "", "")
	d.sees(`It passes with the workloads that it failed on\. Now with new ones:`)
	d.sees(`PASSED`)
	d.sees(`async-pipeline has passed; ` + "`cudalab solution async-pipeline`" +
		` shows how else it may be written\. On to pool-config: A pool that keeps its memory\.`)
	d.sees(`write TODO\(1a\) in exercises/poolconfig/poolconfig.go:\d+`)
	d.saves("poolconfig", "", "")
	d.sees(`pool-config has passed; .* On to cross-stream-events`)
	d.press("p\n")
	d.sees(`pool-config: A pool that keeps its memory`)
	d.sees(`The last verdict is: passed, 100/100 on sim, today \d\d:\d\d\. The key r checks it again\.`)
	d.press("p\np\n")
	d.sees(`async-pipeline: A pipeline`)
	d.sees(`This is the first exercise\.`)
	d.press("l\n")
	d.sees(`# A pipeline that never waits`)
	d.press("q\n")
	d.leaves(0)
}

func TestWatchChecksTheLatestSave(t *testing.T) {
	d := sit(t, nil, nil, "pool-config", "--poll")
	d.sees(`NOT STARTED`)
	d.saves("poolconfig", "for i := 0; i < config.Rounds && err == nil; i++ {", "for {")
	d.sees(`Checking pool-config`)
	time.Sleep(time.Second) // the endless loop has been going round for a while, or is still being compiled
	d.saves("poolconfig", "", "")
	d.sees(`Checking pool-config`)
	d.sees(`PASSED`)
	require.NotContains(t, d.shown.String(), "TIMEOUT")
	d.press("q\n")
	d.leaves(0)
}

// onTerminal is a watch on a terminal; the terminal's settings are those before it began.
func onTerminal(t *testing.T, args ...string) (*desk, *os.File, *term.State) {
	if runtime.GOOS == "windows" {
		t.Skip("there is no pseudo-terminal")
	}
	terminal, tty, err := pty.Open()
	require.NoError(t, err)
	t.Cleanup(func() { terminal.Close() })
	require.NoError(t, pty.Setsize(terminal, &pty.Winsize{Rows: 40, Cols: 70}))
	before, err := term.GetState(int(tty.Fd()))
	require.NoError(t, err)
	return sit(t, terminal, tty, args...), tty, before
}

func requireAsBefore(t *testing.T, before *term.State, tty *os.File) {
	t.Helper()
	now, err := term.GetState(int(tty.Fd()))
	require.NoError(t, err)
	require.Equal(t, before, now, "the terminal is left as it was")
	require.NoError(t, tty.Close())
}

func TestWatchOnATerminal(t *testing.T) {
	t.Setenv("PAGER", "cat")
	d, tty, before := onTerminal(t, "--edit-cmd", "/bin/echo edited {file} at {line}")
	d.sees(`NOT STARTED`)
	d.sees(`async-pipeline \(1 of \d+\) is checked when you save\.\r\nh hint · `)
	now, err := term.GetState(int(tty.Fd()))
	require.NoError(t, err)
	require.NotEqual(t, before, now)
	d.press("h")
	d.sees(`Hint 1 of 3`)
	d.press("\x1b[A?")
	d.sees(`q  quit\r\n`)
	d.press("o")
	d.sees(`edited exercises/asyncpipeline/asyncpipeline.go at \d+\r\n`)
	d.press("s")
	d.sees(`pool-config: A pool that keeps its memory`)
	d.press("a")
	d.sees(`pool-config has not been checked since you came to it`)
	d.press("p")
	d.sees(`async-pipeline \(1 of \d+\) is checked when you save`)

	// Of a report that is longer than the screen, the first error is shown in full; all of it is a key away.
	d.saves("asyncpipeline", "return cuda.FreeAsync(data, stream)\n}", "return cuda.StreamSynchronize(stream)\n}")
	d.sees(`host-wait at`)
	d.sees(`Leave it out`)
	d.sees(`leak at [^\n]*\n\r\n`)
	d.sees(`The key a shows all of the report\.`)
	d.press("a")
	d.sees(`nothing frees`)
	d.press("q")
	require.NoError(t, d.cmd.Wait())
	requireAsBefore(t, before, tty)
}

func TestCtrlCLeavesTheTerminalAsItWas(t *testing.T) {
	d, tty, before := onTerminal(t)
	d.sees(`Checking async-pipeline`)
	d.press("\x03")
	require.Error(t, d.cmd.Wait())
	require.Equal(t, exitInterrupted, d.cmd.ProcessState.ExitCode())
	requireAsBefore(t, before, tty)
}
