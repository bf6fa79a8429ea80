// Package child runs one process under limits and leaves nothing of it behind: when Wait returns, the process and
// what it started are gone, reaped, and their pipes closed.
//
// A child sees no terminal and no files of cudalab's: standard input is the null device, standard output and error
// are pipes of which a bounded part is kept, and only Command.ExtraFiles are inherited besides. On Linux a child also
// dies with cudalab, however cudalab ends, and can be confined by package sandbox.
//
// Limits on memory, CPU time and processes are kept by looking every 20 ms, on Linux only. Elsewhere they are not
// enforced; the limits on wall time and output are, everywhere.
package child

import (
	"context"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
	"time"

	"cudalab/grader/machine/sandbox"
)

// Command says what to run.
type Command struct {
	Path string   // the program
	Args []string // its arguments, without the program's own name
	Dir  string   // its working directory; empty: cudalab's
	Env  []string // its whole environment, "KEY=value"; nil: cudalab's
	// ExtraFiles become the child's file descriptors 3, 4 and so on. They remain the caller's, to close after Start.
	// Package inherit is the child's side of it, also where there are no such descriptors.
	ExtraFiles []*os.File
	Limits     Limits
	Sandbox    *sandbox.Policy // nil: the child may do what cudalab may
	// Grace is how long a child that has to stop may take over its last words. With a grace it is sent SIGQUIT first,
	// upon which a Go program prints the stacks of all its goroutines. Without one, and on Windows, it is killed at
	// once.
	Grace time.Duration
}

// Limits bound what a child may take. A zero field is no limit, but for Output.
type Limits struct {
	Wall      time.Duration // from Start on
	CPU       time.Duration // user and system time of the whole tree
	Memory    uint64        // resident bytes of the whole tree
	Processes int           // in the tree at one time, the child included
	FileSize  uint64        // bytes of a file that it writes; on Linux alone
	Output    int           // bytes kept of standard output, and as many of standard error; 0: DefaultOutput
}

// DefaultOutput is room for 64 KiB from the start of an output and 64 KiB from its end.
const DefaultOutput = 128 << 10

// Reason is why a child is no longer running. A caller of Quit may give one of its own.
type Reason string

// The reasons that this package gives by itself.
const (
	Exited    Reason = "exited"    // by itself; ExitCode tells how
	Signalled Reason = "signalled" // by a signal that was not ours
	WallTime  Reason = "wall time" // beyond Limits.Wall
	CPUTime   Reason = "cpu time"  // beyond Limits.CPU
	Memory    Reason = "memory"    // beyond Limits.Memory
	Processes Reason = "processes" // beyond Limits.Processes
	Cancelled Reason = "cancelled" // the context of Start was done
)

// Result is how a child ended.
type Result struct {
	Reason   Reason
	ExitCode int       // -1 where a signal ended it
	Signal   os.Signal // the signal that ended it, whoever sent it, or nil
	// Stdout and Stderr hold what was kept of the outputs. Where an output was longer than its limit, a line between its
	// start and its end says how many bytes are missing, and Truncated is set.
	Stdout, Stderr []byte
	Truncated      bool
	Peak           uint64        // resident bytes of the whole tree, the most that was seen; 0 where it cannot be seen
	CPU            time.Duration // user and system time of the child and of the children it waited for
	Duration       time.Duration // from Start to the end
}

// Stopped reports whether the child was ended from outside: by a limit, by the context or by Quit.
func (r Result) Stopped() bool { return r.Reason != Exited && r.Reason != Signalled }

const (
	pollInterval = 20 * time.Millisecond
	// pipeDelay is how long Wait goes on reading pipes that some process which got away still holds open.
	pipeDelay = 500 * time.Millisecond
)

// Process is a running child.
type Process struct {
	cmd      *exec.Cmd
	policy   *sandbox.Policy // nil without sandbox; so with confined
	confined *sandbox.Confined
	grace    time.Duration
	limits   Limits
	began    time.Time

	stdout, stderr *pipe

	mu       sync.Mutex
	reason   Reason        // why it has to stop, once somebody said so
	stopping chan struct{} // closed when reason is set
	account  *account      // of the allowance in force; nil: none

	gone    chan struct{} // closed when the child has ended
	watched chan struct{} // closed when watch, the owner of tree and peak until then, has returned
	tree    *tree
	peak    uint64

	done   chan struct{} // closed when result is there
	result Result
}

// Start starts a child. It ends when ctx is done, if not before. Every child that was started must be waited for.
func Start(ctx context.Context, c Command) (*Process, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if c.Limits.Output <= 0 {
		c.Limits.Output = DefaultOutput
	}
	p := &Process{
		cmd:      exec.Command(c.Path, c.Args...),
		policy:   c.Sandbox,
		grace:    c.Grace,
		limits:   c.Limits,
		stopping: make(chan struct{}),
		gone:     make(chan struct{}),
		watched:  make(chan struct{}),
		done:     make(chan struct{}),
	}
	p.cmd.Dir, p.cmd.Env = c.Dir, c.Env
	p.cmd.SysProcAttr = groupOfItsOwn()
	if err := passFiles(p.cmd, c.ExtraFiles); err != nil {
		return nil, err
	}
	var err error
	if p.stdout, err = openPipe(c.Limits.Output); err != nil {
		return nil, err
	}
	if p.stderr, err = openPipe(c.Limits.Output); err != nil {
		p.stdout.discard()
		return nil, err
	}
	p.cmd.Stdout, p.cmd.Stderr = p.stdout.write, p.stderr.write
	started := make(chan error)
	go p.supervise(ctx, started)
	if err := <-started; err != nil {
		return nil, err
	}
	return p, nil
}

// Wait waits for the child's end. It may be called more than once.
func (p *Process) Wait() Result {
	<-p.done
	return p.result
}

// Cut divides the child's outputs: ask has the child write the mark, which nothing else that it writes may contain, on
// both. What was kept before the mark is returned, and what follows counts as if the child had begun there. Where the
// child ends instead, what it wrote without a mark behind is in Wait's result.
func (p *Process) Cut(mark string, ask func() error) (stdout, stderr []byte) {
	out, err := p.stdout.cutAt(mark), p.stderr.cutAt(mark)
	_ = ask() // a child that cannot be asked is about to end
	return p.before(out), p.before(err)
}

// before waits for the text before a mark, or for the end.
func (p *Process) before(mark <-chan []byte) []byte {
	select {
	case text := <-mark:
		return text
	case <-p.done:
	}
	select {
	case text := <-mark:
		return text
	default:
		return nil
	}
}

// Done is closed when Wait would not wait.
func (p *Process) Done() <-chan struct{} { return p.done }

// Quit makes the child stop, with its grace, and returns at once. The first reason given is the one that Wait
// reports; a child that has ended already keeps its own.
func (p *Process) Quit(reason Reason) {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.gone:
		return
	default:
	}
	if p.reason == "" {
		p.reason = reason
		close(p.stopping)
	}
}

// supervise starts the child and sees it to its end. It keeps one thread all that time: Linux sends the signal that
// makes the child die with its parent when the thread that started it ends, not the process.
func (p *Process) supervise(ctx context.Context, started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()

	p.began = time.Now()
	if err := p.launch(); err != nil {
		p.stdout.discard()
		p.stderr.discard()
		started <- err
		return
	}
	p.tree = newTree(p.cmd.Process.Pid)
	p.stdout.keep()
	p.stderr.keep()
	go p.watch(ctx)
	started <- nil

	awaitEnd(p.cmd)
	duration := time.Since(p.began)
	p.mu.Lock()
	close(p.gone)
	reason := p.reason
	p.mu.Unlock()
	<-p.watched
	// The child is dead but, on Linux, not reaped: its process group's number cannot have passed to strangers yet.
	p.tree.kill()
	_ = p.cmd.Wait() // ProcessState tells more than its error
	outOfMemory := p.confined != nil && p.confined.Close()

	state := p.cmd.ProcessState
	p.result = Result{
		Reason:   reason,
		ExitCode: state.ExitCode(),
		Peak:     p.peak,
		CPU:      state.UserTime() + state.SystemTime(),
		Duration: duration,
	}
	r := &p.result
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		r.Signal = status.Signal()
	}
	switch {
	case r.Reason != "":
	case outOfMemory:
		r.Reason = Memory
	case r.Signal != nil:
		r.Reason = Signalled
	default:
		r.Reason = Exited
	}
	deadline := time.Now().Add(pipeDelay)
	var cutOut, cutErr bool
	r.Stdout, cutOut = p.stdout.finish(deadline)
	r.Stderr, cutErr = p.stderr.finish(deadline)
	r.Truncated = cutOut || cutErr
	close(p.done)
}

// launch starts the child's program, in the sandbox if it is to be confined.
func (p *Process) launch() (err error) {
	if p.policy != nil {
		p.confined, err = p.policy.Start(p.cmd, p.limits.Memory)
	} else {
		err = p.cmd.Start()
	}
	if err == nil && p.limits.FileSize > 0 {
		limitFiles(p.cmd.Process.Pid, p.limits.FileSize)
	}
	return err
}

// watch holds the child to its limits until it has ended.
func (p *Process) watch(ctx context.Context) {
	defer close(p.watched)
	ticker := time.NewTicker(pollInterval)
	defer ticker.Stop()
	var wall <-chan time.Time
	if p.limits.Wall > 0 {
		timer := time.NewTimer(p.limits.Wall)
		defer timer.Stop()
		wall = timer.C
	}
	p.poll()
	for {
		select {
		case <-p.gone:
			return
		case <-p.stopping:
			p.stop()
			return
		case <-ctx.Done():
			p.Quit(Cancelled)
		case <-wall:
			p.Quit(WallTime)
		case <-ticker.C:
			p.poll()
		}
	}
}

func (p *Process) poll() {
	u := p.tree.sample()
	p.peak = max(p.peak, u.memory)
	switch l := p.limits; {
	case l.Memory > 0 && u.memory > l.Memory:
		p.Quit(Memory)
	case l.CPU > 0 && u.cpu > l.CPU:
		p.Quit(CPUTime)
	case l.Processes > 0 && u.processes > l.Processes:
		p.Quit(Processes)
	}
	p.mu.Lock()
	reason := Reason("")
	if p.account != nil {
		reason = p.account.charge(time.Now(), u, p.tree.asleep)
	}
	p.mu.Unlock()
	if reason != "" {
		p.Quit(reason)
	}
}

func (p *Process) stop() {
	if p.grace > 0 && askToQuit(p.cmd.Process) {
		timer := time.NewTimer(p.grace)
		defer timer.Stop()
		select {
		case <-p.gone:
		case <-timer.C:
		}
	}
	if p.confined != nil {
		p.confined.Kill()
	}
	p.tree.kill()
	_ = p.cmd.Process.Kill() // fails only where the line above has done it already
}
