package streampool

import (
	_ "embed"
	"fmt"

	"cudalab/exercises/contract"
	"cudalab/grader/suite"
	"cudalab/grader/suite/verdict"
	"cudalab/kernels"
	"cudalab/kernels/probe"
	"cudalab/native/cuda"
	"cudalab/native/device"
)

// The timed workload: streams that each take a block, work in it for a while and give it back, again and again.
const (
	speedStreams = 4
	speedRounds  = 8
	speedStep    = 1 << 20
	speedLimit   = 64 << 20 // of the upstream
	speedSize    = 300_000
	speedWork    = 200_000 // nanoseconds
)

// Rounds of the timed case. Virtual times repeat exactly.
const (
	simWarm, simRounds = 0, 1
	gpuWarm, gpuRounds = 2, 25
)

// speedMost is how much slower than the solution a right program may be. One that has a stream wait for another in every round takes
// up to four times as long.
const speedMost = 1.5

// noteTimed is what is noted of each sample: how many words of blocks were not their user's when it was over.
const noteTimed = "strangers when timed"

//go:embed paces.txt
var paces string

// race times pools from which several streams take blocks at once. They are made and closed off the clock.
func race(b *suite.Bench, sides suite.Sides[Make]) {
	timing := suite.Timing{Warm: gpuWarm, Rounds: gpuRounds}
	if b.Session.Device().Info().Kind == device.Sim {
		timing = suite.Timing{Warm: simWarm, Rounds: simRounds}
	}
	s := b.NewStage()
	streams := s.Streams(speedStreams, "streams[%d]")
	var p Pool
	var strangers cuda.DevicePtr
	run := func() error { return work(p, streams, strangers) }
	solution := run
	makes := map[string]Make{verdict.Yours: sides.Student, suite.Baseline: newPlain}
	if sides.Solution != nil {
		makes[verdict.Solution] = *sides.Solution
	} else {
		solution = nil
	}
	contenders := suite.Contenders("", run, solution, run)
	for i := range contenders {
		c := &contenders[i]
		c.Prepare = func() (err error) {
			strangers, err = cuda.Malloc(8)
			b.Must(err)
			b.Must(cuda.Memset(strangers, 0, 8))
			b.Must(cuda.DeviceSynchronize())
			p, err = makes[c.Name](newUpstream(layout{limit: speedLimit}), speedStep)
			return err
		}
		c.Check = func() {
			if found := read(b, strangers); i == 0 {
				b.Value(noteTimed, found)
			}
			if err := p.Close(); err != nil && i == 0 {
				b.Value(noteTimed, 1)
			}
			b.Must(cuda.Free(strangers))
		}
	}
	samples, _ := b.Time(timing, contenders...)
	b.Note(samples)
	s.Close()
}

// work has every stream take a block, work in it and give it back, round after round.
func work(p Pool, streams []cuda.Stream, strangers cuda.DevicePtr) error {
	for round := range speedRounds {
		for i, s := range streams {
			tenant := uint32(1 + round*speedStreams + i)
			size := int64(speedSize + 1024*(round+i))
			at, err := p.Alloc(size, s)
			if err != nil {
				return err
			}
			if err := kernels.Lease(1, 128, s, at, size, tenant, 1, strangers); err != nil {
				return err
			}
			if err := probe.Delay(s, speedWork); err != nil {
				return err
			}
			if err := kernels.Inspect(1, 128, s, at, size, tenant, strangers); err != nil {
				return err
			}
			if err := p.Free(at, s); err != nil {
				return err
			}
		}
	}
	return nil
}

// plain is what the lesson argues against: every block is an allocation of its own.
type plain struct {
	Pool
	up contract.Upstream
}

func newPlain(up contract.Upstream, _ int64) (Pool, error) { return &plain{up: up}, nil }

func (p *plain) Alloc(size int64, _ cuda.Stream) (cuda.DevicePtr, error) { return p.up.Malloc(size) }

// Free has the host wait for the block's user: the upstream's memory is anybody's.
func (p *plain) Free(at cuda.DevicePtr, s cuda.Stream) error {
	if err := cuda.StreamSynchronize(s); err != nil {
		return err
	}
	return p.up.Free(at)
}

func (p *plain) Close() error { return nil }

var speed = suite.Part[Make]{
	Cases:    []*suite.Trial[Make]{{ID: "speed", After: lastGap, Timed: true, Drive: race}},
	Question: suite.Question{ID: "speed", Name: "streams that take blocks at once run at once", Judge: judgeSpeed},
}

func judgeSpeed(e *suite.Evidence) suite.Answer {
	notes := e.Cases["speed"]
	if spoilt := suite.Spoilt(notes, "New, Alloc or Free", wrongWhenTimed); spoilt != nil {
		return suite.Answer{Findings: spoilt}
	}
	return e.JudgeSpeed(notes, suite.SpeedWords{
		Pacing: suite.Pacing{Versus: "cuda.Malloc and cuda.Free", Limit: speedMost, Recorded: paces},
		Passed: func(ratio, speedup float64) string {
			return fmt.Sprintf("%d streams take %.2f times as long as with the solution's pool; with a cuda.Malloc and a cuda.Free for each block they take %.1f times as long as with yours.",
				speedStreams, ratio, speedup)
		},
		Work: fmt.Sprintf("%d rounds on %d streams", speedRounds, speedStreams), Takes: "take",
		Why: "A stream that waits for another runs behind it and not beside it, however many multiprocessors are idle meanwhile.",
		Fix: "Hand out what was given back in the same stream first, and what is done next, and ask the upstream before a stream waits.",
	})
}

func wrongWhenTimed(notes *verdict.CaseNotes) []verdict.Finding {
	for _, n := range notes.Values[noteTimed] {
		if n > 0 {
			return []verdict.Finding{{
				Rule: "wrong-when-timed", Severity: verdict.Error, Record: -1, Function: "Alloc",
				Message: fmt.Sprintf("While time was measured every block should have been its user's alone, but users found %d words in theirs that somebody "+
					"else had written, or Close failed.", n),
				Why: "A block that is handed out before its last user is through is not a faster one.",
				Fix: "Do the same whatever was done before: have the next owner's stream wait where it has to.",
			}}
		}
	}
	return nil
}
