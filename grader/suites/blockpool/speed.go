package blockpool

import (
	_ "embed"
	"encoding/binary"
	"fmt"

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
	speedRounds  = 32
	speedBlocks  = 8
	speedSize    = 4096
	speedWork    = 100_000 // nanoseconds
)

// Rounds of the timed case. Virtual times repeat exactly.
const (
	simWarm, simRounds = 0, 1
	gpuWarm, gpuRounds = 2, 25
)

// speedLimit is how much slower than the solution a right program may be. One that has a stream wait for another in every round takes
// up to four times as long.
const speedLimit = 1.5

// noteTimed is what is noted of each sample: how many words of blocks were not their user's when it was over.
const noteTimed = "intrusions when timed"

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
	var intrusions cuda.DevicePtr
	run := func() error { return work(p, streams, intrusions) }
	solution := run
	makes := map[string]Make{verdict.Yours: sides.Student, suite.Baseline: newWaiting}
	if sides.Solution != nil {
		makes[verdict.Solution] = *sides.Solution
	} else {
		solution = nil
	}
	contenders := suite.Contenders("", run, solution, run)
	for i := range contenders {
		c := &contenders[i]
		c.Prepare = func() (err error) {
			intrusions, err = cuda.Malloc(8)
			b.Must(err)
			b.Must(cuda.Memset(intrusions, 0, 8))
			b.Must(cuda.DeviceSynchronize())
			p, err = makes[c.Name](speedSize, speedBlocks)
			return err
		}
		c.Check = func() {
			if found := read(b, intrusions); i == 0 {
				b.Value(noteTimed, found)
			}
			if err := p.Close(); err != nil && i == 0 {
				b.Value(noteTimed, 1)
			}
			b.Must(cuda.Free(intrusions))
		}
	}
	samples, _ := b.Time(timing, contenders...)
	b.Note(samples)
	s.Close()
}

// work has every stream take a block, work in it and give it back, round after round.
func work(p Pool, streams []cuda.Stream, intrusions cuda.DevicePtr) error {
	for round := range speedRounds {
		for i, s := range streams {
			at, err := p.Alloc(s)
			if err != nil {
				return err
			}
			tag := uint32(1 + round*speedStreams + i)
			if err := kernels.Occupy(1, 128, s, at, speedSize, tag, 1, intrusions); err != nil {
				return err
			}
			if err := probe.Delay(s, speedWork); err != nil {
				return err
			}
			if err := kernels.Occupied(1, 128, s, at, speedSize, tag, intrusions); err != nil {
				return err
			}
			if err := p.Free(at, s); err != nil {
				return err
			}
		}
	}
	return nil
}

// read is the number at an address of the device.
func read(b *suite.Bench, at cuda.DevicePtr) uint64 {
	sum := make(cuda.Pageable, 8)
	b.Must(cuda.MemcpyDtoH(sum, at, 8))
	return binary.LittleEndian.Uint64(sum)
}

// waiting is what the lesson argues against: one list for all streams, and a host that waits before a block goes to another one.
type waiting struct {
	Pool
	last map[cuda.DevicePtr]cuda.Stream
	free []cuda.DevicePtr
}

func newWaiting(blockSize int64, blocks int) (Pool, error) {
	memory, err := cuda.Malloc(blockSize * int64(blocks))
	if err != nil {
		return nil, err
	}
	p := &waiting{last: map[cuda.DevicePtr]cuda.Stream{}}
	for i := range blocks {
		p.free = append(p.free, memory+cuda.DevicePtr(i)*cuda.DevicePtr(blockSize))
	}
	return p, nil
}

func (p *waiting) Alloc(s cuda.Stream) (cuda.DevicePtr, error) {
	at := p.free[len(p.free)-1]
	p.free = p.free[:len(p.free)-1]
	if last, had := p.last[at]; had && last != s {
		if err := cuda.StreamSynchronize(last); err != nil {
			return 0, err
		}
	}
	return at, nil
}

func (p *waiting) Free(at cuda.DevicePtr, s cuda.Stream) error {
	p.last[at] = s
	p.free = append(p.free, at)
	return nil
}

func (p *waiting) Close() error {
	memory := p.free[0]
	for _, at := range p.free {
		memory = min(memory, at)
	}
	return cuda.Free(memory)
}

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
		Pacing: suite.Pacing{Versus: "a host that waits", Limit: speedLimit, Recorded: paces},
		Passed: func(ratio, speedup float64) string {
			return fmt.Sprintf("%d streams take %.2f times as long as with the solution's pool; with a host that waits they take %.1f times as long as yours.",
				speedStreams, ratio, speedup)
		},
		Work: fmt.Sprintf("%d rounds on %d streams", speedRounds, speedStreams), Takes: "take",
		Why: "A stream that waits for another runs behind it and not beside it, however many multiprocessors are idle meanwhile.",
		Fix: "Hand out what was given back in the same stream first, and what is done next: neither needs an edge.",
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
