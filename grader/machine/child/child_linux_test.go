package child

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"cudalab/grader/machine/self"
)

// roleVariable makes this test binary play a child's part instead of running tests.
const roleVariable = "CHILD_TEST_ROLE"

// init keeps a child's part on its first thread, as a runner does.
func init() {
	if os.Getenv(roleVariable) != "" {
		runtime.LockOSThread()
	}
}

func TestMain(m *testing.M) {
	if role := os.Getenv(roleVariable); role != "" {
		play(role)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func play(role string) {
	switch role {
	case "greet":
		fmt.Println("out")
		fmt.Fprintln(os.Stderr, "err")
		os.Exit(3)
	case "loop":
		spinForEver()
	case "hog":
		for {
			kept = append(kept, bytes.Repeat([]byte{1}, 1<<20))
		}
	case "fill":
		f, err := os.CreateTemp("", "child-")
		if err == nil {
			os.Remove(f.Name())
			_, err = f.Write(make([]byte, 1<<21))
		}
		fmt.Print(err)
	case "flood":
		line := []byte(strings.Repeat("x", 99) + "\n")
		fmt.Println("first")
		for range 1 << 20 {
			os.Stdout.Write(line)
		}
		fmt.Println("last")
	case "crash":
		syscall.Kill(os.Getpid(), syscall.SIGSEGV)
		select {}
	case "sleep":
		time.Sleep(time.Minute)
	case "leave-grandchild": // ends, but a grandchild holds its output
		report(startGrandchild(false))
	case "keep-grandchild":
		report(startGrandchild(false))
		time.Sleep(time.Minute)
	case "keep-runaway-grandchild": // out of the process group
		report(startGrandchild(true))
		time.Sleep(time.Minute)
	case "echo-extra":
		b := make([]byte, 100)
		n, _ := self.File(0).Read(b)
		self.File(1).Write(bytes.ToUpper(b[:n]))
	case "parts": // says something, then what it is told, and something else
		fmt.Print("first")
		fmt.Fprint(os.Stderr, "one")
		text, _ := bufio.NewReader(self.File(0)).ReadString('\n')
		mark := strings.TrimSpace(text)
		for _, b := range []byte(mark) { // in pieces
			os.Stdout.Write([]byte{b})
			os.Stderr.Write([]byte{b})
		}
		fmt.Print("second " + mark[:3])
		fmt.Fprint(os.Stderr, "two")
	case "stdin":
		n, err := os.Stdin.Read(make([]byte, 1))
		fmt.Println(n, err)
	}
}

// What the greedy roles work on, so that no compiler takes their work away.
var (
	kept  [][]byte
	spins int
)

// spinForEver is free of the race detector's calls, in whose code the runtime could not follow the stack.
//
//go:noinline
//go:norace
func spinForEver() {
	report("here")
	for {
		spins++
	}
}

// report tells the test something, if it has given the child a pipe to do so.
func report(what any) {
	if f := self.File(0); f != nil {
		fmt.Fprintln(f, what)
		f.Close()
	}
}

func startGrandchild(ownSession bool) int {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), roleVariable+"=sleep")
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: ownSession}
	if err := cmd.Start(); err != nil {
		panic(err)
	}
	return cmd.Process.Pid
}

func command(role string, l Limits) Command {
	return Command{
		Path:   os.Args[0],
		Env:    append(os.Environ(), roleVariable+"="+role),
		Limits: l,
	}
}

func start(t *testing.T, ctx context.Context, c Command) *Process {
	t.Helper()
	p, err := Start(ctx, c)
	require.NoError(t, err)
	return p
}

// startReporting starts a child and waits for its report.
func startReporting(t *testing.T, c Command) (p *Process, report string) {
	t.Helper()
	r, w, err := os.Pipe()
	require.NoError(t, err)
	defer r.Close()
	c.ExtraFiles = []*os.File{w}
	p = start(t, context.Background(), c)
	w.Close()
	line, err := bufio.NewReader(r).ReadString('\n')
	require.NoError(t, err)
	return p, strings.TrimSpace(line)
}

func alive(pid int) bool { return syscall.Kill(pid, 0) == nil }

// dies waits until init, or whoever inherits orphans here, has reaped a killed grandchild.
func dies(pid int) func() bool {
	return func() bool {
		if !alive(pid) {
			return true
		}
		_, running := readStat(pid)
		return !running
	}
}

func TestResultOfAnOrdinaryChild(t *testing.T) {
	r := start(t, context.Background(), command("greet", Limits{Wall: time.Minute})).Wait()
	require.Equal(t, Exited, r.Reason)
	require.False(t, r.Stopped())
	require.Equal(t, 3, r.ExitCode)
	require.Nil(t, r.Signal)
	require.Equal(t, "out\n", string(r.Stdout))
	require.Equal(t, "err\n", string(r.Stderr))
	require.False(t, r.Truncated)
	require.Positive(t, r.Duration)
}

func TestNoSuchProgram(t *testing.T) {
	before := openFiles(t)
	_, err := Start(context.Background(), Command{Path: "/no/such/program"})
	require.ErrorIs(t, err, os.ErrNotExist)
	require.Equal(t, before, openFiles(t))
}

func TestWallTime(t *testing.T) {
	c := command("loop", Limits{Wall: 200 * time.Millisecond})
	c.Grace = 5 * time.Second
	r := start(t, context.Background(), c).Wait()
	require.Equal(t, WallTime, r.Reason)
	require.True(t, r.Stopped())
	require.Less(t, r.Duration, time.Minute)
}

func TestLastWordsShowTheStack(t *testing.T) {
	c := command("loop", Limits{Wall: time.Minute})
	c.Grace = 10 * time.Second
	p, _ := startReporting(t, c)
	p.Quit(Cancelled)
	r := p.Wait()
	require.Equal(t, Cancelled, r.Reason)
	require.Regexp(t, `(?s)^SIGQUIT.*\bchild\.spinForEver\(`, string(r.Stderr))
}

// What is stopped while it waits for a processor, with another signal to see to, says where it is as well.
func TestLastWordsShowTheStackOnABusyMachine(t *testing.T) {
	var first unix.CPUSet
	first.Set(0)
	hog, _ := startReporting(t, command("loop", Limits{Wall: time.Minute}))
	defer func() { hog.Quit(Cancelled); hog.Wait() }()
	require.NoError(t, unix.SchedSetaffinity(hog.cmd.Process.Pid, &first))
	for range 8 {
		c := command("loop", Limits{Wall: time.Minute})
		c.Grace = 10 * time.Second
		p, _ := startReporting(t, c)
		// and that of the first thread, which alone gets little time from here on
		pid := p.cmd.Process.Pid
		for told := userTicks(t, pid); userTicks(t, pid) < told+5; { // it has told where it is, and not yet begun to loop
			time.Sleep(10 * time.Millisecond)
		}
		require.NoError(t, unix.SchedSetaffinity(pid, &first))
		require.NoError(t, unix.Setpriority(unix.PRIO_PROCESS, pid, 19))
		time.Sleep(20 * time.Millisecond)
		require.NoError(t, unix.Tgkill(pid, pid, unix.SIGURG))
		p.Quit(Cancelled)
		require.Regexp(t, `(?s)^SIGQUIT.*\bchild\.spinForEver\(`, string(p.Wait().Stderr))
	}
}

// userTicks is how much time a process has computed, in hundredths of a second (proc_pid_stat(5)).
func userTicks(t *testing.T, pid int) int {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	require.NoError(t, err)
	_, behindName, _ := strings.Cut(string(text), ") ")
	ticks, err := strconv.Atoi(strings.Fields(behindName)[11])
	require.NoError(t, err)
	return ticks
}

func TestWithoutGraceAChildIsKilledAtOnce(t *testing.T) {
	r := start(t, context.Background(), command("loop", Limits{Wall: 100 * time.Millisecond})).Wait()
	require.Equal(t, WallTime, r.Reason)
	require.Equal(t, syscall.SIGKILL, r.Signal)
	require.Equal(t, -1, r.ExitCode)
	require.Empty(t, r.Stderr)
}

func TestCPUTime(t *testing.T) {
	r := start(t, context.Background(), command("loop", Limits{CPU: 100 * time.Millisecond, Wall: time.Minute})).Wait()
	require.Equal(t, CPUTime, r.Reason)
}

func TestMemory(t *testing.T) {
	c := command("hog", Limits{Memory: 200 << 20, Wall: time.Minute})
	c.Grace = 5 * time.Second
	r := start(t, context.Background(), c).Wait()
	require.Equal(t, Memory, r.Reason)
	require.Greater(t, r.Peak, uint64(200<<20))
	require.Contains(t, string(r.Stderr), "SIGQUIT")
}

func TestFileSize(t *testing.T) {
	r := start(t, context.Background(), command("fill", Limits{FileSize: 1 << 20, Wall: time.Minute})).Wait()
	require.Equal(t, Exited, r.Reason)
	require.Contains(t, string(r.Stdout), "file too large")
}

func TestProcesses(t *testing.T) {
	r := start(t, context.Background(), command("keep-grandchild", Limits{Processes: 1, Wall: time.Minute})).Wait()
	require.Equal(t, Processes, r.Reason)
}

func TestFloodIsBoundedAndNotBlocked(t *testing.T) {
	r := start(t, context.Background(), command("flood", Limits{Wall: time.Minute, Output: 4096})).Wait()
	require.Equal(t, Exited, r.Reason)
	require.Equal(t, 0, r.ExitCode)
	require.True(t, r.Truncated)
	require.Less(t, len(r.Stdout), 4096+100)
	require.True(t, strings.HasPrefix(string(r.Stdout), "first\nxxx"))
	require.True(t, strings.HasSuffix(string(r.Stdout), "xxx\nlast\n"))
	written := len("first\n") + 100<<20 + len("last\n")
	require.Contains(t, string(r.Stdout), "\n["+strconv.Itoa(written-4096)+" bytes of output left out]\n")
}

func TestForeignSignal(t *testing.T) {
	p := start(t, context.Background(), command("sleep", Limits{}))
	require.NoError(t, syscall.Kill(p.cmd.Process.Pid, syscall.SIGKILL))
	r := p.Wait()
	require.Equal(t, Signalled, r.Reason)
	require.False(t, r.Stopped())
	require.Equal(t, syscall.SIGKILL, r.Signal)
}

func TestGrandchildren(t *testing.T) {
	for _, role := range []string{"leave-grandchild", "keep-grandchild", "keep-runaway-grandchild"} {
		t.Run(role, func(t *testing.T) {
			p, report := startReporting(t, command(role, Limits{Wall: time.Minute}))
			pid, err := strconv.Atoi(report)
			require.NoError(t, err)
			if strings.HasPrefix(role, "keep") {
				p.Quit(Cancelled)
			}
			r := p.Wait()
			require.Less(t, r.Duration, 30*time.Second, "neither a grandchild's sleep nor its hold on the pipe was waited for")
			require.Eventually(t, dies(pid), 10*time.Second, 10*time.Millisecond)
		})
	}
}

func TestContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	p := start(t, ctx, command("sleep", Limits{}))
	cancel()
	require.Equal(t, Cancelled, p.Wait().Reason)

	_, err := Start(ctx, command("greet", Limits{}))
	require.ErrorIs(t, err, context.Canceled)
}

func TestQuit(t *testing.T) {
	p := start(t, context.Background(), command("sleep", Limits{}))
	p.Quit("protocol")
	p.Quit("second thoughts")
	require.Equal(t, Reason("protocol"), p.Wait().Reason)

	p = start(t, context.Background(), command("greet", Limits{}))
	<-p.Done()
	p.Quit("too late")
	require.Equal(t, Exited, p.Wait().Reason)
}

func TestExtraFilesAndNothingElse(t *testing.T) {
	toChild, ours, err := os.Pipe()
	require.NoError(t, err)
	back, fromChild, err := os.Pipe()
	require.NoError(t, err)
	c := command("echo-extra", Limits{Wall: time.Minute})
	c.ExtraFiles = []*os.File{toChild, fromChild}
	p := start(t, context.Background(), c)
	toChild.Close()
	fromChild.Close()
	_, err = ours.WriteString("hello")
	require.NoError(t, err)
	b := make([]byte, 100)
	n, err := back.Read(b)
	require.NoError(t, err)
	require.Equal(t, "HELLO", string(b[:n]))
	require.Equal(t, Exited, p.Wait().Reason)
	ours.Close()
	back.Close()

	r := start(t, context.Background(), command("stdin", Limits{Wall: time.Minute})).Wait()
	require.Equal(t, "0 EOF\n", string(r.Stdout))
}

func TestNothingIsLeft(t *testing.T) {
	start(t, context.Background(), command("greet", Limits{})).Wait() // what the runtime opens once is open now
	files, goroutines := openFiles(t), runtime.NumGoroutine()
	for _, role := range []string{"greet", "crash", "loop", "leave-grandchild"} {
		start(t, context.Background(), command(role, Limits{Wall: 200 * time.Millisecond})).Wait()
	}
	require.Equal(t, files, openFiles(t))
	for deadline := time.Now().Add(5 * time.Second); runtime.NumGoroutine() > goroutines; {
		require.True(t, time.Now().Before(deadline), "goroutines left behind")
		time.Sleep(time.Millisecond)
	}
}

func openFiles(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	require.NoError(t, err)
	return len(entries)
}

func TestHeadTail(t *testing.T) {
	for _, chunk := range []int{1, 3, 7, 26} {
		for limit := 2; limit < 30; limit++ {
			h := newHeadTail(limit)
			const text = "abcdefghijklmnopqrstuvwxyz"
			for i := 0; i < len(text); i += chunk {
				h.add([]byte(text[i:min(i+chunk, len(text))]))
			}
			got, truncated := h.bytes()
			if limit >= len(text) {
				require.False(t, truncated)
				require.Equal(t, text, string(got))
				continue
			}
			require.True(t, truncated)
			want := fmt.Sprintf("%s\n[%d bytes of output left out]\n%s",
				text[:limit-limit/2], len(text)-limit, text[len(text)-limit/2:])
			require.Equal(t, want, string(got), "limit %d, chunk %d", limit, chunk)
		}
	}
}

// A child costs this much beyond what it does itself.
func BenchmarkStartAndWait(b *testing.B) {
	for b.Loop() {
		p, err := Start(context.Background(), Command{Path: "/bin/true", Limits: Limits{Wall: time.Minute}})
		if err != nil {
			b.Fatal(err)
		}
		if r := p.Wait(); r.ExitCode != 0 {
			b.Fatal(r)
		}
	}
}

func BenchmarkPoll(b *testing.B) {
	t := newTree(os.Getpid())
	for b.Loop() {
		t.sample()
	}
}

func TestCut(t *testing.T) {
	read, write, err := os.Pipe()
	require.NoError(t, err)
	defer read.Close()
	defer write.Close()
	c := command("parts", Limits{})
	c.ExtraFiles = []*os.File{read}
	p := start(t, context.Background(), c)
	stdout, stderr := p.Cut("MARK", func() error {
		_, err := write.WriteString("MARK\n")
		return err
	})
	require.Equal(t, "first", string(stdout))
	require.Equal(t, "one", string(stderr))
	// The start of a mark is no mark.
	stdout, stderr = p.Cut("MARK", func() error { return nil })
	require.Empty(t, stdout)
	require.Empty(t, stderr)
	r := p.Wait()
	require.Equal(t, "second MAR", string(r.Stdout))
	require.Equal(t, "two", string(r.Stderr))
}
