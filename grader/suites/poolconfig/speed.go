package poolconfig

import (
	"cudalab/exercises/contract"
	"cudalab/grader/suite"
	"cudalab/kernels"
	"cudalab/native/cuda"
	"cudalab/native/device"
	"cudalab/native/trace"
)

// Names of the contenders, and of what the timed case notes beside their times.
const (
	seriesStudent  = suite.Yours
	seriesSolution = suite.Solution
	seriesBaseline = suite.Baseline
	notePeak       = "timed peak"
	noteTouched    = "bytes touched"
	noteExpected   = "bytes to touch"
)

// Rounds of the timed case. Virtual times repeat exactly; on a GPU 25 ratios give an interval that resolves a tenth.
const (
	warmRounds = 2
	simRounds  = 2
	gpuRounds  = 25
)

func (d driver) speed(b *suite.Bench) {
	rounds := gpuRounds
	if b.Session.Device().Info().Kind == device.Sim {
		rounds = simRounds
	}
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
	contenders := []suite.Contender{{Name: seriesStudent, Run: sample(d.student)}}
	if d.solution != nil {
		contenders = append(contenders, suite.Contender{Name: seriesSolution, Run: sample(d.solution)})
	}
	contenders = append(contenders, suite.Contender{Name: seriesBaseline, Run: sample(baseline)})
	prepare := func() { w = speedWorkload(r) }
	check := func(contender int) {
		if contender != 0 {
			return
		}
		b.Value(notePeak, w.peak())
		note(b, noteTimed, report)
		// A sample off the clock, every now and then, that the code cannot tell from one on it.
		if r.IntN(2) == 0 {
			audit(b, w, contenders[0].Run)
		}
	}
	b.Race(warmRounds, rounds, contenders, prepare, check)
	w = speedWorkload(r)
	audit(b, w, contenders[0].Run)
	s.close()
}

// audit runs the code with tracing on and notes how many bytes of pool memory were touched, beside how many had to be.
func audit(b *suite.Bench, w workload, run func() error) {
	b.Session.StartTrace()
	err := run()
	t := b.Session.StopTrace()
	b.Must(cuda.DeviceSynchronize())
	touched := uint64(0)
	for i := range t.Records {
		if r := &t.Records[i]; err == nil && r.Op == trace.OpLaunch && r.Code == 0 {
			for _, a := range r.Accesses {
				touched += uint64(a.Size)
			}
		}
	}
	b.Value(noteTouched, touched)
	b.Value(noteExpected, uint64(w.config.Rounds)*w.peak())
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
