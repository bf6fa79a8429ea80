package suite

import (
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"slices"
	"time"

	"cudalab/grader/suite/verdict"
	"cudalab/native/cuda"
	"cudalab/native/device"
)

// Contender is one implementation whose time is taken.
type Contender struct {
	Name       string
	Operations int           // that one Run carries out; 0 for one
	Repeat     int           // how often a sample has Run at most; 0 for once
	Within     time.Duration // after which a sample repeats it no more
	Prepare    func() error  // off the clock, before every sample; nil where there is nothing to prepare
	Run        func() error
	Check      func() // off the clock, behind every sample; nil where there is nothing to check
	TimeOnly   bool   // nobody looks at what it computes, so that a simulated device need not
	// Audit, where not nil, has the code run off the clock in a way that it can tell from no sample: at random between the
	// samples, and behind the last. It reports whether the code succeeded.
	Audit func() (ok bool)
}

// Span is what the time of a sample is taken of, and by which clock.
type Span int

const (
	// UntilIdle: from the start of Run until the whole device has come to rest, by the device's host clock, which is
	// virtual, and exact, on a simulated device.
	UntilIdle Span = iota
	// Calls: until Run returns, by the same clock. On a simulated device only CUDA calls advance that; who makes none is
	// timed by the thread's CPU time.
	Calls
	// OnThread: until Run returns, by the thread's CPU time: what others on the machine take is not in it.
	OnThread
)

// Timing says how the samples are taken.
type Timing struct {
	Span
	Warm, Rounds int // so many rounds are kept, behind Warm that are not
	// Rest is how long a GPU is left alone before every sample, off the clock: what the one before has given back the
	// driver is not through with when the device is idle.
	Rest time.Duration
	// Enough, where not nil, is asked before every round whether those that were kept will do.
	Enough func(Samples) bool
	// DropOut has a contender that fails go on no longer, while the others do; else the first failure ends all.
	DropOut bool
}

// TimingFor is the one of two that is for the device at hand: on a simulated one times repeat exactly, so a few rounds
// will do.
func (b *Bench) TimingFor(simulated, gpu Timing) Timing {
	if b.Session.Device().Info().Kind == device.Sim {
		return simulated
	}
	return gpu
}

// Samples are what was taken of each contender, by its name.
type Samples map[string]Series

// Series are a contender's times, in nanoseconds for one Run, in the order of the rounds, and the clock that told them.
type Series struct {
	Times []int64
	Clock verdict.Clock
}

// Note notes the samples for cudalab.
func (b *Bench) Note(all Samples) {
	for name, s := range all {
		for _, took := range s.Times {
			b.Notes.Sample(name, took)
		}
	}
}

// Time has contenders take turns: in every round each has one sample, in random order, on an idle device, with the
// collector off and the thread locked. A failure is noted as an outcome under the contender's name; ok says that there
// was none, or that the others went on without it.
func (b *Bench) Time(t Timing, contenders ...Contender) (all Samples, ok bool) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	order := rand.New(rand.NewPCG(b.Seed, uint64(b.Attempt)+1))
	simulated := b.Session.Device().Info().Kind == device.Sim
	runs := make([]taken, len(contenders))
	for round := range t.Warm + t.Rounds {
		if t.Enough != nil && t.Enough(t.samples(contenders, runs, simulated)) {
			break
		}
		if t.Span == Calls || t.Span == UntilIdle && !simulated { // no other clock is disturbed by the collector
			runtime.GC()
		}
		for _, i := range order.Perm(len(contenders)) {
			c, run := &contenders[i], &runs[i]
			if run.failed || t.Span == Calls && simulated && run.repeats() {
				continue
			}
			onDevice, onThread, ok := b.sample(c, t)
			if !ok {
				if run.failed = true; !t.DropOut {
					return nil, false
				}
				continue
			}
			if round >= t.Warm {
				run.device, run.thread = append(run.device, onDevice), append(run.thread, onThread)
			}
			if c.Check != nil {
				c.Check()
			}
			if c.Audit != nil && (round == t.Warm+t.Rounds-1 || order.IntN(2) == 0) && !c.Audit() {
				return nil, false
			}
		}
	}
	return t.samples(contenders, runs, simulated), true
}

// taken are the times of one contender by the two clocks that there are.
type taken struct {
	device, thread []int64
	failed         bool
}

// virtualLooks is how many samples of a virtual time are enough: they repeat exactly, so one more than none would do.
const virtualLooks = 2

// repeats reports whether further samples would show nothing new.
func (r *taken) repeats() bool { return len(r.device) >= virtualLooks && r.virtual() }

// samples are the times by the clock that the span names.
func (t *Timing) samples(contenders []Contender, runs []taken, simulated bool) Samples {
	all := Samples{}
	for i, run := range runs {
		s := Series{run.device, verdict.Wall}
		switch {
		case run.failed:
			continue
		case t.Span == OnThread, t.Span == Calls && simulated && !run.virtual():
			s = Series{run.thread, verdict.CPU}
		case simulated:
			s.Clock = verdict.Virtual
		}
		all[contenders[i].Name] = s
	}
	return all
}

// virtual reports whether the contender has advanced the device's clock.
func (r *taken) virtual() bool {
	return slices.ContainsFunc(r.device, func(t int64) bool { return t > 0 })
}

// sample takes one sample of a contender, by both clocks, in nanoseconds for one Run.
func (b *Bench) sample(c *Contender, t Timing) (onDevice, onThread int64, ok bool) {
	if c.Prepare != nil && !b.attempt(c.Name, c.Prepare) {
		return 0, 0, false
	}
	if t.Span != OnThread {
		b.Must(cuda.DeviceSynchronize())
	}
	if b.Session.Device().Info().Kind == device.GPU {
		time.Sleep(t.Rest)
	}
	o, clock, runs := verdict.Outcome{Label: c.Name}, b.Session.Device(), int64(0)
	if d, ok := clock.(interface{ TimeOnly(bool) }); ok && c.TimeOnly {
		d.TimeOnly(true)
		defer d.TimeOnly(false)
	}
	wasThread, wasDevice := ThreadTime(), clock.Now()
	for {
		b.guard(&o, c.Run)
		runs++
		if !o.OK() || runs >= int64(c.Repeat) || ThreadTime()-wasThread > int64(c.Within) {
			break
		}
	}
	if t.Span == UntilIdle {
		b.Must(cuda.DeviceSynchronize())
	}
	onDevice, onThread = clock.Now()-wasDevice, ThreadTime()-wasThread
	if !o.OK() {
		b.Notes.Outcome(o)
		return 0, 0, false
	}
	return onDevice / runs, onThread / runs, true
}

// attempt runs a contender's code off the clock; where it fails, that is noted as an outcome under its name.
func (b *Bench) attempt(name string, f func() error) bool {
	o := verdict.Outcome{Label: name}
	b.guard(&o, f)
	if !o.OK() {
		b.Notes.Outcome(o)
	}
	return o.OK()
}

// monotonic is a clock for systems that do not tell a thread's CPU time.
func monotonic() int64 { return int64(time.Since(start)) }

var start = time.Now()
