package vmmarena

import (
	"fmt"

	"cudalab/grader/suite"
	"cudalab/native/cuda"
)

// How many blocks lie before those that are handed out while the cost is measured.
const (
	fewBlocks  = 100
	manyBlocks = 100_000
)

// costRoom is how many blocks an arena has memory for from the beginning, so that none has to grow on the clock.
const costRoom = 12 * manyBlocks

// noteAstray is how many of the blocks that were handed out on the clock were not where they belong.
const noteAstray = "astray"

// cost times an Alloc behind few blocks and behind many.
func (d driver) cost(b *suite.Bench) {
	few, many := newLoad(d.student, fewBlocks, 2*fewBlocks), newLoad(d.student, manyBlocks, costRoom)
	loads, reference := []*load{few, many}, (*suite.Load)(nil)
	if d.solution != nil {
		solution := newLoad(d.solution, manyBlocks, costRoom)
		loads, reference = append(loads, solution), &solution.Load
	}
	if !b.Growth("an arena with many blocks", few.Load, many.Load, reference) {
		return
	}
	b.Value(noteAstray, few.astray+many.astray)
	for _, l := range loads {
		b.Call("Close", l.arena.Close)
	}
}

// load is an arena with some blocks handed out.
type load struct {
	suite.Load
	make      Make
	arena     Arena
	base      cuda.DevicePtr
	n         int // blocks handed out
	low, high int // it has so many of them at least, and at most
	astray    uint64
}

func newLoad(make Make, blocks, high int) *load {
	l := &load{make: make, high: high}
	l.Load = suite.Load{Things: blocks, Fill: l.fill, Work: l.hand}
	return l
}

// fill makes an arena that has its memory, where there is none yet, and hands the first blocks out.
func (l *load) fill(blocks int) (err error) {
	if l.arena == nil {
		if l.arena, err = l.make(0, costRoom*alignment); err != nil {
			return err
		}
		if l.base, err = l.arena.Alloc(costRoom * alignment); err != nil {
			return err
		}
		if err = l.arena.Reset(); err != nil {
			return err
		}
	}
	l.low = blocks
	return l.handFirst()
}

// again begins with the first blocks once more.
func (l *load) again() error {
	if err := l.arena.Reset(); err != nil {
		return err
	}
	l.n = 0
	return l.handFirst()
}

// handFirst hands those of the first blocks out that are not.
func (l *load) handFirst() error {
	for ; l.n < l.low; l.n++ {
		if _, err := l.arena.Alloc(alignment); err != nil {
			return err
		}
	}
	return nil
}

// hand has blocks handed out.
func (l *load) hand(operations int) error {
	for range operations {
		if l.n == l.high {
			if err := l.again(); err != nil {
				return err
			}
		}
		p, err := l.arena.Alloc(alignment)
		if err != nil {
			return err
		}
		if p != l.base+cuda.DevicePtr(alignment*l.n) {
			l.astray++
		}
		l.n++
	}
	return nil
}

func judgeCost(e *suite.Evidence) suite.Answer {
	notes := e.Cases[caseCost]
	if spoilt := notes.Spoilt("New, Alloc, Reset or Close", astray); spoilt != nil {
		return suite.Answer{Findings: spoilt}
	}
	return suite.JudgeGrowth(notes, suite.GrowthWords{
		Operation: "an Alloc", Things: "blocks handed out",
		Why: "An arena takes its blocks back all at once, so it need not know them: where the next one begins is one number.",
		Fix: "Keep no list of blocks, or never walk through it in Alloc: add the rounded size to what is used, and compare.",
	})
}

// astray looks at where the blocks lay that were handed out on the clock.
func astray(notes *suite.CaseNotes) []suite.Finding {
	for _, n := range notes.Values[noteAstray] {
		if n > 0 {
			return []suite.Finding{{
				Rule: "wrong-when-timed", Severity: suite.Error, Record: -1,
				Message: fmt.Sprintf("When time was measured, %d blocks should have been handed out right behind the block before, but they "+
					"were elsewhere.", n),
				Why: "Two users of one address destroy each other's data; an arena is no faster for that.",
				Fix: "Hand out the next bytes in every call, whatever was done before.",
			}}
		}
	}
	return nil
}
