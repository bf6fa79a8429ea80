package growable

import (
	_ "embed"
	"fmt"

	"cudalab/grader/suite"
	"cudalab/grader/suite/allocator"
	"cudalab/grader/suite/mapping"
	"cudalab/grader/suite/verdict"
	"cudalab/native/cuda"
)

// noteWrong is how many pieces of a vector that was timed were not there, or could not be written to.
const noteWrong = "wrong when timed"

// The timed workload: from nothing to 256 MiB, in pieces of 64 KiB of one element each, which have no source: copies take the same time
// in every vector, and more than all the rest.
const (
	speedTotal = 256 << 20
	speedPiece = 64 << 10
	speedCount = speedTotal / speedPiece
)

// race times how a vector grows. It is looked at and closed off the clock.
func race(b *suite.Bench, sides suite.Sides[Make]) {
	stage := b.NewStage()
	s := stage.Stream("s")
	var vector Vector
	fill := func(make Make) func() error {
		return func() (err error) {
			if vector, err = make(0, speedPiece, speedCount); err != nil {
				return err
			}
			for range speedCount {
				if err := vector.Append(s, 0, 1); err != nil {
					return err
				}
			}
			return nil
		}
	}
	var solution func() error
	if sides.Solution != nil {
		solution = fill(*sides.Solution)
	}
	contenders := suite.Contenders("", fill(sides.Student), solution, fill(newCopying))
	for i := range contenders {
		contenders[i].Check = func() {
			if i == 0 {
				b.Value(noteWrong, unwritable(b, vector))
			}
			if err := vector.Close(); err != nil && i == 0 {
				b.Value(noteWrong, 1)
			}
		}
	}
	samples, _ := b.Time(mapping.Timing(b), contenders...)
	b.Note(samples)
	stage.Close()
}

// unwritable counts the pieces that are not there or that the device may not write to. A granule is mapped as a whole or not at all, so
// its first piece tells of all. Then it waits, since the vector is closed next.
func unwritable(b *suite.Bench, v Vector) (wrong uint64) {
	granule, missing := allocator.Granularity(b), false
	for i := range int64(speedCount) {
		at := v.Ptr() + cuda.DevicePtr(i*speedPiece)
		if i == 0 || int64(at)%granule == 0 {
			missing = cuda.Memset(at, 1, 8) != nil
		}
		if missing || i >= v.Len() {
			wrong++
		}
	}
	b.Must(cuda.DeviceSynchronize())
	return wrong
}

// speedLimit is how much slower than the solution a right program may be: one that grows by a quarter each time, or in a mapping for
// each granule, passes: on an H200 that takes an arena 12 times as long.
const speedLimit = 16

//go:embed paces.txt
var paces string

var speed = suite.Part[Make]{
	Cases:    []*suite.Trial[Make]{{ID: "speed", After: lastGap, Timed: true, Drive: race}},
	Question: suite.Question{ID: "speed", Name: "growing takes about as long as the solution's", Judge: judgeSpeed},
}

func judgeSpeed(e *suite.Evidence) suite.Answer {
	notes := e.Cases["speed"]
	if spoilt := suite.Spoilt(notes, "New or Append", wrongWhenTimed); spoilt != nil {
		return suite.Answer{Findings: spoilt}
	}
	return e.JudgeSpeed(notes, suite.SpeedWords{
		Pacing: suite.Pacing{Versus: "growing by copying", Limit: speedLimit, Recorded: paces},
		Passed: func(ratio, speedup float64) string {
			return fmt.Sprintf("%.2f times the solution's time; growing by copying takes %.1f times as long as yours.", ratio, speedup)
		},
		Work: fmt.Sprintf("Appending %d MiB in pieces of %d KiB", speedTotal>>20, speedPiece>>10), Takes: "takes",
		Why: "Every growth costs about 30 µs of CUDA calls, most of it in MemSetAccess, however little it adds.",
		Fix: "Grow by a factor, so that few growths are needed, and call cuda.MemSetAccess once for all that a growth has mapped.",
	})
}

// wrongWhenTimed looks at what the timed vectors held: speed counts only where that was right.
func wrongWhenTimed(notes *verdict.CaseNotes) []verdict.Finding {
	for _, n := range notes.Values[noteWrong] {
		if n > 0 {
			return []verdict.Finding{{
				Rule: "wrong-when-timed", Severity: verdict.Error, Record: -1, Function: "Append",
				Message: fmt.Sprintf("When time was measured, all %d elements should have had memory, but %d of them could not be written to.",
					speedCount, n),
				Why: "Leaving memory out is not faster work: when a kernel touches such an element, every later CUDA call fails.",
				Fix: "Map memory behind every element before Append returns, whatever was done before.",
			}}
		}
	}
	return nil
}
