package calibrate

import (
	"fmt"
	"slices"

	"cudalab/kernels/listed"
	"cudalab/kernels/probe"
	"cudalab/native/device"
	"cudalab/native/sim"
)

// meter measures one device.
type meter struct {
	d       device.Device
	profile sim.Profile     // what has been measured so far; the rest is the built-in one's
	unknown map[string]bool // constants that a step could not find out

	step   string
	times  int   // how often something is measured
	clock  int64 // nanoseconds that reading the clock twice takes
	stream device.Stream
	other  device.Stream // what works beside the first
	start  device.Event
	stop   device.Event
	joined device.Event         // where the other stream has ended, without timing
	undo   []func() device.Code // what gives back what is held, last one first
}

func newMeter(d device.Device) *meter {
	m := &meter{d: d, times: repetitions, unknown: map[string]bool{}}
	if d.Info().Kind == device.Sim {
		m.times = 1 // every time is as the first
	}
	return m
}

// repetitions is how often each measurement is made on a GPU; the median counts.
const repetitions = 21

// attempt runs a part of the measuring, whose failed calls end it.
func (m *meter) attempt(name string, part func(*meter)) (err error) {
	m.step = name
	defer func() {
		if v := recover(); v != nil {
			failed, ok := v.(*failed)
			if !ok {
				panic(v)
			}
			err = failed
		}
	}()
	part(m)
	return nil
}

// ok ends the step where a call has failed.
func (m *meter) ok(call string, code device.Code) {
	if code != device.Success {
		panic(&failed{Step: m.step, Call: call, Code: code})
	}
}

// fail ends the step where the device does something that no measurement can be made of.
func (m *meter) fail(format string, args ...any) {
	panic(&failed{Step: m.step, Why: fmt.Sprintf(format, args...)})
}

// contradict ends the run where what was measured cannot all be so.
func (m *meter) contradict(format string, args ...any) {
	panic(&failed{Step: m.step, Why: fmt.Sprintf(format, args...), contradiction: true})
}

// warmUp is how long the GPU works before the first measurement: an idle one has slow clocks.
const warmUp = 300e6 // nanoseconds

// prepare makes what all measurements use.
func (m *meter) prepare() {
	readings := make([]int64, 1000)
	for i := range readings {
		start := m.d.Now()
		readings[i] = m.d.Now() - start
	}
	m.clock = median(readings)
	m.stream = m.newStream()
	m.other = m.newStream()
	m.start, m.stop, m.joined = m.newEvent(0), m.newEvent(0), m.newEvent(device.EventDisableTiming)
	m.delay(warmUp)
	m.settle()
}

// tidy gives everything back and reports the first call that failed.
func (m *meter) tidy() error {
	return m.attempt("whether everything was given back", func(m *meter) {
		m.giveBack(0)
		m.settle()
	})
}

// giveBack undoes what was made since len(m.undo) was n, all of it even where a call fails.
func (m *meter) giveBack(n int) {
	failed := device.Success
	for len(m.undo) > n {
		last := len(m.undo) - 1
		undo := m.undo[last]
		m.undo = m.undo[:last]
		if code := undo(); failed == device.Success {
			failed = code
		}
	}
	m.ok("a call that gives back what was used", failed)
}

// lend runs a part of a step and gives back what it has made.
func (m *meter) lend(part func()) {
	n := len(m.undo)
	part()
	m.settle()
	m.giveBack(n)
}

func (m *meter) later(undo func() device.Code) { m.undo = append(m.undo, undo) }

func (m *meter) newStream() device.Stream {
	s, code := m.d.StreamCreate(device.StreamNonBlocking)
	m.ok("cuStreamCreate", code)
	m.later(func() device.Code { return m.d.StreamDestroy(s) })
	return s
}

func (m *meter) newEvent(flags uint32) device.Event {
	e, code := m.d.EventCreate(flags)
	m.ok("cuEventCreate", code)
	m.later(func() device.Code { return m.d.EventDestroy(e) })
	return e
}

func (m *meter) newBuffer(size uint64) device.Ptr {
	p, code := m.d.MemAlloc(size)
	m.ok("cuMemAlloc", code)
	m.later(func() device.Code { return m.d.MemFree(p) })
	return p
}

func (m *meter) newPinned(size uint64) device.Host {
	h, code := m.d.MemAllocHost(size)
	m.ok("cuMemAllocHost", code)
	m.later(func() device.Code { return m.d.MemFreeHost(h) })
	return h
}

// newPool makes a pool that keeps up to threshold bytes.
func (m *meter) newPool(threshold uint64) device.Pool {
	p, code := m.d.MemPoolCreate()
	m.ok("cuMemPoolCreate", code)
	m.later(func() device.Code { return m.d.MemPoolDestroy(p) })
	m.ok("cuMemPoolSetAttribute", m.d.MemPoolSetAttribute(p, device.PoolReleaseThreshold, threshold))
	return p
}

// settle waits until the device is idle.
func (m *meter) settle() { m.ok("cuCtxSynchronize", m.d.CtxSynchronize()) }

// took is what one call costs the host, in nanoseconds.
func (m *meter) took(name string, call func() device.Code) int64 {
	start := m.d.Now()
	code := call()
	took := m.d.Now() - start - m.clock
	m.ok(name, code)
	return took
}

// row is how many calls are made in a row where one is too short for the clock.
const row = 32

// rounds makes short measurements many times, a row of them at a time on a device that was idle before.
func (m *meter) rounds(round func()) {
	for range m.times {
		for range row {
			round()
		}
		m.settle()
	}
}

// call is what a call costs in the middle of others like it: the median.
func (m *meter) call(name string, call func() device.Code) int64 {
	var all []int64
	m.rounds(func() { all = append(all, m.took(name, call)) })
	return atLeastOne(median(all))
}

// pair is what two calls cost that take turns, of which the second undoes the first: the medians.
func (m *meter) pair(first string, do func() device.Code, second string, undo func() device.Code) (int64, int64) {
	var done, undone []int64
	m.rounds(func() {
		done = append(done, m.took(first, do))
		undone = append(undone, m.took(second, undo))
	})
	return atLeastOne(median(done)), atLeastOne(median(undone))
}

// often is the median of several times that measure answers.
func (m *meter) often(measure func() int64) int64 {
	all := make([]int64, m.times)
	for i := range all {
		all[i] = measure()
	}
	return median(all)
}

// Bounds on how long the device is kept busy while the host enqueues what is measured, in nanoseconds.
const (
	shortestHold = 2_000_000
	longestHold  = 256_000_000
)

// onDevice is how many nanoseconds work takes on the device when all of it has been enqueued before it begins: the
// median. It gives back what work makes.
func (m *meter) onDevice(work func()) int64 {
	hold := int64(shortestHold)
	return m.often(func() (took int64) {
		for {
			m.lend(func() {
				m.delay(hold)
				m.ok("cuEventRecord", m.d.EventRecord(m.start, m.stream))
				work()
				m.ok("cuEventRecord", m.d.EventRecord(m.stop, m.stream))
				begun := m.d.EventQuery(m.start) == device.Success
				m.settle()
				milliseconds, code := m.d.EventElapsedTime(m.start, m.stop)
				m.ok("cuEventElapsedTime", code)
				took = int64(float64(milliseconds)*1e6) - m.profile.EventStamp
				if begun {
					took = 0
				}
			})
			if took > 0 {
				return took
			}
			if hold *= 2; hold > longestHold {
				m.fail("the host needs more than %d ms to enqueue it, so that how long the device takes does not show.",
					longestHold/1_000_000)
			}
		}
	})
}

// beside is work for onDevice in the meter's stream, and other work in the other stream that begins with it.
func (m *meter) beside(work, other func()) {
	m.ok("cuStreamWaitEvent", m.d.StreamWaitEvent(m.other, m.start))
	work()
	other()
	m.ok("cuEventRecord", m.d.EventRecord(m.joined, m.other))
	m.ok("cuStreamWaitEvent", m.d.StreamWaitEvent(m.stream, m.joined))
}

// The kernels that are measured.
var (
	delay   = kernel(probe.All(), "delay")
	process = kernel(listed.All(), "process")
	touch   = kernel(listed.All(), "touch")
)

func kernel(all []*device.Kernel, entry string) *device.Kernel {
	return all[slices.IndexFunc(all, func(k *device.Kernel) bool { return k.Entry() == entry })]
}

// launch launches a kernel in the meter's stream.
func (m *meter) launch(k *device.Kernel, grid, block uint32, args ...uint64) device.Code {
	return m.launchOn(m.stream, k, grid, block, args...)
}

func (m *meter) launchOn(s device.Stream, k *device.Kernel, grid, block uint32, args ...uint64) device.Code {
	l := device.Launch{Kernel: k, Grid: device.Dim{X: grid}, Block: device.Dim{X: block}, Stream: s}
	copy(l.Args[:], args)
	return m.d.LaunchKernel(&l)
}

// delay keeps the meter's stream busy for so many nanoseconds.
func (m *meter) delay(nanos int64) { m.ok("cuLaunchKernel", m.launch(delay, 1, 1, uint64(nanos))) }

// empty launches a kernel that does nothing.
func (m *meter) empty() device.Code { return m.launch(process, 1, 32) }

func median(all []int64) int64 {
	slices.Sort(all)
	return all[len(all)/2]
}

// atLeastOne keeps noise from making nothing, or less, of a short time.
func atLeastOne(nanos int64) int64 { return max(nanos, 1) }
