package buddy

import (
	"fmt"

	"cudalab/grader/suite"
)

func judgeCost(e *suite.Evidence) suite.Answer {
	notes := e.Cases[caseCost]
	if spoilt := notes.Spoilt("Alloc or Free", wrongWhenTimed); spoilt != nil {
		return suite.Answer{Findings: spoilt}
	}
	a := suite.JudgeGrowth(notes, suite.GrowthWords{
		Operation: "an Alloc and a Free", Things: "blocks",
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
func wrongWhenTimed(notes *suite.CaseNotes) []suite.Finding {
	f := suite.Finding{
		Rule: "wrong-when-timed", Severity: suite.Error, Record: -1, Function: "Alloc",
		Why: "Two users of one block destroy each other's data; an allocator is no faster for that.",
		Fix: "Do the same work whatever the size of the root and the number of blocks.",
	}
	out, apart, whole := notes.Values[noteOut], notes.Values[noteApart], notes.Values[noteWhole]
	few, many, ok := notes.Grown()
	if !ok || len(out) != 2 || len(apart) != 2 {
		return nil // no time was measured
	}
	for i, blocks := range []uint64{few, many} {
		switch {
		case apart[i] < out[i]:
			f.Message = fmt.Sprintf("With %d blocks handed out, none should overlap another, but some did.", out[i])
			return []suite.Finding{f}
		case out[i] < blocks*3/4:
			f.Message = fmt.Sprintf("A root that is half full should have had room for nearly all of %d blocks, but only %d could be allocated.",
				blocks, out[i])
			return []suite.Finding{f}
		case i >= len(whole):
			f.Message = fmt.Sprintf("When all of %d blocks had been freed, the root should have been one free block, but it was not.", blocks)
			return []suite.Finding{f}
		}
	}
	return nil
}
