package fidelity

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"cudalab/grader/suite"
	"cudalab/grader/suite/measure"
	asyncpipelinesuite "cudalab/grader/suites/asyncpipeline"
	crossstreameventssuite "cudalab/grader/suites/crossstreamevents"
	poolconfigsuite "cudalab/grader/suites/poolconfig"
	slabsuite "cudalab/grader/suites/slab"
	vmmarenasuite "cudalab/grader/suites/vmmarena"
	"cudalab/native/device"
	"cudalab/solutions/asyncpipeline"
	"cudalab/solutions/crossstreamevents"
	"cudalab/solutions/poolconfig"
	"cudalab/solutions/slab"
	"cudalab/solutions/vmmarena"
)

// timed is what is timed in one go: a program, or a lesson's timed case, which may be of several functions.
type timed struct {
	name       string
	slow, fast string // in plain words
	measure    func(d device.Device) ([]Timing, error)
}

// everything is the programs, and what the lessons time.
func everything() []timed {
	var all []timed
	for _, p := range Programs() {
		all = append(all, timed{p.Name, p.Slow, p.Fast, func(d device.Device) ([]Timing, error) {
			t, err := p.Measure(d)
			return []Timing{t}, err
		}})
	}
	return slices.Concat(all, races(), allocators())
}

// races are the lessons in which the solution races against the baseline.
func races() (all []timed) {
	events := crossstreameventssuite.Code{Share: crossstreamevents.Share, FanOut: crossstreamevents.FanOut}
	arena := vmmarenasuite.Of(vmmarena.New)
	for _, s := range []*suite.Suite{
		asyncpipelinesuite.Lesson.Suite(asyncpipeline.Run, asyncpipeline.Run),
		poolconfigsuite.Lesson.Suite(poolconfig.Run, poolconfig.Run),
		crossstreameventssuite.Lesson.Suite(events, events),
		vmmarenasuite.Lesson.Suite(arena, arena),
	} {
		for _, c := range s.Cases {
			if c.Timed {
				all = append(all, timed{"lesson/" + s.Exercise, "the baseline of " + s.Exercise, "its solution",
					func(d device.Device) ([]Timing, error) { return raced(d, "lesson/"+s.Exercise, c) }})
			}
		}
	}
	return all
}

// raced times the solution and the baseline in a lesson's race, for each function that it is of.
func raced(d device.Device, name string, c suite.Case) (all []Timing, err error) {
	notes, err := carryOut(d, c.ID, c.Drive)
	if err != nil {
		return nil, err
	}
	for _, series := range slices.Sorted(maps.Keys(notes.Samples)) {
		function, ok := strings.CutSuffix(series, suite.Solution)
		if !ok || notes.Samples[function+suite.Baseline] == nil {
			continue
		}
		t := newTiming(name, notes.Samples[function+suite.Baseline], notes.Samples[series])
		if function = strings.TrimSuffix(function, ": "); function != "" {
			t.Name += "/" + function
		}
		all = append(all, t)
	}
	return all, nil
}

// The contenders of an allocators' benchmark that need no allocator.
const (
	plain   = "cuda.Malloc (baseline)"
	ordered = "cuda.MallocAsync"
)

// allocators are what slab and buddy are compared with: they make no CUDA calls of their own when they are timed.
func allocators() (all []timed) {
	s := slabsuite.Lesson.Suite(slabsuite.Of(slab.New), slabsuite.Of(slab.New))
	for _, m := range s.Benchmarks {
		if m.ID == "bookkeeping" {
			continue
		}
		all = append(all, timed{"lesson/slab-and-buddy/" + m.ID, plain + ": " + m.Name, ordered,
			func(d device.Device) ([]Timing, error) { return compared(d, "lesson/slab-and-buddy/"+m.ID, m) }})
	}
	return all
}

// compared times the two, for one operation.
func compared(d device.Device, name string, m suite.Benchmark) ([]Timing, error) {
	notes, err := carryOut(d, m.ID, m.Drive)
	if err != nil {
		return nil, err
	}
	info := d.Info()
	t := Timing{Name: name}
	for _, w := range m.Workloads(&notes.CaseNotes, suite.Device{Kind: string(info.Kind), Name: info.Name}, func(string) bool { return false }) {
		for _, s := range w.Standings {
			v := micros(measure.Interval{Value: s.Value, Low: s.Low, High: s.High})
			switch s.Contender {
			case plain:
				t.Slow = v
			case ordered:
				t.Fast = v
			}
		}
	}
	if t.Slow.Value == 0 || t.Fast.Value == 0 {
		return nil, fmt.Errorf("%s: %s and %s were to be timed", name, plain, ordered)
	}
	t.Speedup = measure.Interval{Value: t.Slow.Value / t.Fast.Value, Low: t.Slow.Low / t.Fast.High, High: t.Slow.High / t.Fast.Low}
	return []Timing{t}, nil
}
