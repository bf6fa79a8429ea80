package asyncpipeline

import (
	_ "embed"
	"fmt"
	"math"

	"cudalab/grader/measure"
	"cudalab/grader/suite"
)

// speedLimit is how much slower than the solution a right program may be.
const speedLimit = 1.5

//go:embed paces.txt
var paces string

var pacing = suite.Pacing{Versus: "the synchronous baseline", Limit: speedLimit, Recorded: paces}

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
		Message: fmt.Sprintf("%.2f times the solution's time; %.1f times as fast as the synchronous baseline.",
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
		Message: fmt.Sprintf("%d batches on %d streams should take at most %.1f times as long as the solution's, but take %.1f times as "+
			"long (%.1f to %.1f).", speedBatches, speedStreams, speedLimit, ratio.Value, ratio.Low, ratio.High),
		Why: "One batch fills only a part of the GPU, so batches in different streams can run at the same time.",
		Fix: "Keep every stream supplied: no call that waits for the device, and batch i on streams[i%len(streams)].",
	}
}

// wrongWhenTimed looks at the results of the timed runs: speed counts only where they are right too.
func wrongWhenTimed(notes *suite.CaseNotes) (suite.Finding, bool) {
	sums := notes.Values[noteTimedSum]
	for _, bits := range notes.Values[noteMultiplier] {
		w := speedWorkload(math.Float32frombits(uint32(bits)))
		want := w.want(0)
		for i := range w.batches {
			if len(sums) > i && sums[i] == want {
				continue
			}
			return suite.Finding{
				Rule: "wrong-when-timed", Severity: suite.Error, Record: -1,
				Message: fmt.Sprintf("Run should compute every sum in each call, but while it was timed with %s, that of batches[%d] was wrong; "+
					"the same code was right before.",
					w.label, i),
				Why: "Work that is left out or reused from an earlier call is not faster work.",
				Fix: "Compute every batch anew in every call, whatever was computed before.",
			}, true
		}
		sums = sums[len(w.batches):]
	}
	return suite.Finding{}, false
}
