package poolconfig

import (
	"cudalab/exercises/contract"
	"cudalab/grader/suite"
	"cudalab/kernels"
	"cudalab/native/cuda"
	"cudalab/native/trace"
)

// What the timed case notes beside the times.
const (
	notePeak     = "timed peak"
	noteTouched  = "bytes touched"
	noteExpected = "bytes to touch"
)

func (d driver) speed(b *suite.Bench) {
	r := b.Rand()
	w := speedWorkload(r)
	s := newSetting(b, w)
	var report contract.PoolReport
	sample := func(run Run) func() error {
		return func() (err error) {
			report, err = run(s.config(w))
			return err
		}
	}
	var solution func() error
	if d.solution != nil {
		solution = sample(d.solution)
	}
	prepare := func() { w = speedWorkload(r) }
	check := func(contender int) {
		if contender == 0 {
			b.Value(notePeak, w.peak())
			note(b, noteTimed, report)
		}
	}
	contenders := suite.Contenders("", sample(d.student), solution, sample(baseline))
	contenders[0].Audit = func(t *trace.Trace) {
		b.Value(noteTouched, touched(t))
		b.Value(noteExpected, uint64(w.config.Rounds)*w.peak())
	}
	b.Race(suite.WarmRounds, b.Rounds(), contenders, prepare, check)
	s.close()
}

// touched is how many bytes the kernels of an audited call touched; 0 where it failed.
func touched(t *trace.Trace) (bytes uint64) {
	if t == nil {
		return 0
	}
	for i := range t.Records {
		if r := &t.Records[i]; r.Op == trace.OpLaunch && r.Code == 0 {
			for _, a := range r.Accesses {
				bytes += uint64(a.Size)
			}
		}
	}
	return bytes
}

// baseline is what the lesson argues against: a pool left at its default threshold, which gives everything back at every
// synchronisation and has to fetch it again in the next round.
func baseline(c contract.PoolConfig) (report contract.PoolReport, err error) {
	pool, err := cuda.MemPoolCreate(cuda.MemPoolProps{Device: c.Device})
	if err != nil {
		return report, err
	}
	for range c.Rounds {
		blocks := make([]cuda.DevicePtr, len(c.Sizes))
		for j, size := range c.Sizes {
			stream := c.Streams[j%len(c.Streams)]
			if blocks[j], err = cuda.MallocFromPoolAsync(size, pool, stream); err != nil {
				return report, err
			}
			if err := kernels.Touch(64, 256, stream, blocks[j], size, uint32(j)); err != nil {
				return report, err
			}
		}
		for j, block := range blocks {
			if err := cuda.FreeAsync(block, c.Streams[j%len(c.Streams)]); err != nil {
				return report, err
			}
		}
		for _, stream := range c.Streams {
			if err := cuda.StreamSynchronize(stream); err != nil {
				return report, err
			}
		}
	}
	return report, cuda.MemPoolDestroy(pool)
}
