package poolconfig

import (
	_ "embed"
	"fmt"

	"cudalab/grader/measure"
	"cudalab/grader/suite"
)

// speedLimit is how much slower than the solution a right program may be.
const speedLimit = 1.5

//go:embed paces.txt
var paces string

var pacing = suite.Pacing{Versus: "threshold 0", Limit: speedLimit, Recorded: paces}

func judgeSpeed(e *suite.Evidence) suite.Answer {
	notes := e.Cases[caseSpeed]
	for _, o := range notes.Outcomes {
		return suite.Answer{Findings: []suite.Finding{suite.UnexpectedError("Run", o)}}
	}
	if f, wrong := wrongWhenTimed(notes); wrong {
		return suite.Answer{Findings: []suite.Finding{f}}
	}
	pace, ok := e.Pace(notes, pacing)
	if !ok {
		return suite.Answer{Skip: "No time could be measured."}
	}
	a := suite.Answer{
		Message: fmt.Sprintf("%.2f times the solution's time; %.1f times as fast as a pool that keeps nothing.",
			pace.Ratio.Value, pace.Speedup.Value),
		Findings:     pace.Remarks,
		Measurements: pace.Measurements,
	}
	if pace.TooSlow(pacing) {
		a.Confirm = true
		a.Findings = append(a.Findings, tooSlow(pace.Ratio))
	}
	return a
}

func tooSlow(ratio measure.Interval) suite.Finding {
	return suite.Finding{
		Rule: "too-slow", Severity: suite.Error, Record: -1,
		Message: fmt.Sprintf("%d rounds of %d blocks on %d streams, through a pool that may keep all its memory, should take at most "+
			"%.1f times as long as the solution's, but take %.1f times as long (%.1f to %.1f).", speedRounds, speedBlocks, speedStreams,
			speedLimit, ratio.Value, ratio.Low, ratio.High),
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
			f.Message = "Run should do all of its work in each call, but in the timed calls it left some out; the same code did all of it before."
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
			f.Message = "Run should report what happened in each call, but while it was timed its report was wrong; the same code was right before."
			return f, true
		}
	}
	return suite.Finding{}, false
}
