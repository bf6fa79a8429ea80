// Package runner is the inside of the process that holds a student's code for one exercise or several: it runs the
// cases that cudalab asks for, and streams what they note. It decides nothing. Its main package is made for each build
// by grader/judge/compile.
package runner

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"

	"cudalab/grader/judge/runner/steps"
	"cudalab/grader/judge/wire"
	"cudalab/grader/machine/self"
	"cudalab/grader/suite"
	"cudalab/grader/suite/verdict"
	"cudalab/kernels/probe"
	"cudalab/native/cuda"
	"cudalab/native/device"
	"cudalab/native/session"
	"cudalab/native/sim"
	"cudalab/native/trace"
)

// The inherited files: requests come in on the first, notes go out on the second.
const (
	requestsFile = 0
	notesFile    = 1
	crashFile    = 2 // what Go has to say when the program crashes, to which nobody else can write
)

// Bounds on one case, far above what any exercise needs: they end code that allocates or calls without end.
const (
	maxRecords = 200_000
	maxStack   = 64 << 20 // bytes: an endless recursion is found before its stack is taken for greed
)

// collectFrom is near how many bytes all garbage is collected, long before cudalab takes it for greed.
const collectFrom = 512 << 20

// init keeps the cases on the process's first thread. Linux gives that one the signal upon which Go prints the stacks,
// and only of the thread that gets it can the line be told where code runs without end.
func init() { runtime.LockOSThread() }

// Main serves cudalab until it closes the pipe. The first argument is the kind of device: "gpu", "sim", or
// "auto", which takes the simulator where there is no GPU to be had.
func Main(suites ...*suite.Suite) {
	self.Hasten()
	requests, answers, crash := self.File(requestsFile), self.File(notesFile), self.File(crashFile)
	if len(os.Args) != 2 || requests == nil || answers == nil || crash == nil {
		fmt.Fprintln(os.Stderr, "This is a runner, which only cudalab starts: use `cudalab check`.")
		os.Exit(2)
	}
	if err := sayCrashes(crash); err != nil {
		fmt.Fprintln(os.Stderr, "The runner has no file for a crash:", err)
		os.Exit(2)
	}
	crash.Close()
	debug.SetMaxStack(maxStack)
	debug.SetMemoryLimit(collectFrom)
	r := &runner{
		suites: suites,
		kind:   os.Args[1],
		in:     wire.NewReader(requests),
		pipe:   bufio.NewWriterSize(answers, 1<<16),
	}
	r.out = wire.NewWriter(r.pipe)
	if !r.setUp() || !r.open() {
		return
	}
	for r.serve() {
	}
}

// Numbered gives the suite of one of several programs of an exercise the name that it is asked for by.
func Numbered(s *suite.Suite, number int) *suite.Suite {
	s.Exercise = wire.Numbered(s.Exercise, number)
	return s
}

type runner struct {
	suites  []*suite.Suite
	profile *sim.Profile // of every simulated device; nil: the built-in one
	kind    string
	in      *wire.Reader
	pipe    *bufio.Writer
	out     *wire.Writer
	values  wire.Value // noted in a row under one name, and not sent yet
	session *session.Session
}

// setUp learns what cudalab says before the greeting; it reports whether cudalab has said it.
func (r *runner) setUp() bool {
	m, err := r.in.Next()
	s, ok := m.(wire.Setup)
	r.profile = s.Profile
	return err == nil && ok
}

// open greets cudalab; it reports whether there is a device to work on.
func (r *runner) open() bool {
	hello := wire.Hello{Version: wire.Version}
	auto := r.kind == "auto"
	if auto {
		r.kind = string(device.GPU)
	}
	d, err := r.openReady(r.kind)
	if err != nil {
		hello.Problem = err.Error()
		if auto {
			r.kind = string(device.Sim)
			d, err = r.openReady(r.kind)
		}
	}
	if err == nil {
		info := d.Info()
		hello.Device = verdict.Device{Kind: string(info.Kind), Name: info.Name, Driver: info.Driver}
		r.use(d)
		if info.Kind == device.GPU {
			r.profile = nil // what the simulator serves better says the same on every GPU
		}
	}
	r.send(hello)
	r.flush()
	return err == nil
}

// openReady opens a device that can carry the lessons.
func (r *runner) openReady(kind string) (d device.Device, err error) {
	if kind == string(device.Sim) {
		d = sim.New(sim.Options{Profile: r.profile})
	} else {
		d, err = session.OpenDevice(kind)
	}
	if err != nil {
		return nil, err
	}
	_, err = probe.Ready(d)
	return d, err
}

// serve does one thing that is asked for; it reports whether another may follow in this process.
func (r *runner) serve() bool {
	m, err := r.in.Next()
	if err != nil {
		return false // cudalab is done, or gone
	}
	switch m := m.(type) {
	case wire.Mark:
		fmt.Fprint(os.Stdout, m.Text)
		fmt.Fprint(os.Stderr, m.Text)
		return true
	case wire.Request:
		done := watch()
		steps.Choose(m.Program, m.Steps)
		end := r.run(m)
		steps.Choose(0, 0)
		done()
		r.send(end)
		r.flush()
		_, good := end.(wire.Done)
		return good
	}
	return false
}

// run carries out the case that is asked for and sends its notes; the last word, Done or a Fault, is the caller's
// to send.
func (r *runner) run(request wire.Request) (end wire.Message) {
	c, quota := r.find(request)
	switch {
	case c == nil:
		return wire.Fault{Message: fmt.Sprintf("the runner knows no case %s of %s", request.Case, request.Exercise)}
	case c.Simulated != nil:
		defer r.use(r.session.Device())
		defer r.simulate(c.Simulated(request.Seed)).Close()
	case r.kind == string(device.Sim):
		// A simulated device costs nothing: every case gets one that nobody has touched. Where nothing is timed it runs
		// another legal schedule under every seed; a picture shows the plain one.
		defer r.simulate(sim.Options{Seed: request.Seed, Jitter: !c.Timed && !request.Times}).Close()
	}
	r.session.Limit(cmp.Or(request.Calls, maxRecords))
	b := &suite.Bench{Session: r.session, Seed: request.Seed, CaseID: c.ID, Attempt: request.Attempt, From: request.From,
		Notes: notes{r}, Translation: request.Translation, Quota: quota, Recorded: request.Times}
	r.session.TimeOperations(request.Times)
	r.session.RecordGiven(request.Given)
	r.session.StartTrace()
	var fault error
	if c.Timed {
		r.session.Untraced(func() { fault = drive(c, b) })
	} else {
		fault = drive(c, b)
	}
	r.send(r.session.StopTrace())
	if fault == nil {
		fault = r.tidy(c.Simulated != nil || r.kind == string(device.Sim))
	}
	if fault == nil {
		return wire.Done{}
	}
	var code device.Code
	f := wire.Fault{Message: fault.Error(), DeviceLost: errors.As(fault, &code) && code.Sticky()}
	if taken := r.session.Taken(); taken != nil {
		f.Taken, f.Site = taken.Op.String(), taken.Site
	}
	return f
}

// find is the case that is asked for, nil where there is none, and how many bytes the student's code may have in it.
func (r *runner) find(request wire.Request) (c *suite.Case, quota uint64) {
	for _, s := range r.suites {
		if s.Exercise != request.Exercise {
			continue
		}
		if c, ok := s.Case(request.Case); ok {
			return c, cmp.Or(s.Memory, suite.DefaultMemory)
		}
	}
	return nil, 0
}

// simulate goes on with a simulated device that nobody has touched, which is the caller's to close.
func (r *runner) simulate(o sim.Options) *sim.Device {
	o.Profile = r.profile
	d := sim.New(o)
	r.use(d)
	return d
}

func (r *runner) use(d device.Device) {
	r.session = session.New(d)
	r.session.Limit(maxRecords)
	r.session.Use()
}

// drive runs the case's code. An error is the case's own failed call, or its panic, which is a fault of the suite.
func drive(c *suite.Case, b *suite.Bench) (err error) {
	defer func() {
		v := recover()
		if v == nil {
			return
		}
		var ok bool
		if err, ok = suite.Fault(v); ok {
			return
		}
		err = fmt.Errorf("the suite's case %s panicked: %v", c.ID, v)
		if site := trace.Callers(2); len(site) > 0 {
			err = fmt.Errorf("%w (%s:%d)", err, site[0].File, site[0].Line)
		}
	}()
	c.Drive(b)
	return nil
}

// tidy takes away what the case left on the device, so that the next one starts clean.
func (r *runner) tidy(simulated bool) error {
	r.session.ClearFaults()
	if err := cuda.DeviceSynchronize(); err != nil || simulated {
		return err // a simulated device goes with its case
	}
	if err := r.session.Sweep(); err != nil {
		return err
	}
	r.session.Restore()
	return nil
}

// notes passes a case's notes on.
type notes struct{ *runner }

func (n notes) Outcome(o verdict.Outcome) { n.send(o) }

func (n notes) Value(name string, vs ...uint64) {
	if n.values.Name != name || len(n.values.Values)+len(vs) > maxValues {
		n.sendValues()
		n.values.Name = name
	}
	n.values.Values = append(n.values.Values, vs...)
}

func (n notes) Sample(series string, nanos int64) {
	n.send(wire.Sample{Series: series, Nanoseconds: nanos})
}

// send writes a message. Where the pipe is gone cudalab is, and the next read ends the runner.
func (r *runner) send(m wire.Message) {
	r.sendValues()
	_ = r.out.Send(m)
}

// maxValues is how many values are sent together, unless more are noted at once: a sequence has some thousand.
const maxValues = 1 << 12

func (r *runner) sendValues() {
	if len(r.values.Values) > 0 {
		_ = r.out.Send(r.values)
		r.values.Values = r.values.Values[:0]
	}
}

func (r *runner) flush() { _ = r.pipe.Flush() }
