package poolconfig

import (
	_ "embed"
	"fmt"

	"cudalab/grader/suite"
)

// speedLimit is how much slower than the solution a right program may be.
const speedLimit = 1.5

//go:embed paces.txt
var paces string

func judgeSpeed(e *suite.Evidence) suite.Answer {
	notes := e.Cases[caseSpeed]
	if spoilt := notes.Spoilt("Run", wrongWhenTimed); spoilt != nil {
		return suite.Answer{Findings: spoilt}
	}
	return e.JudgeSpeed(notes, suite.SpeedWords{
		Pacing: suite.Pacing{Versus: "threshold 0", Limit: speedLimit, Recorded: paces},
		Passed: func(ratio, speedup float64) string {
			return fmt.Sprintf("%.2f times the solution's time; %.1f times as fast as a pool that keeps nothing.", ratio, speedup)
		},
		Work: fmt.Sprintf("%d rounds of %d blocks on %d streams, through a pool that may keep all its memory,", speedRounds, speedBlocks,
			speedStreams), Takes: "take",
		Why: "From a pool that has the memory a block costs under a microsecond; growing the pool, waiting for the device, or writing " +
			"a block with a few threads only costs many times that.",
		Fix: "Let the pool keep its memory from round to round, wait only once in a round, when everything is enqueued, and launch " +
			"kernels.Touch with some thousand threads.",
	})
}

// wrongWhenTimed looks at the reports of the timed runs and at those in between that were traced: speed counts only
// where they are right too.
func wrongWhenTimed(notes *suite.CaseNotes) []suite.Finding {
	f := suite.Finding{
		Rule: "wrong-when-timed", Severity: suite.Error, Record: -1,
		Why: "Work that is left out or remembered from an earlier call is not faster work.",
		Fix: "Do every round anew in every call, whatever was done before.",
	}
	touched, expected := notes.Values[noteTouched], notes.Values[noteExpected]
	for i, want := range expected {
		if i >= len(touched) || touched[i] < want {
			f.Message = "Run should do all of its work in each call, but in the timed calls it left some out; the same code did all of it before."
			return []suite.Finding{f}
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
			return []suite.Finding{f}
		}
	}
	return nil
}
