package run

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"time"

	"cudalab/grader/judge/visible"
	"cudalab/grader/judge/wire"
	"cudalab/grader/machine/child"
	"cudalab/grader/machine/sandbox"
	"cudalab/grader/suite"
	"cudalab/grader/suite/verdict"
	"cudalab/native/trace"
)

// Bounds on a runner. They are generous: what they end would not have ended by itself. Those on what a student's code does
// are of its own time, as child.Allowance counts it, so that a busy machine changes no verdict.
const (
	patience    = 5 * time.Minute  // by the clock, with a machine that has no time for the runner
	endTimeout  = 5 * time.Second  // from the closing of the pipe
	runnerGrace = 10 * time.Second // for a Go program to print its stacks, on however busy a machine
	processes   = 8
)

// caseTimeout is how long a case may take. It takes milliseconds; but in a browser all takes twice as long, and a timed one on a GPU
// about a second.
func caseTimeout(device string) time.Duration {
	if device == "sim" && runtime.GOOS != "js" {
		return 5 * time.Second
	}
	return 10 * time.Second
}

// helloTimeout is how long a runner may take to greet: a first start of the driver in a boot takes seconds.
func helloTimeout(device string) time.Duration {
	if device == "sim" {
		return 10 * time.Second
	}
	return 60 * time.Second
}

// memoryLimit is how many bytes a runner may have resident. The simulator needs some ten MiB, a CUDA context some hundred.
func memoryLimit(device string) uint64 {
	if device == "sim" {
		return 1 << 30
	}
	return 4 << 30
}

// fullFrom is how many bytes a runner has resident that is about to run into the limit on them: from half of it on Go does little but
// look for garbage, of which there is none. Whether such code is stopped for its memory or, before, for the time that this
// takes would be chance; it is stopped for its memory.
func fullFrom(device string) uint64 { return memoryLimit(device)/2 + 32<<20 }

// lingers is the reason for stopping a runner that does not end though it was asked to: how its case ended is known by then.
const lingers child.Reason = "does not end"

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
func start(ctx context.Context, o Options) (*process, error) {
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
		Path: o.Binary, Args: []string{o.Device}, Env: environment(o),
		ExtraFiles: []*os.File{requestsIn, notesOut, crashOut},
		Limits:     child.Limits{Memory: memoryLimit(o.Device), Processes: processes},
		Sandbox:    o.Sandbox,
		Grace:      runnerGrace,
	})
	closeAll(requestsIn, notesOut, crashOut)
	if err != nil {
		closeAll(requestsOut, notesIn, crashIn)
		return nil, fmt.Errorf("starting the runner: %w", err)
	}
	p := &process{child: c, toIt: requestsOut, out: wire.NewWriter(requestsOut), notes: make(chan []wire.Message, 1), crash: make(chan []byte, 1)}
	go p.read(notesIn)
	go p.readCrash(crashIn)
	_ = p.out.Send(wire.Setup{Profile: o.Profile}) // a runner that is gone already does not greet
	limit := helloTimeout(o.Device)
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
	return nil, &startError{child: p.child.Wait(), limit: limit, full: fullFrom(o.Device)}
}

func closeAll(files ...*os.File) {
	for _, f := range files {
		f.Close()
	}
}

// startError is the error where a runner ended before it greeted. What runs before that is the driver's start and the
// initialisation of all packages in the runner, among them the student's.
type startError struct {
	child child.Result
	limit time.Duration
	full  uint64 // as fullFrom has it
}

func (e *startError) Error() string {
	switch {
	case e.child.Reason == child.TooLong:
		return fmt.Sprintf("the runner did not greet within %v", e.limit)
	}
	return fmt.Sprintf("the runner did not greet: %s, exit status %d", e.child.Reason, e.child.ExitCode)
}

// run is the end as that of a case, where the code under test is what ended the runner: it must have code, which starts says, that runs
// when the program starts. What Go says of a crash goes the way of all that is printed then, so it cannot acquit anybody.
func (e *startError) run(caseID string, starts bool, l locator) (caseRun, bool) {
	run := emptyRun(caseID)
	run.notGreeted, run.end, run.child, run.crash = true, endOf(e.child, e.full), e.child, e.child.Stderr
	_, inside := parseCrash(run.crash).in(l)
	return run, inside || starts
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
	if o.Visible != "" {
		env = append(env, "CUDA_VISIBLE_DEVICES="+o.Visible) // the last one counts
	}
	return env
}

// read passes on what the runner says, a case's notes at once: to wake the other side for each takes longer than reading it.
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

// maxCrash is how much is kept of what Go says of a crash: it begins with what happened, and with the stack of where it did.
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

// caseRun is what became of one case.
type caseRun struct {
	notes      *verdict.CaseNotes
	end        ending
	notGreeted bool         // the process ended before it could be asked
	fault      wire.Fault   // where end is faulted or deviceLost
	child      child.Result // where end is died, timedOut or outOfMemory
	crash      []byte       // what Go said then
	blamed     bool         // what nothing explains is the code's doing
}

type ending int

const (
	done        ending = iota
	faulted            // a call of the grader's own failed
	deviceLost         // the device became unusable
	died               // the process ended in the middle
	timedOut           // and was stopped
	starved            // the machine had no time for it, and it was stopped
	outOfMemory        // of the host, and was stopped
	nonsense           // what came over the pipe made no sense
	cancelled          // somebody stopped cudalab
)

func emptyRun(caseID string) caseRun {
	return caseRun{notes: &verdict.CaseNotes{ID: caseID, Trace: &trace.Trace{},
		Values: map[string][]uint64{}, Samples: map[string][]int64{}}}
}

// ask has the runner run one case. After any end but done the process is of no further use.
func (p *process) ask(ctx context.Context, c *suite.Case, request wire.Request) caseRun {
	run := emptyRun(c.ID)
	if err := p.out.Send(request); err != nil {
		run.end = died
		p.ended(&run)
		return run
	}
	defer p.child.Allow(child.Allowance{Own: caseTimeout(p.hello.Device.Kind), Wall: patience})()
	for {
		select {
		case said, open := <-p.notes:
			if !open {
				return p.broken(run)
			}
			run.makeRoom(said)
			for _, m := range said {
				if run.take(m) {
					return run
				}
			}
		case <-ctx.Done():
			p.close()
			run.end = cancelled
			p.ended(&run)
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
	p.ended(&run)
	run.end = endOf(run.child, fullFrom(p.hello.Device.Kind))
	if run.end == died && p.err != nil && !isEnd(p.err) {
		run.end, run.fault = nonsense, wire.Fault{Message: p.err.Error()}
	}
	return run
}

// endOf is what the end of the process means for its case.
func endOf(r child.Result, full uint64) ending {
	switch r.Reason {
	case child.TooLong:
		if r.Peak > full {
			return outOfMemory
		}
		return timedOut
	case child.TooBusy:
		return starved
	case child.Memory:
		return outOfMemory
	case child.Cancelled:
		return cancelled
	}
	return died
}

// makeRoom makes room for all values of a case at once: append alone would copy a million of them five times.
func (run *caseRun) makeRoom(said []wire.Message) {
	more := map[string]int{}
	for _, m := range said {
		if v, ok := m.(wire.Value); ok {
			more[v.Name] += len(v.Values)
		}
	}
	for name, n := range more {
		run.notes.Values[name] = slices.Grow(run.notes.Values[name], n)
	}
}

// take keeps one note; it reports whether the case is over.
func (run *caseRun) take(m wire.Message) bool {
	n := run.notes
	switch m := m.(type) {
	case verdict.Outcome:
		m.Err, m.Panic, m.Odd.What = visible.Line(m.Err), visible.Line(m.Panic), visible.Line(m.Odd.What)
		n.Outcomes = append(n.Outcomes, m)
	case wire.Value:
		n.Values[m.Name] = append(n.Values[m.Name], m.Values...)
	case wire.Sample:
		n.Samples[m.Series] = append(n.Samples[m.Series], m.Nanoseconds)
	case *trace.Trace:
		n.Trace = m
	case wire.Done:
		run.end = done
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
