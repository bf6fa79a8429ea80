package run

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"os"
	"runtime"
	"time"

	"cudalab/grader/judge/visible"
	"cudalab/grader/judge/wire"
	"cudalab/grader/machine/child"
	"cudalab/grader/machine/sandbox"
)

// process is a runner that was started and has greeted.
type process struct {
	child *child.Process
	toIt  *os.File
	out   *wire.Writer
	crash chan []byte         // what Go said of a crash, once the process has ended
	notes chan []wire.Message // up to what ends a case each; closed when the runner's pipe ended
	err   error               // why, once notes is closed; nil where it was closed in order
	hello wire.Hello
}

// start starts a runner and waits for its greeting. Its error is a *startError where the process came to an end before.
func (r *Runner) start(ctx context.Context) (*process, error) {
	requestsIn, requestsOut, err := child.Pipe()
	if err != nil {
		return nil, err
	}
	notesIn, notesOut, err := child.Pipe()
	if err != nil {
		closeAll(requestsIn, requestsOut)
		return nil, err
	}
	crashIn, crashOut, err := child.Pipe()
	if err != nil {
		closeAll(requestsIn, requestsOut, notesIn, notesOut)
		return nil, err
	}
	c, err := child.Start(ctx, child.Command{
		Path: r.binary, Args: []string{r.Device}, Env: environment(r.Options),
		ExtraFiles: []*os.File{requestsIn, notesOut, crashOut},
		Limits:     child.Limits{Memory: memoryLimit(r.Device), Processes: processes},
		Sandbox:    r.Sandbox,
		Grace:      runnerGrace,
	})
	closeAll(requestsIn, notesOut, crashOut)
	if err != nil {
		closeAll(requestsOut, notesIn, crashIn)
		return nil, fmt.Errorf("starting the runner: %w", err)
	}
	p := &process{child: c, toIt: requestsOut, out: wire.NewWriter(requestsOut), notes: make(chan []wire.Message, 1),
		crash: make(chan []byte, 1)}
	go p.read(notesIn)
	go p.readCrash(crashIn)
	_ = p.out.Send(wire.Setup{Profile: r.Profile}) // a runner that is gone already does not greet
	limit := helloTimeout(r.Device)
	defer c.Allow(child.Allowance{Own: limit, Wall: patience})()
	hello, ok := wire.Hello{}, false
	if first := <-p.notes; len(first) > 0 {
		hello, ok = first[0].(wire.Hello)
	}
	if ok && hello.Version == wire.Version {
		p.hello = hello
		return p, nil
	}
	if ok {
		p.child.Quit("another version")
	}
	p.close()
	if ended := p.child.Wait(); ended.Reason == child.TooBusy {
		return nil, &Busy{ended}
	}
	return nil, &startError{child: p.child.Wait(), limit: limit, full: fullFrom(r.Device)}
}

// environment is what a runner inherits: what the driver looks for, and nothing that would tell it about the student's
// machine or change how Go runs. A confined one has no folder to call its own, and the driver is told to keep nothing.
func environment(o Options) []string {
	names := []string{"SystemRoot", "LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES",
		"NVIDIA_DRIVER_CAPABILITIES"}
	env := []string{"GOTRACEBACK=all"}
	if o.Sandbox != nil {
		env = append(env, sandbox.Environment()...)
	} else {
		names = append(names, "PATH", "HOME", "TMPDIR", "CUDA_CACHE_PATH")
	}
	for _, name := range names {
		if v, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+v)
		}
	}
	if o.GPU != "" {
		env = append(env, "CUDA_VISIBLE_DEVICES="+o.GPU) // the last one counts
	}
	return env
}

func closeAll(files ...*os.File) {
	for _, f := range files {
		f.Close()
	}
}

// read passes on what the runner says, a case's notes at once: to wake the other side for each takes longer than
// reading it.
func (p *process) read(pipe *os.File) {
	defer close(p.notes)
	defer pipe.Close()
	var said []wire.Message
	for r := wire.NewReader(pipe); ; {
		m, err := r.Next()
		if err != nil {
			p.err = err
			p.notes <- said
			return
		}
		said = append(said, m)
		switch m.(type) {
		case wire.Hello, wire.Done, wire.Fault:
			p.notes <- said
			said = nil
		}
	}
}

// maxCrash is how much is kept of what Go says of a crash: it begins with what happened, and with the stack of where it
// did.
const maxCrash = 1 << 20

// readCrash keeps what Go says of a crash. What the code under test prints does not get there.
func (p *process) readCrash(pipe *os.File) {
	defer pipe.Close()
	text, _ := io.ReadAll(io.LimitReader(pipe, maxCrash)) // what cannot be read is what nobody knows
	_, _ = io.Copy(io.Discard, pipe)                      // the process must not wait for it
	p.crash <- text
}

// ended waits for the process's end and enters how it ended.
func (p *process) ended(run *caseRun) {
	run.child = p.child.Wait()
	run.crash = <-p.crash
	p.crash <- run.crash
	if runtime.GOOS == "js" {
		run.crash = run.child.Stderr // Go has no other place for it there, nor has the page, which tells of a full stack
	}
}

// cut takes what the runner has printed since the last cut.
func (p *process) cut() string {
	defer p.child.Allow(child.Allowance{Own: endTimeout, Wall: patience})()
	mark := rand.Text() // which no code under test can print, as it cannot know it
	stdout, _ := p.child.Cut(mark, func() error { return p.out.Send(wire.Mark{Text: mark}) })
	return visible.Text(string(stdout))
}

// close asks the runner to end, and sees to it that it does; Wait of its child tells how.
func (p *process) close() {
	p.toIt.Close()
	go func() {
		for range p.notes { // whatever it still says is of no interest
		}
	}()
	go func() {
		select {
		case <-p.child.Done():
		case <-time.After(endTimeout):
			p.child.Quit(lingers)
		}
	}()
}
