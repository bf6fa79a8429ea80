package child

import (
	"context"
	"errors"
	"os"
	"strconv"
	"syscall/js"
	"time"

	"cudalab/grader/machine/self"
)

// In a browser a child is a program of WebAssembly in a worker of its own, which the page's part of this package
// starts: grader/browser/site/engine. It keeps the limit on memory.
//
// Nothing there tells what CPU time a worker takes. What is counted instead is time in which this worker was woken when
// it had asked to be: where the machine has no time for the one it has none for the other.

// system is what a Process is to the page.
type system struct {
	worker         js.Value
	limits         Limits
	began          time.Time
	stdout, stderr *extract
	output, ended  js.Func
	taken          usage
	looked         time.Time
}

// usage is what a child takes, as far as that is known.
type usage struct{ cpu time.Duration }

// measured says that the time is taken for CPU time.
const measured = true

func asleep() bool { return false }

// look counts the time since the last look.
func (p *Process) look(now time.Time) {
	p.taken.cpu += min(now.Sub(p.looked), 2*pollInterval)
	p.looked = now
}

// host is the page's side.
func host() js.Value { return js.Global().Get("cudalab") }

// Start starts a child. It ends when ctx is done, if not before. Every child that was started must be waited for.
func Start(ctx context.Context, c Command) (*Process, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if c.Sandbox != nil {
		return nil, errors.New("in a browser the worker is the sandbox")
	}
	if c.Limits.Output <= 0 {
		c.Limits.Output = DefaultOutput
	}
	p := newProcess(system{limits: c.Limits, began: time.Now(), looked: time.Now(), stdout: newExtract(c.Limits.Output),
		stderr: newExtract(c.Limits.Output)})
	p.output = js.FuncOf(func(_ js.Value, args []js.Value) any {
		text := make([]byte, args[1].Length())
		js.CopyBytesToGo(text, args[1])
		of := p.stderr
		if args[0].Int() == 1 {
			of = p.stdout
		}
		of.skip(int64(args[2].Int()))
		of.add(text)
		return nil
	})
	p.ended = js.FuncOf(func(_ js.Value, args []js.Value) any {
		p.end(args[0].Int(), uint64(args[1].Float()), args[2].Bool())
		return nil
	})
	files := make([]any, len(c.ExtraFiles))
	for i, f := range c.ExtraFiles {
		files[i] = int(f.Fd())
	}
	p.worker = host().Call("spawn", map[string]any{
		"path": c.Path, "args": list(c.Args), "env": list(c.Env), "dir": c.Dir, "files": files,
		"memory": float64(c.Limits.Memory),
	}, p.output, p.ended)
	go p.watch(ctx)
	return p, nil
}

func list(texts []string) []any {
	values := make([]any, len(texts))
	for i, t := range texts {
		values[i] = t
	}
	return values
}

// watch holds the child to its limits until it has ended.
func (p *Process) watch(ctx context.Context) {
	ticker := time.NewTicker(pollInterval)
	defer ticker.Stop()
	for {
		select {
		case <-p.gone:
			return
		case <-p.stopping:
			p.worker.Call("stop")
			return
		case <-ctx.Done():
			p.Quit(Cancelled)
		case <-ticker.C:
			now := time.Now()
			p.look(now)
			p.mu.Lock()
			reason := Reason("")
			if p.account != nil {
				reason = p.account.charge(now, p.taken, asleep)
			}
			p.mu.Unlock()
			switch {
			case reason != "":
			case p.limits.CPU > 0 && p.taken.cpu > p.limits.CPU:
				reason = CPUTime
			case p.limits.Wall > 0 && now.Sub(p.began) > p.limits.Wall:
				reason = WallTime
			}
			if reason != "" {
				p.Quit(reason)
			}
		}
	}
}

// skip counts bytes that whoever passes the output on has left out, having passed on as many before and behind as are
// kept.
func (k *extract) skip(n int64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.text.total += n
}

// end is called by the page, once, when the worker has ended: with its program's exit status, the most memory that it
// had, and whether it was refused more.
func (p *Process) end(code int, peak uint64, refused bool) {
	p.mu.Lock()
	close(p.gone)
	reason := p.reason
	p.mu.Unlock()
	if reason == "" {
		reason = Exited
		switch {
		case refused:
			reason = Memory
		case code == self.TooLong:
			reason = TooLong
		}
	}
	p.result = Result{Reason: reason, ExitCode: code, Peak: peak, CPU: p.taken.cpu, Duration: time.Since(p.began)}
	var cutOut, cutErr bool
	p.result.Stdout, cutOut = p.stdout.all()
	p.result.Stderr, cutErr = p.stderr.all()
	p.result.Truncated = cutOut || cutErr
	p.output.Release()
	p.ended.Release()
	close(p.done)
}

// Pipe is a pipe between this process and a child: one end goes into the child's Command.ExtraFiles.
func Pipe() (read, write *os.File, err error) {
	ends := host().Call("pipe")
	if read, err = opened(ends.Index(0)); err == nil {
		write, err = opened(ends.Index(1))
	}
	return read, write, err
}

// opened is a file that the page has opened: Go reads and writes what it has opened itself.
func opened(fd js.Value) (*os.File, error) {
	return os.OpenFile("/dev/fd/"+strconv.Itoa(fd.Int()), os.O_RDWR, 0)
}
