package suite

import (
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"time"

	"cudalab/native/cuda"
	"cudalab/native/device"
)

// The contenders that most contests have, by the names that they are shown under.
const (
	Yours    = "yours"
	Solution = "solution"
)

// Entry is a contender in a Contest.
type Entry struct {
	Name       string
	Operations int          // in one batch: enough of them to last some ten microseconds or more
	Prepare    func() error // before every batch, off the clock; nil where there is nothing to prepare
	Batch      func() error // carries the operations out
}

// Bounds on a contest. Virtual times repeat exactly, so that one look more than none would do.
const (
	contestWarm    = 3
	contestRounds  = 31
	contestVirtual = 2
	contestLeast   = 5               // rounds, however long they take
	contestBudget  = 2 * time.Second // after which no further round begins
)

// Contest times contenders side by side by the host's time for their calls: a sample is one batch, and in every round each
// contender has one, in random order, on an idle device, with the collector off and the thread locked. The first rounds
// only warm up. On a GPU the clock is the machine's monotonic one. A simulated device has two: who makes CUDA calls is
// timed by its virtual clock, which they alone advance, and who makes none by the thread's CPU time.
//
// A contender that fails is noted as an outcome under its name, and goes on no longer.
func (b *Bench) Contest(entries ...Entry) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	order := rand.New(rand.NewPCG(b.Seed, uint64(b.Attempt)+1))
	simulated := b.Session.Device().Info().Kind == device.Sim
	runs := make([]contestRun, len(entries))
	began := monotonic()
	for round := range contestWarm + contestRounds {
		if round >= contestWarm+contestLeast && monotonic()-began > int64(contestBudget) {
			break
		}
		runtime.GC()
		for _, i := range order.Perm(len(entries)) {
			run := &runs[i]
			if run.failed || simulated && run.virtual() && len(run.device) >= contestVirtual {
				continue
			}
			onDevice, onThread, ok := b.batch(entries[i], simulated)
			run.failed = !ok
			if ok && round >= contestWarm {
				run.device, run.thread = append(run.device, onDevice), append(run.thread, onThread)
			}
		}
	}
	for i, e := range entries {
		if !runs[i].failed {
			b.noteContender(e, &runs[i], simulated)
		}
	}
}

// contestRun is the samples of one contender by the clocks that there are, in nanoseconds.
type contestRun struct {
	device, thread []int64
	failed         bool
}

// virtual reports whether the contender has advanced the device's clock: on a simulated device only CUDA calls do.
func (r *contestRun) virtual() bool {
	for _, took := range r.device {
		if took > 0 {
			return true
		}
	}
	return false
}

// batch carries out one batch and tells its time: by the device's clock, and on a simulated device by the thread's too.
func (b *Bench) batch(e Entry, simulated bool) (onDevice, onThread int64, ok bool) {
	if e.Prepare != nil && !b.attempt(e.Name, e.Prepare) {
		return 0, 0, false
	}
	b.Must(cuda.DeviceSynchronize())
	clock := b.Session.Device()
	ok = b.attempt(e.Name, func() error {
		wasDevice, wasThread := clock.Now(), int64(0)
		if simulated {
			wasThread = threadTime()
		}
		err := e.Batch()
		if simulated {
			onThread = threadTime() - wasThread
		}
		onDevice = clock.Now() - wasDevice
		return err
	})
	return onDevice, onThread, ok
}

// attempt runs a contender's code; where it fails, that is noted as an outcome under its name.
func (b *Bench) attempt(name string, f func() error) bool {
	o := Outcome{Label: name}
	o.keep(guard(&o, f))
	if !o.OK() {
		b.Notes.Outcome(o)
	}
	return o.OK()
}

// What is noted of a contender beside its samples, under a name that ends in the contender's.
const (
	noteOperations = "operations of "
	noteCPU        = "CPU time of " // noted where that is the clock
	noteBytes      = "bytes of "
)

func (b *Bench) noteContender(e Entry, run *contestRun, simulated bool) {
	b.Value(noteOperations+e.Name, uint64(e.Operations))
	samples := run.device
	if simulated && !run.virtual() {
		b.Value(noteCPU+e.Name, 1)
		samples = run.thread
	}
	for _, took := range samples {
		b.Notes.Sample(e.Name, took)
	}
}

// Bookkeeping notes how many bytes of the host's memory a contender holds, for so many things, once fill has returned:
// what is still reachable by then from what fill answers.
func (b *Bench) Bookkeeping(name string, things int, fill func() (any, error)) {
	var kept any
	before := heapInUse()
	if !b.attempt(name, func() (err error) {
		kept, err = fill()
		return err
	}) {
		return
	}
	after := heapInUse()
	runtime.KeepAlive(kept)
	b.Value(noteOperations+name, uint64(things))
	b.Value(noteBytes+name, max(after, before)-before)
}

// heapInUse is how many bytes of the heap are reachable.
func heapInUse() uint64 {
	runtime.GC()
	runtime.GC() // what has a cleanup goes with the second
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
