package poolconfig

import (
	"fmt"
	"math"
	"slices"

	"cudalab/exercises/contract"
	"cudalab/grader/suite"
	"cudalab/native/cuda"
)

// driver holds the code under test and drives it through the cases.
type driver struct{ student, solution Run }

// foundThreshold is the default pool's threshold as Run finds it: no value that anyone would set by chance.
const foundThreshold = 3*mib + 5

// defaults are the default pool's attributes that have to be left as found.
var defaults = []cuda.MemPoolAttr{cuda.MemPoolAttrReleaseThreshold, cuda.MemPoolReuseFollowEventDependencies,
	cuda.MemPoolReuseAllowOpportunistic, cuda.MemPoolReuseAllowInternalDependencies}

// markLeft stands in the trace behind the questions that close asks.
const markLeft = "left"

// setting is the device side of one call: its streams, and the pools as it finds them.
type setting struct {
	b           *suite.Bench
	streams     []cuda.Stream
	defaultPool cuda.MemPool
	own         cuda.MemPool // of a workload with ownPool
	ownPool     bool
}

func newSetting(b *suite.Bench, w workload) *setting {
	s := &setting{b: b, ownPool: w.ownPool}
	for i := range w.streams {
		stream, err := cuda.StreamCreateWithFlags(cuda.StreamNonBlocking)
		b.Must(err)
		b.Session.Label(fmt.Sprintf("config.Streams[%d]", i))
		s.streams = append(s.streams, stream)
	}
	var err error
	s.defaultPool, err = cuda.DeviceGetDefaultMemPool(0)
	b.Must(err)
	b.Must(cuda.MemPoolSetAttribute(s.defaultPool, cuda.MemPoolAttrReleaseThreshold, foundThreshold))
	if s.ownPool {
		s.own, err = cuda.MemPoolCreate(cuda.MemPoolProps{Device: 0})
		b.Must(err)
		b.Must(cuda.DeviceSetMemPool(0, s.own))
	}
	s.look()
	return s
}

// look asks for all that Run has to leave as it found it: the trace shows the answers before and after.
func (s *setting) look() {
	_, err := cuda.DeviceGetMemPool(0)
	s.b.Must(err)
	for _, attr := range defaults {
		_, err := cuda.MemPoolGetAttribute(s.defaultPool, attr)
		s.b.Must(err)
	}
}

// config is w's with the setting's streams: fresh slices, since the code under test may write to them.
func (s *setting) config(w workload) contract.PoolConfig {
	c := w.config
	c.Streams = slices.Clone(s.streams)
	c.Sizes = slices.Clone(c.Sizes)
	return c
}

// close waits for the device, looks at what was left, and takes the setting away.
func (s *setting) close() {
	s.b.Must(cuda.DeviceSynchronize())
	s.look()
	s.b.Session.Mark(markLeft)
	s.b.Must(cuda.DeviceSetMemPool(0, s.defaultPool))
	s.b.Must(cuda.MemPoolSetAttribute(s.defaultPool, cuda.MemPoolAttrReleaseThreshold, 0))
	if s.ownPool {
		s.b.Must(cuda.MemPoolDestroy(s.own))
	}
	for _, stream := range s.streams {
		s.b.Must(cuda.StreamDestroy(stream))
	}
}

// badArguments are the calls that Run must refuse, on a machine with so many devices.
var badArguments = []struct {
	label string
	edit  func(c *contract.PoolConfig, devices int)
}{
	{"no streams", func(c *contract.PoolConfig, _ int) { c.Streams = nil }},
	{"no sizes", func(c *contract.PoolConfig, _ int) { c.Sizes = nil }},
	{"a block of 0 bytes behind a good one", func(c *contract.PoolConfig, _ int) { c.Sizes = []int64{64, 0} }},
	{"a block of -5 bytes", func(c *contract.PoolConfig, _ int) { c.Sizes = []int64{-5} }},
	{"0 rounds", func(c *contract.PoolConfig, _ int) { c.Rounds = 0 }},
	{"-1 rounds", func(c *contract.PoolConfig, _ int) { c.Rounds = -1 }},
	{"device -1", func(c *contract.PoolConfig, _ int) { c.Device = -1 }},
	{"the number of devices as the device", func(c *contract.PoolConfig, devices int) { c.Device = devices }},
	{"device 1,000,000", func(c *contract.PoolConfig, _ int) { c.Device = 1_000_000 }},
}

func (d driver) arguments(b *suite.Bench) {
	devices, err := cuda.GetDeviceCount()
	b.Must(err)
	for _, bad := range badArguments {
		w := newWorkload(2, 2, keepAll, 0, 64, 100)
		s := newSetting(b, w)
		config := s.config(w)
		bad.edit(&config, devices)
		o := b.Call(bad.label, func() error {
			_, err := d.student(config)
			return err
		})
		s.close()
		if o.Gap != "" {
			return
		}
	}
}

// call runs one workload and notes the report; it reports whether there is sense in going on.
func (d driver) call(b *suite.Bench, w workload) bool {
	s := newSetting(b, w)
	var report contract.PoolReport
	config := s.config(w)
	o := b.Call(w.label, func() (err error) {
		report, err = d.student(config)
		return err
	})
	if o.OK() {
		note(b, noteReport, report)
	}
	s.close()
	return o.OK() && !b.Session.Orphaned() // beside such memory no further pool is safe on a GPU
}

func (d driver) shapes(b *suite.Bench) {
	for _, w := range shapes() {
		if !d.call(b, w) {
			return
		}
	}
}

func (d driver) random(b *suite.Bench) {
	for _, w := range drawn(b.Seed) {
		if !d.call(b, w) {
			return
		}
	}
}

func (d driver) faults(b *suite.Bench) {
	w := faulty()
	b.EveryFault(w.label, func() (run func() error, finish func()) {
		s := newSetting(b, w)
		config := s.config(w)
		run = func() error {
			_, err := d.student(config)
			return err
		}
		return run, s.close
	})
}

// Names of what the cases note.
const (
	noteReport = "report"
	noteTimed  = "timed report"
)

// maxRounds is how many samples of a report are noted, more than any workload has rounds.
const maxRounds = 64

// note notes a report as numbers: how many rounds, their samples, Reused, and the sample after the trim.
func note(b *suite.Bench, name string, r contract.PoolReport) {
	sample := func(s contract.Sample) {
		b.Value(name, s.Reserved)
		b.Value(name, s.Used)
		b.Value(name, s.UsedHigh)
	}
	rounds := r.Rounds[:min(len(r.Rounds), maxRounds)]
	b.Value(name, uint64(len(rounds)))
	for _, s := range rounds {
		sample(s)
	}
	b.Value(name, uint64(r.Reused))
	sample(r.Trimmed)
}

// noted takes the first report off the numbers that note has made.
func noted(values []uint64) (r contract.PoolReport, rest []uint64) {
	take := func() (v uint64) {
		if len(values) > 0 {
			v, values = values[0], values[1:]
		}
		return v
	}
	sample := func() contract.Sample {
		return contract.Sample{Reserved: take(), Used: take(), UsedHigh: take()}
	}
	for range min(take(), maxRounds) {
		r.Rounds = append(r.Rounds, sample())
	}
	r.Reused = int(min(take(), math.MaxInt))
	r.Trimmed = sample()
	return r, values
}
