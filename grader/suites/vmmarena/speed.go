package vmmarena

import (
	_ "embed"
	"fmt"

	"cudalab/grader/suite"
	"cudalab/grader/suite/allocator"
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
	var arena Arena
	var last cuda.DevicePtr
	var misplaced uint64
	fill := func(make Make) func() error {
		return func() (err error) {
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
	}
	var solution func() error
	if sides.Solution != nil {
		solution = fill(*sides.Solution)
	}
	contenders := suite.Contenders("", fill(sides.Student), solution, fill(newCopying))
	for i := range contenders {
		contenders[i].Check = func() {
			if i == 0 {
				b.Value(noteMisplaced, misplaced)
				b.Value(noteUnusable, unusable(b, arena.Stats().Base, last))
			}
			if err := arena.Close(); err != nil && i == 0 {
				b.Value(noteUnusable, 1)
			}
		}
	}
	samples, _ := b.Time(mapping.Timing(b), contenders...)
	b.Note(samples)
}

// unusable counts the blocks between Base and the last one, where all should be, that are not there or that the device
// may not write to. A granule is mapped as a whole or not at all, so its first block tells of all. Then it waits, since
// the arena is closed next.
func unusable(b *suite.Bench, base, last cuda.DevicePtr) uint64 {
	granule, wrong, missing := allocator.Granularity(b), uint64(0), false
	for at := cuda.DevicePtr(0); at < speedTotal; at += speedBlock {
		if at == 0 || int64(base+at)%granule == 0 {
			missing = cuda.Memset(base+at, 1, 8) != nil
		}
		if base+at > last || missing {
			wrong++
		}
	}
	b.Must(cuda.DeviceSynchronize())
	return wrong
}

// speedLimit is how much slower than the solution a right program may be: one that grows by a quarter each time, or in a
// mapping for each granule, passes; one that grows by a granule each time fails clearly.
const speedLimit = 8

//go:embed paces.txt
var paces string

var speed = suite.Part[Make]{
	Cases:    []*suite.Trial[Make]{{ID: "speed", After: lastGap, Timed: true, Drive: race}},
	Question: suite.Question{ID: "speed", Name: "growing takes about as long as the solution's", Judge: judgeSpeed},
}

func judgeSpeed(e *suite.Evidence) suite.Answer {
	notes := e.Cases["speed"]
	if spoilt := suite.Spoilt(notes, "New or Alloc", wrongWhenTimed); spoilt != nil {
		return suite.Answer{Findings: spoilt}
	}
	return e.JudgeSpeed(notes, suite.SpeedWords{
		Pacing: suite.Pacing{Versus: "growing by copying", Limit: speedLimit, Recorded: paces},
		Passed: func(ratio, speedup float64) string {
			return fmt.Sprintf("%.2f times the solution's time; growing by copying takes %.1f times as long as yours.", ratio, speedup)
		},
		Work: fmt.Sprintf("Growing to %d MiB in blocks of %d KiB", speedTotal>>20, speedBlock>>10), Takes: "takes",
		Why: "Every growth costs about 30 µs of CUDA calls, most of it in MemSetAccess, however little it adds.",
		Fix: "Grow by a factor, so that few growths are needed, and call cuda.MemSetAccess once for all that a growth has mapped.",
	})
}

// wrongWhenTimed looks at whether the blocks of the timed arenas were apart, and had memory: speed counts only where they were.
func wrongWhenTimed(notes *verdict.CaseNotes) []verdict.Finding {
	for _, n := range notes.Values[noteMisplaced] {
		if n > 0 {
			return []verdict.Finding{{
				Rule: "wrong-when-timed", Severity: verdict.Error, Record: -1, Function: "Alloc",
				Message: "While time was measured, " + cost.Missed(n) + ".", Why: cost.MissedWhy, Fix: cost.MissedFix,
			}}
		}
	}
	for _, n := range notes.Values[noteUnusable] {
		if n > 0 {
			return []verdict.Finding{{
				Rule: "wrong-when-timed", Severity: verdict.Error, Record: -1,
				Message: fmt.Sprintf("When time was measured, all %d blocks should have had memory, but %d of them could not be written to.",
					speedTotal/speedBlock, n),
				Why: "Leaving memory out is not faster work: when a kernel touches such a block, every later CUDA call fails.",
				Fix: "Map memory behind every block before it is handed out, whatever was done before.",
			}}
		}
	}
	return nil
}
