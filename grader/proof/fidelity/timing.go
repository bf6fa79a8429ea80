package fidelity

import (
	"errors"
	"fmt"

	"cudalab/grader/suite/measure"
	"cudalab/grader/suite/verdict"
)

// timing is how long the two ways of a program took: medians with their intervals.
type timing struct {
	Name       string
	Slow, Fast measure.Interval // microseconds
	Speedup    measure.Interval // slow over fast, in the same rounds
}

// newTiming makes a timing of samples in nanoseconds.
func newTiming(name string, slow, fast []int64) timing {
	return timing{name, micros(measure.MedianOf(slow)), micros(measure.MedianOf(fast)), measure.RatioOf(slow, fast)}
}

// micros is a time in nanoseconds in microseconds.
func micros(v measure.Interval) measure.Interval {
	return measure.Interval{Value: v.Value / 1e3, Low: v.Low / 1e3, High: v.High / 1e3}
}

// notes is what a timed case notes.
type notes struct{ verdict.CaseNotes }

func newNotes() *notes {
	return &notes{verdict.CaseNotes{Values: map[string][]uint64{}, Samples: map[string][]int64{}}}
}

func (n *notes) Outcome(o verdict.Outcome)       { n.Outcomes = append(n.Outcomes, o) }
func (n *notes) Value(name string, vs ...uint64) { n.Values[name] = append(n.Values[name], vs...) }
func (n *notes) Sample(series string, nanos int64) {
	n.Samples[series] = append(n.Samples[series], nanos)
}

// failure is an outcome that is none of success.
func (n *notes) failure() error {
	for _, o := range n.Outcomes {
		if !o.OK() {
			return fmt.Errorf("%s: %w", o.Label, errors.New(o.Err+o.Panic))
		}
	}
	return nil
}
