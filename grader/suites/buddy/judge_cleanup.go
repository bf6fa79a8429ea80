package buddy

import (
	"fmt"

	"cudalab/grader/suite"
)

func judgeCleanup(e *suite.Evidence) suite.Answer {
	a := suite.Answer{
		Message:  "Close gave everything back, and a CUDA call that failed was reported and left nothing behind.",
		Findings: e.Of(suite.EndRules, caseExamples, caseRandom),
	}
	if suite.HasError(a.Findings) {
		return a // what goes wrong without any failure would only be told again for each failure
	}
	if outcomes := e.Cases[caseFaults].Outcomes; len(outcomes) == 0 || !outcomes[0].OK() {
		a.Skip = "The allocator did not work even where no call failed, so this could not be seen."
		return a
	}
	a.Findings = suite.Unique(append(a.Findings, e.AfterFaults(caseFaults, suite.FaultJudge{
		Function: "New or Close",
		Retried:  "Close",
	})...))
	return a
}

func judgeCost(e *suite.Evidence) suite.Answer {
	notes := e.Cases[caseCost]
	for _, o := range notes.Outcomes {
		if !o.OK() {
			return suite.Answer{Findings: []suite.Finding{suite.UnexpectedError("Alloc or Free", o)}}
		}
	}
	if f, wrong := wrongWhenTimed(notes); wrong {
		return suite.Answer{Findings: []suite.Finding{f}}
	}
	a := suite.JudgeGrowth(notes, suite.GrowthWords{
		Operation: "an Alloc and a Free",
		Few:       "32 blocks", Many: "32,768 blocks",
		Why: "A root of 2^n minimal blocks is n halvings deep, so nothing need take more steps than that; a search through all blocks takes " +
			"a thousand times as many steps when there are a thousand times as many blocks.",
		Fix: "Keep the free blocks of each order apart, so that one is at hand, and ask of one buddy whether it is free without looking at " +
			"the others: by a bit, or a table indexed by the block's number.",
	})
	if plain := notes.Samples[seriesPlain]; len(plain) > 0 && a.Skip == "" {
		a.Measurements = append(a.Measurements, suite.Microseconds("a cuda.Malloc and a cuda.Free for each block", plain))
	}
	return a
}

// wrongWhenTimed looks at the blocks that were handed out under the clock, and at what was left when all were freed.
func wrongWhenTimed(notes *suite.CaseNotes) (suite.Finding, bool) {
	f := suite.Finding{
		Rule: "wrong-when-timed", Severity: suite.Error, Record: -1, Function: "Alloc",
		Why: "Two users of one block destroy each other's data; an allocator is no faster for that.",
		Fix: "Do the same work whatever the size of the root and the number of blocks.",
	}
	out, apart, whole := notes.Values[noteOut], notes.Values[noteApart], notes.Values[noteWhole]
	if len(out) != 2 || len(apart) != 2 {
		return f, false // no time was measured
	}
	for i, blocks := range []uint64{fewBlocks, manyBlocks} {
		switch {
		case apart[i] < out[i]:
			f.Message = fmt.Sprintf("With %d blocks handed out, none should overlap another, but some did.", out[i])
			return f, true
		case out[i] < blocks*3/4:
			f.Message = fmt.Sprintf("A root that is half full should have had room for nearly all of %d blocks, but only %d could be allocated.",
				blocks, out[i])
			return f, true
		case i >= len(whole):
			f.Message = fmt.Sprintf("When all of %d blocks had been freed, the root should have been one free block, but it was not.", blocks)
			return f, true
		}
	}
	return f, false
}
