package fidelity

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"cudalab/grader/proof/flips"
	"cudalab/grader/suite"
	"cudalab/grader/suite/allocbench"
	"cudalab/grader/suite/measure"
	"cudalab/grader/suite/verdict"
	"cudalab/grader/suites/course"
	"cudalab/native/cuda"
	"cudalab/native/device"
	"cudalab/native/sim"
)

// timed is what is timed in one go: a program, or a lesson's timed case, which may be of several functions.
type timed struct {
	name       string
	slow, fast string // in plain words
	measure    func(target) ([]timing, error)
}

// target is a device to time, and its profile if it is simulated and not the built-in one.
type target struct {
	device.Device
	profile *sim.Profile
}

// everything is the programs, and what the lessons time. Of the lessons' own it makes a runner, to be closed.
func everything() (all []timed, close func(), err error) {
	for _, p := range programs() {
		all = append(all, timed{p.Name, p.Slow, p.Fast, func(on target) ([]timing, error) {
			t, err := p.measure(on)
			return []timing{t}, err
		}})
	}
	lessons, close, err := races()
	return slices.Concat(all, lessons, allocators()), close, err
}

// races are the lessons in which the solution races against a baseline.
func races() (all []timed, close func(), err error) {
	c, err := course.Open("../../..")
	if err != nil {
		return nil, nil, err
	}
	solutions := flips.Solutions(c)
	binary, err := flips.Link(context.Background(), c.Root, solutions...)
	if err != nil {
		return nil, nil, err
	}
	for i, p := range solutions {
		for _, q := range p.Exercise.Suite.Checks {
			s, err := flips.Timed(p.Exercise.Suite, q.ID)
			if err != nil {
				continue // nothing of it is timed
			}
			name := "lesson/" + p.Exercise.Name
			all = append(all, timed{name, "the baseline of " + p.Exercise.Name, "its solution", func(on target) ([]timing,
				error) {
				checker := binary.Checker(string(on.Info().Kind), on.profile)
				defer checker.Close()
				r := checker.Check(context.Background(), i, 1, s)
				if r.Err != nil || r.Report.Status != verdict.Passed {
					return nil, errors.Join(fmt.Errorf("the solution of %s did not pass", p.Exercise.Name), r.Err)
				}
				return raced(name, r.Cases), nil
			}})
		}
	}
	return all, binary.Close, nil
}

// raced are the times of the solution and the baseline, for each function that a race was of; none where there was
// none.
func raced(name string, cases []*verdict.CaseNotes) (all []timing) {
	for _, notes := range cases {
		for _, series := range slices.Sorted(maps.Keys(notes.Samples)) {
			function, ok := strings.CutSuffix(series, verdict.Solution)
			if !ok || notes.Samples[function+suite.Baseline] == nil {
				continue
			}
			t := newTiming(name, notes.Samples[function+suite.Baseline], notes.Samples[series])
			if function = strings.TrimSuffix(function, ": "); function != "" {
				t.Name += "/" + function
			}
			all = append(all, t)
		}
	}
	return all
}

// The contenders of an allocators' benchmark that need no allocator.
const (
	plain   = "cuda.Malloc (baseline)"
	ordered = "cuda.MallocAsync"
)

// allocators are what the lessons' allocators are compared with: they make no CUDA calls of their own when they are
// timed.
func allocators() (all []timed) {
	for _, m := range allocbench.Pairs("", bump) {
		all = append(all, compared(m))
	}
	return append(all, compared(allocbench.Growth(bump)))
}

// counter is an allocator without memory, for benchmarks in which only the others count.
type counter struct{}

func (counter) Alloc(int64) (cuda.DevicePtr, error) { return 256, nil }
func (counter) Free(cuda.DevicePtr) error           { return nil }
func (counter) Close() error                        { return nil }

func bump(counter) allocbench.Make {
	return func(int64, int64, int) (allocbench.Allocator, error) { return counter{}, nil }
}

// compared times the two, for one operation.
func compared(m suite.Trial[counter]) timed {
	name := "allocators/" + m.ID
	return timed{name, plain + ": " + m.Benchmark.Name, ordered, func(on target) ([]timing, error) {
		notes, err := carryOut(on, m.ID, func(b *suite.Bench) { m.Drive(b, suite.Sides[counter]{}) })
		if err != nil {
			return nil, err
		}
		info := on.Info()
		t := timing{Name: name}
		for _, w := range m.Benchmark.Workloads(&notes.CaseNotes, verdict.Device{Kind: string(info.Kind), Name: info.Name},
			func(string) bool { return false }) {
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
		t.Speedup = measure.Interval{Value: t.Slow.Value / t.Fast.Value, Low: t.Slow.Low / t.Fast.High,
			High: t.Slow.High / t.Fast.Low}
		return []timing{t}, nil
	}}
}
