package suite

import (
	"fmt"

	"cudalab/grader/suite/verdict"
	"cudalab/native/device"
)

// Rounds of a Race. On a GPU 25 ratios give an interval that resolves a tenth. Virtual times repeat exactly once the pool has
// its memory; the second is for code that does its work in the first calls only.
const (
	simWarm, simRounds = 1, 2
	gpuWarm, gpuRounds = 2, 25
)

// raceTiming is how samples are taken that hold the student's code against the solution.
func (b *Bench) raceTiming() Timing {
	if b.Session.Device().Info().Kind == device.Sim {
		return Timing{Warm: simWarm, Rounds: simRounds}
	}
	return Timing{Warm: gpuWarm, Rounds: gpuRounds}
}

// Contenders are who takes part in a race, the student's code first; solution is nil where it is not at hand. Function is
// the one that is timed, where a case times several, as in Pacing.
func Contenders(function string, student, solution, baseline func() error) []Contender {
	all := []Contender{{Name: SeriesOf(function, verdict.Yours), Run: student}}
	if solution != nil {
		all = append(all, Contender{Name: SeriesOf(function, verdict.Solution), Run: solution})
	}
	return append(all, Contender{Name: SeriesOf(function, Baseline), Run: baseline})
}

// SeriesOf is the name under which something is noted of a function, where a case times several.
func SeriesOf(function, name string) string {
	if function == "" {
		return name
	}
	return function + ": " + name
}

// SpeedWords are a lesson's own words about the time that its code takes.
type SpeedWords struct {
	Pacing
	Passed      func(ratio, speedup float64) string // the sentence for a pass, with the figures of a Pace
	Work, Takes string                              // what is too slow, and its verb: "32 batches on 4 streams", "take"
	Why, Fix    string
}

// JudgeSpeed says whether the student's code takes at most so many times as long as the solution.
func (e *Evidence) JudgeSpeed(notes *verdict.CaseNotes, w SpeedWords) Answer {
	pace, ok := e.Pace(notes, w.Pacing)
	if !ok {
		return Answer{Skip: "No time could be measured."}
	}
	a := Answer{
		Message:      w.Passed(pace.Ratio.Value, pace.Speedup.Value),
		Findings:     pace.Remarks,
		Measurements: pace.Measurements,
		Again:        pace.Again,
	}
	if pace.TooSlow(w.Pacing) {
		a.Again = ToConfirm
		a.Findings = append(a.Findings, verdict.Finding{
			Rule: "too-slow", Severity: verdict.Error, Record: -1, Function: w.Function,
			Message: fmt.Sprintf("%s should take at most %.3g times as long as the solution's, but %s %.1f times as long (%.1f to %.1f).",
				w.Work, w.Limit, w.Takes, pace.Ratio.Value, pace.Ratio.Low, pace.Ratio.High),
			Why: w.Why, Fix: w.Fix,
		})
	}
	return a
}

// Spoilt finds why the times of a case tell nothing: function returned an error on the clock, or did not do its work
// there, by what wrong finds in the notes.
func Spoilt(c *verdict.CaseNotes, function string, wrong func(*verdict.CaseNotes) []verdict.Finding) []verdict.Finding {
	for _, o := range c.Outcomes {
		if !o.OK() {
			return []verdict.Finding{UnexpectedError(function, o)}
		}
	}
	return wrong(c)
}
