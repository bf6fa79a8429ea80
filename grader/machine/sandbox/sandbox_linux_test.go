package sandbox_test

import (
	"bufio"
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	_ "github.com/ebitengine/purego" // cudalab and its runners have it, and Go treats them as programs with C for that
	"github.com/stretchr/testify/require"

	"cudalab/grader/machine/child"
	"cudalab/grader/machine/sandbox"
)

func TestMain(m *testing.M) {
	if role := os.Getenv(roleVariable); role != "" {
		play(role)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// needSandbox skips a test where the system lacks what would make it pass.
func needSandbox(t *testing.T) sandbox.Report {
	t.Helper()
	r := sandbox.Supported()
	for _, p := range r.Parts {
		if !p.InForce && (p.Name == "landlock" || p.Name == "seccomp") {
			t.Skip(p.Text)
		}
	}
	return r
}

func run(t *testing.T, c child.Command) child.Result {
	t.Helper()
	p, err := child.Start(context.Background(), c)
	require.NoError(t, err)
	return p.Wait()
}

// neighbour is another's folder with a file in it, and a socket that listens under the folder's name.
func neighbour(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "secret"), []byte("secret"), 0o600))
	l, err := net.Listen("unix", "@"+filepath.Base(dir))
	require.NoError(t, err)
	t.Cleanup(func() { l.Close() })
	return dir
}

func TestEveryAttemptIsDenied(t *testing.T) {
	needSandbox(t)
	t.Run("sim", func(t *testing.T) { attemptAll(t, &sandbox.Policy{}) })
	t.Run("gpu", func(t *testing.T) { attemptAll(t, &sandbox.Policy{GPU: true}) })
}

func attemptAll(t *testing.T, policy *sandbox.Policy) {
	dir := neighbour(t)
	c := command("attempts", policy)
	c.Env = append(c.Env, targetVariable+"="+dir)
	r := run(t, c)
	require.Equal(t, child.Exited, r.Reason, "%s", r.Stderr)
	require.Zero(t, r.ExitCode, "%s", r.Stderr)
	got := outcomes(r.Stdout)
	for name, outcome := range got {
		if policy.GPU && (name == memoryFile || name == unixSocket) {
			require.Equal(t, "<nil>", outcome, "the driver needs it")
			continue
		}
		require.True(t, denied(outcome), "%s: %s", name, outcome)
	}
	require.Len(t, got, len(attempts))
	text, err := os.ReadFile(filepath.Join(dir, "secret"))
	require.NoError(t, err)
	require.Equal(t, "secret", string(text))
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, entries, 1)
}

// The attempts are real ones: without the sandbox they go through.
func TestAttemptsGoThroughWithoutSandbox(t *testing.T) {
	dir := neighbour(t)
	c := command("comparable attempts", nil)
	c.Env = append(c.Env, targetVariable+"="+dir)
	got := outcomes(run(t, c).Stdout)
	require.Len(t, got, len(comparable))
	for name, outcome := range got {
		require.Equal(t, "<nil>", outcome, name)
	}
}

// cuInit names its threads in /proc, and fails if it cannot.
func TestTheDriverMayNameItsThreads(t *testing.T) {
	needSandbox(t)
	require.Equal(t, "<nil>\n", string(run(t, command("name a thread", &sandbox.Policy{GPU: true})).Stdout))
	require.Contains(t, string(run(t, command("name a thread", &sandbox.Policy{})).Stdout), "permission denied")
}

func TestNothingIsInherited(t *testing.T) {
	needSandbox(t)
	leak, err := syscall.Dup(1) // unlike Go's own files it is not closed when a program is executed
	require.NoError(t, err)
	defer syscall.Close(leak)
	read, write, err := os.Pipe()
	require.NoError(t, err)
	defer read.Close()
	defer write.Close()
	r := run(t, command("descriptors", &sandbox.Policy{}, write))
	require.Contains(t, string(r.Stdout), "0 1 2 3 ")
	require.NotContains(t, strings.Fields(string(r.Stdout)), strconv.Itoa(leak))

	r = run(t, command("descriptors", nil, write))
	require.Contains(t, strings.Fields(string(r.Stdout)), strconv.Itoa(leak))
}

func TestPrivilegesAndLimits(t *testing.T) {
	needSandbox(t)
	r := run(t, command("state", &sandbox.Policy{ReadOnly: []string{"/proc"}}))
	state := strings.ReplaceAll(string(r.Stdout), "\t", " ")
	require.Contains(t, state, "NoNewPrivs: 1")
	require.Contains(t, state, "Seccomp: 2")
	require.Contains(t, state, "CapEff: 0000000000000000")
	require.Contains(t, state, "CapPrm: 0000000000000000")
	require.Contains(t, state, "true address space true", "CUDA and Go reserve far more than they use")
	require.Contains(t, state, "true core false 0")
}

func TestLimits(t *testing.T) {
	report := needSandbox(t)
	t.Run("loop", func(t *testing.T) {
		c := command("loop", &sandbox.Policy{})
		c.Limits.CPU = 200 * time.Millisecond
		require.Equal(t, child.CPUTime, run(t, c).Reason)
		c.Limits = child.Limits{Wall: 3 * time.Second} // long enough that Go has its handlers by then, whatever else runs
		c.Grace = 10 * time.Second
		r := run(t, c)
		require.Equal(t, child.WallTime, r.Reason)
		require.Contains(t, string(r.Stderr), "SIGQUIT", "the stacks tell where it was")
	})
	t.Run("memory", func(t *testing.T) {
		c := command("hog", &sandbox.Policy{})
		c.Limits.Memory = 200 << 20
		require.Equal(t, child.Memory, run(t, c).Reason)
	})
	t.Run("output", func(t *testing.T) {
		r := run(t, command("flood", &sandbox.Policy{}))
		require.Equal(t, child.Exited, r.Reason)
		require.True(t, r.Truncated)
		require.Contains(t, string(r.Stdout), "bytes of output left out")
		require.Less(t, len(r.Stdout), child.DefaultOutput+100)
	})
	t.Run("open files", func(t *testing.T) {
		r := run(t, command("open files", &sandbox.Policy{OpenFiles: 50}))
		require.Contains(t, string(r.Stdout), "too many open files")
		opened, err := strconv.Atoi(strings.Fields(string(r.Stdout))[0])
		require.NoError(t, err)
		require.Less(t, opened, 50)
	})
	t.Run("disk", func(t *testing.T) {
		dir := t.TempDir()
		c := command("fill the disk", &sandbox.Policy{ReadWrite: []string{dir}, FileSize: 5 << 20})
		c.Env = append(c.Env, targetVariable+"="+dir)
		r := run(t, c)
		require.Contains(t, string(r.Stdout), "file too large")
		info, err := os.Stat(filepath.Join(dir, "filling"))
		require.NoError(t, err)
		require.EqualValues(t, 5<<20, info.Size())
	})
	t.Run("files in memory", func(t *testing.T) {
		r := run(t, command("fill a file in memory", &sandbox.Policy{GPU: true, FileSize: 5 << 20}))
		require.Contains(t, string(r.Stdout), "file too large")
	})
	t.Run("threads", func(t *testing.T) {
		if !report.Threads {
			t.Skip("threads are not counted here: see TestReportSaysWhatIsMissing")
		}
		c := command("threads", &sandbox.Policy{Threads: 100})
		r := run(t, c)
		require.Equal(t, child.Exited, r.Reason)
		require.Regexp(t, "failed to create new OS thread|pthread_create failed", string(r.Stderr), "without cgo, and with")
	})
	t.Run("suicide", func(t *testing.T) {
		r := run(t, command("kill itself", &sandbox.Policy{}))
		require.Equal(t, child.Signalled, r.Reason)
		require.Equal(t, syscall.SIGKILL, r.Signal)
	})
}

func TestItDiesWithItsGrader(t *testing.T) {
	needSandbox(t)
	read, write, err := os.Pipe()
	require.NoError(t, err)
	defer read.Close()
	grader := exec.Command(os.Args[0])
	grader.Env = append(os.Environ(), roleVariable+"=grade")
	grader.ExtraFiles = []*os.File{write}
	require.NoError(t, grader.Start())
	write.Close()
	line, err := bufio.NewReader(read).ReadString('\n')
	require.NoError(t, err)
	pid, err := strconv.Atoi(strings.TrimSpace(line))
	require.NoError(t, err)
	require.NoError(t, grader.Process.Kill())
	_ = grader.Wait()
	require.Eventually(t, func() bool {
		state, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
		return err != nil || strings.Contains(string(state), ") Z ")
	}, 10*time.Second, 10*time.Millisecond)
}

func TestWhatCannotStartSaysWhy(t *testing.T) {
	needSandbox(t)
	_, err := child.Start(context.Background(), child.Command{Path: "/no/such/program", Sandbox: &sandbox.Policy{}})
	require.ErrorContains(t, err, "/no/such/program")
	require.ErrorContains(t, err, "no such file")
	text := filepath.Join(t.TempDir(), "text")
	require.NoError(t, os.WriteFile(text, []byte("text"), 0o755))
	_, err = child.Start(context.Background(), child.Command{Path: text, Sandbox: &sandbox.Policy{}})
	require.ErrorContains(t, err, "exec format error")
}
