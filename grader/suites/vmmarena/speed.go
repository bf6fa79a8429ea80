package vmmarena

import (
	_ "embed"
	"fmt"

	"cudalab/grader/suite"
	"cudalab/grader/suite/mapping"
	"cudalab/grader/suite/verdict"
	"cudalab/native/cuda"
)

// How many blocks of an arena that was timed
const (
	noteUnusable  = "unusable when timed"  // could not be written to
	noteMisplaced = "misplaced when timed" // did not lie right behind the block before
)

// The timed workload: from nothing to 256 MiB, in blocks of 64 KiB.
const (
	speedTotal = 256 << 20
	speedBlock = 64 << 10
)

// race times how an arena grows. It is closed off the clock.
func race(b *suite.Bench, sides suite.Sides[Make]) {
	suite.Contest(b, mapping.Timing(b), "", sides, newCopying, func(name string, make Make) suite.Contender {
		yours := name == verdict.Yours
		var arena Arena
		var last cuda.DevicePtr
		var misplaced uint64
		run := func() (err error) {
			if arena, err = make(0, speedTotal); err != nil {
				return err
			}
			misplaced = 0
			if last, err = arena.Alloc(speedBlock); err != nil {
				return err
			}
			for range speedTotal/speedBlock - 1 {
				p, err := arena.Alloc(speedBlock)
				if err != nil {
					return err
				}
				if p != last+speedBlock {
					misplaced++
				}
				last = p
			}
			return nil
		}
		return suite.Contender{Run: run, Check: func() {
			if yours {
				held, base := int64(0), arena.Stats().Base
				if base <= last {
					held = int64(last-base)/speedBlock + 1
				}
				b.Value(noteMisplaced, misplaced)
				b.Value(noteUnusable, mapping.Unusable(b, base, speedBlock, speedTotal/speedBlock, held))
			}
			if err := arena.Close(); err != nil && yours {
				b.Value(noteUnusable, 1)
			}
		}}
	})
}

// speedLimit is how much slower than the solution a right program may be: one that grows by a quarter each time, or in
// a mapping for each granule, passes; one that grows by a granule each time fails clearly.
const speedLimit = 8

//go:embed paces.txt
var paces string

var speed = suite.SpeedPart("growing takes about as long as the solution's", lastGap, "New or Alloc", race,
	mapping.SpeedWords(fmt.Sprintf("Growing to %d MiB in blocks of %d KiB", speedTotal>>20, speedBlock>>10), speedLimit,
		paces),
	suite.Flaw{Note: noteMisplaced, Function: "Alloc",
		Message: func(n uint64) string { return "While time was measured, " + cost.Missed(n) + "." },
		Why:     cost.MissedWhy, Fix: cost.MissedFix},
	suite.Flaw{Note: noteUnusable,
		Message: func(n uint64) string {
			return fmt.Sprintf("When time was measured, all %d blocks should have had memory, but %d of them could not be "+
				"written to.",
				speedTotal/speedBlock, n)
		},
		Why: "Leaving memory out is not faster work: when a kernel touches such a block, every later CUDA call fails.",
		Fix: "Map memory behind every block before it is handed out, whatever was done before."})
