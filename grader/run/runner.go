package run

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"cudalab/grader/child"
	"cudalab/grader/suite"
	"cudalab/grader/wire"
	"cudalab/native/trace"
)

// Bounds on a runner. They are generous: what they end would not have ended by itself.
const (
	helloTimeout = 60 * time.Second // a first driver start in a boot takes seconds
	caseTimeout  = 10 * time.Second // a case takes milliseconds; a timed one on a GPU about a second
	endTimeout   = 5 * time.Second  // from the closing of the pipe
	runnerGrace  = 2 * time.Second  // for a Go program to print its stacks
	processes    = 8
)

// memoryLimit is how many bytes a runner may have resident. The simulator needs some ten MiB, a CUDA context some hundred.
func memoryLimit(device string) uint64 {
	if device == "sim" {
		return 1 << 30
	}
	return 4 << 30
}

// tooLong is the reason for stopping a runner whose case takes too long.
const tooLong child.Reason = "case time"

// process is a runner that was started and has greeted.
type process struct {
	child *child.Process
	toIt  *os.File
	out   *wire.Writer
	notes chan wire.Message // closed when the runner's pipe ended
	err   error             // why, once notes is closed; nil where it was closed in order
	hello wire.Hello
}

// start starts a runner and waits for its greeting.
func start(ctx context.Context, binary, device string) (*process, error) {
	requestsIn, requestsOut, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	notesIn, notesOut, err := os.Pipe()
	if err != nil {
		requestsIn.Close()
		requestsOut.Close()
		return nil, err
	}
	c, err := child.Start(ctx, child.Command{
		Path: binary, Args: []string{device}, Env: environment(),
		ExtraFiles: []*os.File{requestsIn, notesOut},
		Limits:     child.Limits{Memory: memoryLimit(device), Processes: processes},
		Grace:      runnerGrace,
	})
	requestsIn.Close()
	notesOut.Close()
	if err != nil {
		requestsOut.Close()
		notesIn.Close()
		return nil, fmt.Errorf("starting the runner: %w", err)
	}
	p := &process{child: c, toIt: requestsOut, out: wire.NewWriter(requestsOut), notes: make(chan wire.Message, 64)}
	go p.read(notesIn)
	timer := time.NewTimer(helloTimeout)
	defer timer.Stop()
	select {
	case m := <-p.notes:
		hello, ok := m.(wire.Hello)
		if !ok || hello.Version != wire.Version {
			return nil, fmt.Errorf("the runner did not greet: %s", p.lastWords())
		}
		p.hello = hello
		return p, nil
	case <-timer.C:
		p.child.Quit(tooLong)
		return nil, fmt.Errorf("the runner did not greet within %v: %s", helloTimeout, p.lastWords())
	}
}

// lastWords ends a runner that did not greet and says what it wrote.
func (p *process) lastWords() string {
	p.close()
	p.child.Quit("it did not greet")
	r := p.child.Wait()
	if len(r.Stderr) > 0 {
		return string(r.Stderr)
	}
	return fmt.Sprintf("%s, exit status %d", r.Reason, r.ExitCode)
}

// environment is what a runner inherits: what the driver looks for, and nothing that would tell it about the student's
// machine or change how Go runs.
func environment() []string {
	env := []string{"GOTRACEBACK=all"}
	for _, name := range []string{"PATH", "HOME", "TMPDIR", "SystemRoot", "LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES",
		"CUDA_CACHE_PATH", "NVIDIA_VISIBLE_DEVICES", "NVIDIA_DRIVER_CAPABILITIES"} {
		if v, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+v)
		}
	}
	return env
}

func (p *process) read(pipe *os.File) {
	defer close(p.notes)
	defer pipe.Close()
	for r := wire.NewReader(pipe); ; {
		m, err := r.Next()
		if err != nil {
			p.err = err
			return
		}
		p.notes <- m
	}
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
			p.child.Quit(tooLong)
		}
	}()
}

// caseRun is what became of one case.
type caseRun struct {
	notes *suite.CaseNotes
	end   ending
	spent bool         // the process is of no further use, though the case ended well
	fault wire.Fault   // where end is faulted or deviceLost
	child child.Result // where end is died, timedOut or outOfMemory
}

type ending int

const (
	done        ending = iota
	faulted            // a call of the grader's own failed
	deviceLost         // the device became unusable
	died               // the process ended in the middle
	timedOut           // and was stopped
	outOfMemory        // of the host, and was stopped
	nonsense           // what came over the pipe made no sense
	cancelled          // somebody stopped cudalab
)

// ask has the runner run one case. After any end but done the process is of no further use.
func (p *process) ask(ctx context.Context, c *suite.Case, request wire.Request) caseRun {
	run := caseRun{notes: &suite.CaseNotes{ID: c.ID, Trace: &trace.Trace{},
		Values: map[string][]uint64{}, Samples: map[string][]int64{}}}
	if err := p.out.Send(request); err != nil {
		run.end, run.child = died, p.child.Wait()
		return run
	}
	timer := time.NewTimer(caseTimeout)
	defer timer.Stop()
	for {
		select {
		case m, open := <-p.notes:
			if !open {
				return p.broken(run)
			}
			if run.take(m) {
				return run
			}
		case <-timer.C:
			p.child.Quit(tooLong)
			timer.Reset(time.Hour) // the pipe ends as soon as the child does
		case <-ctx.Done():
			p.close()
			run.end, run.child = cancelled, p.child.Wait()
			return run
		}
	}
}

// broken finds out why the pipe ended in the middle of a case.
func (p *process) broken(run caseRun) caseRun {
	if p.err != nil && !isEnd(p.err) {
		p.child.Quit("nonsense on the pipe")
	}
	p.close()
	run.child = p.child.Wait()
	switch {
	case run.child.Reason == tooLong:
		run.end = timedOut
	case run.child.Reason == child.Memory:
		run.end = outOfMemory
	case run.child.Reason == child.Cancelled:
		run.end = cancelled
	case p.err != nil && !isEnd(p.err):
		run.end, run.fault = nonsense, wire.Fault{Message: p.err.Error()}
	default:
		run.end = died
	}
	return run
}

// take keeps one note; it reports whether the case is over.
func (run *caseRun) take(m wire.Message) bool {
	n := run.notes
	switch m := m.(type) {
	case suite.Outcome:
		n.Outcomes = append(n.Outcomes, m)
	case wire.Value:
		n.Values[m.Name] = append(n.Values[m.Name], m.Value)
	case wire.Sample:
		n.Samples[m.Series] = append(n.Samples[m.Series], m.Nanoseconds)
	case *trace.Trace:
		n.Trace = m
	case wire.Done:
		run.end, run.spent = done, m.Spent
		return true
	case wire.Fault:
		run.end, run.fault = faulted, m
		if m.DeviceLost {
			run.end = deviceLost
		}
		return true
	default:
		run.end, run.fault = nonsense, wire.Fault{Message: fmt.Sprintf("the runner sent a %T", m)}
		return true
	}
	return false
}

// isEnd reports whether the pipe just ended, as it does when the process does.
func isEnd(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}
