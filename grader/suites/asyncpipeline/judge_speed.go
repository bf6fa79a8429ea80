package asyncpipeline

import (
	"fmt"
	"math"

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
		Message: fmt.Sprintf("%.2f times the solution's time; %.1f times as fast as the synchronous baseline.",
			ratio.Value, speedup.Value),
		Measurements: []suite.Measurement{
			suite.Figure("time / solution's time", "x", ratio, speedLimit),
			suite.Figure("speedup over the synchronous baseline", "x", speedup, 0),
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
		Message: fmt.Sprintf("%d batches on %d streams take %.1f times as long as the solution's (%.1f to %.1f); "+
			"up to %.1f times would be fine.", speedBatches, speedStreams, ratio.Value, ratio.Low, ratio.High, speedLimit),
		Why: "One batch fills only a part of the GPU, so most of the time is won by running batches of different streams at once.",
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
				Message: fmt.Sprintf("While Run was timed with %s, batches[%d] came out wrong, though the same code was right before.",
					w.label, i),
				Why: "Work that is left out or reused from an earlier call is not faster work.",
				Fix: "Compute every batch anew in every call, whatever was computed before.",
			}, true
		}
		sums = sums[len(w.batches):]
	}
	return suite.Finding{}, false
}
