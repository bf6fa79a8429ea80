// Package fidelity holds the simulator's clock to the GPU's. It is a table of small programs over package cuda, each
// done in a slow way and in a fast one, as the lessons' baselines and solutions are. How long both take was recorded on
// a GPU. The tests compare what the simulator predicts with that, above all the speedup, which is what a student is
// shown:
//
//	go test ./grader/proof/fidelity                        the simulator against the recorded times
//	go test ./grader/proof/fidelity -record                write the table of both, table.md
//	go test ./grader/proof/fidelity -device gpu -record    record the times anew, on the GPU of this machine
package fidelity

import (
	"slices"

	"cudalab/grader/suite"
	"cudalab/grader/suite/verdict"
	"cudalab/kernels/probe"
	"cudalab/native/cuda"
	"cudalab/native/device"
	"cudalab/native/session"
)

// program is one piece of work that can be done in two ways.
type program struct {
	Name       string // "pool/threshold-1MiB"
	Slow, Fast string // the two ways, in plain words
	// ways makes what both ways use, and answers them. Their time ends when the device is idle again.
	ways func(k *kit) (slow, fast func())
}

// programs is the whole table. Names are unique.
func programs() []program {
	return slices.Concat(mallocPrograms(), poolPrograms(), copyPrograms(), launchPrograms(), besidePrograms(),
		eventPrograms(), virtualPrograms())
}

// How often each way is timed. Virtual times repeat exactly.
const simRounds, gpuRounds = 1, 21

// measure times both ways, side by side, and leaves the device as it was. Both are run before each sample, so that
// caches, pools and the driver's own stores of memory are warm for whichever is timed: on a GPU, the first to ask for
// memory after a pause waits 0.1 ms longer for it, which is more than some of the programs take.
func (p *program) measure(d device.Device) (timing, error) {
	rounds := gpuRounds
	if d.Info().Kind == device.Sim {
		rounds = simRounds
	}
	notes, err := carryOut(d, p.Name, func(b *suite.Bench) {
		k := &kit{Bench: b}
		slow, fast := p.ways(k)
		warm := way(func() {
			slow()
			fast()
		})
		samples, _ := b.Time(suite.Timing{Rounds: rounds},
			suite.Contender{Name: slowWay, Prepare: warm, Run: way(slow)},
			suite.Contender{Name: fastWay, Prepare: warm, Run: way(fast)})
		b.Note(samples)
		k.giveBack()
	})
	if err != nil {
		return timing{}, err
	}
	return newTiming(p.Name, notes.Samples[slowWay], notes.Samples[fastWay]), nil
}

// The two ways as a race's contenders, under the names that lessons have for them.
const (
	slowWay = suite.Baseline
	fastWay = verdict.Solution
)

// way is a way as a race wants it. A call that fails in it is no outcome: it ends the program.
func way(f func()) func() error {
	return func() error {
		f()
		return nil
	}
}

// carryOut runs a timed case as the runner does. What fails is an error.
func carryOut(d device.Device, id string, drive func(*suite.Bench)) (notes *notes, err error) {
	s := session.New(d)
	s.Use()
	defer s.Restore()
	notes = newNotes()
	defer func() {
		if v := recover(); v != nil {
			fault, ok := suite.Fault(v)
			if !ok {
				panic(v)
			}
			err = fault
		}
	}()
	drive(&suite.Bench{Session: s, Seed: 1, CaseID: id, Notes: notes})
	return notes, notes.failure()
}

// warmUp is how long the GPU works before anything is timed, in nanoseconds: an idle one has slow clocks.
const warmUp = 300_000_000

// warm compiles the kernels and has the GPU work until its clocks are up.
func warm(d device.Device) error {
	if _, err := probe.Ready(d); err != nil {
		return err
	}
	session.New(d).Use()
	if err := probe.Delay(cuda.Stream{}, warmUp); err != nil {
		return err
	}
	return cuda.DeviceSynchronize()
}
