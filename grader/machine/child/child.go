//go:build !js

package child

import (
	"context"
	"os/exec"
	"runtime"
	"syscall"
	"time"

	"cudalab/grader/machine/sandbox"
)

// pipeDelay is how long Wait goes on reading pipes that some process which got away still holds open.
const pipeDelay = 500 * time.Millisecond

// system is what a Process is to the operating system.
type system struct {
	cmd      *exec.Cmd
	policy   *sandbox.Policy // nil without sandbox; so with confined
	confined *sandbox.Confined
	grace    time.Duration
	limits   Limits
	began    time.Time

	stdout, stderr *pipe

	watched chan struct{} // closed when watch, the owner of tree and peak until then, has returned
	tree    *tree
	peak    uint64
}

// Start starts a child. It ends when ctx is done, if not before. Every child that was started must be waited for.
func Start(ctx context.Context, c Command) (*Process, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if c.Limits.Output <= 0 {
		c.Limits.Output = DefaultOutput
	}
	p := newProcess(system{
		cmd:     exec.Command(c.Path, c.Args...),
		policy:  c.Sandbox,
		grace:   c.Grace,
		limits:  c.Limits,
		watched: make(chan struct{}),
	})
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
