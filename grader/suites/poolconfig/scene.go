package poolconfig

import (
	"slices"

	"cudalab/exercises/contract"
	"cudalab/grader/suite"
	"cudalab/grader/suite/verdict"
	"cudalab/native/cuda"
)

const (
	noteReport = "report"
	markLeft   = "left" // stands in the trace behind the questions about what Run has left
	// foundThreshold is the default pool's threshold as Run finds it: no value that anyone would set by chance.
	foundThreshold = 3*mib + 5
)

// defaults are the default pool's attributes that have to be left as found.
var defaults = []cuda.MemPoolAttr{cuda.MemPoolAttrReleaseThreshold, cuda.MemPoolReuseFollowEventDependencies,
	cuda.MemPoolReuseAllowOpportunistic, cuda.MemPoolReuseAllowInternalDependencies}

// scene lends Run its streams, and asks before and after the call how the device's pools are.
var scene = &suite.Scene[Code, workload]{
	Set: func(s *suite.Stage, w workload) func(Code, workload) error {
		must := s.Bench.Must
		streams := s.Streams(w.streams, "config.Streams[%d]")
		defaultPool, err := cuda.DeviceGetDefaultMemPool(0)
		must(err)
		must(cuda.MemPoolSetAttribute(defaultPool, cuda.MemPoolAttrReleaseThreshold, foundThreshold))
		if w.ownPool {
			own, err := cuda.MemPoolCreate(cuda.MemPoolProps{Device: 0})
			must(err)
			must(cuda.DeviceSetMemPool(0, own))
			s.Finally(func() { must(cuda.MemPoolDestroy(own)) })
		}
		ask := func() {
			_, err := cuda.DeviceGetMemPool(0)
			must(err)
			for _, attr := range defaults {
				_, err := cuda.MemPoolGetAttribute(defaultPool, attr)
				must(err)
			}
		}
		ask()
		s.Finally(func() {
			ask()
			s.Bench.Session.Mark(markLeft)
			must(cuda.DeviceSetMemPool(0, defaultPool))
			must(cuda.MemPoolSetAttribute(defaultPool, cuda.MemPoolAttrReleaseThreshold, 0))
		})
		return func(code Code, w workload) error {
			config := w.config
			config.Streams, config.Sizes = suite.Given(s, "config.Streams", streams), suite.Given(s, "config.Sizes",
				config.Sizes)
			report, err := code.Run(config)
			suite.Returned(s, "report.Rounds", report.Rounds)
			s.Note(noteReport, numbers(report))
			return err
		}
	},
}

// maxRounds is how many samples of a report are noted, more than any workload has rounds.
const maxRounds = 8 * suite.FarCount

// numbers are a report to be noted: Reused, the sample after the trim, and those of the rounds.
func numbers(r contract.PoolReport) []uint64 {
	all := []uint64{uint64(r.Reused)}
	for _, s := range append([]contract.Sample{r.Trimmed}, r.Rounds[:min(len(r.Rounds), maxRounds)]...) {
		all = append(all, s.Reserved, s.Used, s.UsedHigh)
	}
	return all
}

// reportOf makes a report of its numbers.
func reportOf(noted []uint64) (r contract.PoolReport) {
	if len(noted) < 4 {
		return r
	}
	r.Reused = int(noted[0])
	for s := range slices.Chunk(noted[1:len(noted)-(len(noted)-1)%3], 3) {
		r.Rounds = append(r.Rounds, contract.Sample{Reserved: s[0], Used: s[1], UsedHigh: s[2]})
	}
	r.Trimmed, r.Rounds = r.Rounds[0], r.Rounds[1:]
	return r
}

// deviceCount stands for the number of devices in a workload that is to be refused.
const deviceCount = -2

func refuse(b *suite.Bench, code Code, bad suite.Bad[workload]) verdict.Outcome {
	if bad.W.config.Device == deviceCount {
		devices, err := cuda.GetDeviceCount()
		b.Must(err)
		bad.W.config.Device = devices
	}
	return scene.Refuse(b, code, bad)
}

// wrongWhenTimed holds the report of a timed call to what was to be allocated in it.
func wrongWhenTimed(m *suite.Timed[workload]) string {
	r := reportOf(m.Noted(noteReport))
	if len(r.Rounds) == speedRounds && !slices.ContainsFunc(r.Rounds, func(s contract.Sample) bool {
		return s.UsedHigh < m.W.peak() || s.Reserved < m.W.peak()
	}) {
		return ""
	}
	return "Run should report what happened in each call, but while it was timed its report was wrong; in the calls of " +
		"the other checks it was right."
}
