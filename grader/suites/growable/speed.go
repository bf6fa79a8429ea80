package growable

import (
	_ "embed"
	"fmt"

	"cudalab/grader/suite"
	"cudalab/grader/suite/mapping"
	"cudalab/grader/suite/verdict"
)

// noteWrong is how many pieces of a vector that was timed were not there, or could not be written to.
const noteWrong = "wrong when timed"

// The timed workload: from nothing to 256 MiB, in pieces of 64 KiB of one element each, which have no source: copies
// take the same time in every vector, and more than all the rest.
const (
	speedTotal = 256 << 20
	speedPiece = 64 << 10
	speedCount = speedTotal / speedPiece
)

// race times how a vector grows. It is looked at and closed off the clock.
func race(b *suite.Bench, sides suite.Sides[Make]) {
	stage := b.NewStage()
	s := stage.Stream("s")
	suite.Contest(b, mapping.Timing(b), "", sides, newCopying, func(name string, make Make) suite.Contender {
		yours := name == verdict.Yours
		var vector Vector
		run := func() (err error) {
			if vector, err = make(0, speedPiece/2, 2*speedCount); err != nil {
				return err
			}
			for range speedCount {
				if err := vector.Append(s, 0, 2); err != nil {
					return err
				}
			}
			return nil
		}
		return suite.Contender{Run: run, Check: func() {
			if yours {
				b.Value(noteWrong, mapping.Unusable(b, vector.Ptr(), speedPiece/2, 2*speedCount, vector.Len()))
			}
			if err := vector.Close(); err != nil && yours {
				b.Value(noteWrong, 1)
			}
		}}
	})
	stage.Close()
}

// speedLimit is how much slower than the solution a right program may be: one that grows by a quarter each time, or in
// a mapping for each granule, passes: on an H200 that takes an arena 12 times as long.
const speedLimit = 16

//go:embed paces.txt
var paces string

var speed = suite.SpeedPart("growing takes about as long as the solution's", lastGap, "New or Append", race,
	mapping.SpeedWords(fmt.Sprintf("Appending %d MiB in pieces of %d KiB", speedTotal>>20, speedPiece>>10), speedLimit,
		paces),
	suite.Flaw{Note: noteWrong, Function: "Append",
		Message: func(n uint64) string {
			return fmt.Sprintf("When time was measured, all %d elements should have had memory, but %d of them could not be "+
				"written to.",
				speedCount, n)
		},
		Why: "Leaving memory out is not faster work: when a kernel touches such an element, every later CUDA call fails.",
		Fix: "Map memory behind every element before Append returns, whatever was done before."})
