package poolconfig

import (
	"fmt"

	"cudalab/grader/measure"
	"cudalab/grader/suite"
)

// speedLimit is how much slower than the solution a right program may be.
const speedLimit = 1.5

func judgeSpeed(e *suite.Evidence) suite.Answer {
	notes := e.Cases[caseSpeed]
	for _, o := range notes.Outcomes {
		return suite.Answer{Findings: []suite.Finding{suite.UnexpectedError("Run", o)}}
	}
	if f, wrong := wrongWhenTimed(notes); wrong {
		return suite.Answer{Findings: []suite.Finding{f}}
	}
	yours, solution, baseline := notes.Samples[seriesStudent], notes.Samples[seriesSolution], notes.Samples[seriesBaseline]
	if len(yours) == 0 {
		return suite.Answer{Skip: "No time could be measured."}
	}
	ratio := measure.RatioOf(yours, solution)
	speedup := measure.RatioOf(baseline, yours)
	a := suite.Answer{
		Message: fmt.Sprintf("%.2f times the solution's time; %.1f times as fast as a pool that keeps nothing.",
			ratio.Value, speedup.Value),
		Measurements: []suite.Measurement{
			suite.Figure("time / solution's time", "x", ratio, speedLimit),
			suite.Figure("speedup over threshold 0", "x", speedup, 0),
			suite.Microseconds("your time", yours),
			suite.Microseconds("the solution's time", solution),
			suite.Microseconds("the baseline's time", baseline),
		},
	}
	if ratio.Against(speedLimit) == measure.Beyond {
		a.Confirm = true
		a.Findings = []suite.Finding{tooSlow(ratio)}
	}
	return a
}

func tooSlow(ratio measure.Interval) suite.Finding {
	return suite.Finding{
		Rule: "too-slow", Severity: suite.Error, Record: -1,
		Message: fmt.Sprintf("%d rounds of %d blocks on %d streams, through a pool that may keep all, take %.1f times as long as the "+
			"solution's (%.1f to %.1f); up to %.1f times would be fine.", speedRounds, speedBlocks, speedStreams, ratio.Value, ratio.Low,
			ratio.High, speedLimit),
		Why: "From a pool that has the memory a block costs under a microsecond; growing the pool, or waiting for the device, " +
			"costs many times that.",
		Fix: "Let the pool keep its memory from round to round, and wait only once in a round, when everything is enqueued.",
	}
}

// wrongWhenTimed looks at the reports of the timed runs and at those in between that were traced: speed counts only
// where they are right too.
func wrongWhenTimed(notes *suite.CaseNotes) (suite.Finding, bool) {
	f := suite.Finding{
		Rule: "wrong-when-timed", Severity: suite.Error, Record: -1,
		Why: "Work that is left out or remembered from an earlier call is not faster work.",
		Fix: "Do every round anew in every call, whatever was done before.",
	}
	touched, expected := notes.Values[noteTouched], notes.Values[noteExpected]
	for i, want := range expected {
		if i >= len(touched) || touched[i] < want {
			f.Message = "Among the timed runs Run left out some of its work, though the same code did all of it before."
			return f, true
		}
	}
	values := notes.Values[noteTimed]
	for _, peak := range notes.Values[notePeak] {
		r, rest := noted(values)
		values = rest
		wrong := len(r.Rounds) != speedRounds
		for _, s := range r.Rounds {
			wrong = wrong || s.UsedHigh < peak || s.Reserved < peak
		}
		if wrong {
			f.Message = "While Run was timed its report came out wrong, though the same code was right before."
			return f, true
		}
	}
	return suite.Finding{}, false
}
