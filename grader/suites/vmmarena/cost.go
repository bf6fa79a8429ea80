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
	few := newLoad(b, d.student, fewBlocks, 2*fewBlocks)
	many := newLoad(b, d.student, manyBlocks, costRoom)
	if few == nil || many == nil {
		return
	}
	loads, hand := []*load{few, many}, (func(int) error)(nil)
	if d.solution != nil {
		solution := newLoad(b, d.solution, manyBlocks, costRoom)
		if solution == nil {
			return
		}
		loads, hand = append(loads, solution), solution.hand
	}
	b.Growth(few.hand, many.hand, hand)
	b.Value(noteAstray, few.astray+many.astray)
	for _, l := range loads {
		b.Call("Close", l.arena.Close)
	}
}

// load is an arena with some blocks handed out.
type load struct {
	arena     Arena
	base      cuda.DevicePtr
	n         int // blocks handed out
	low, high int // it has so many of them at least, and at most
	astray    uint64
}

// newLoad makes an arena that has its memory, and hands the first blocks out. It answers nil if that fails.
func newLoad(b *suite.Bench, make Make, low, high int) *load {
	l := &load{low: low, high: high}
	o := b.Call("an arena with many blocks", func() (err error) {
		if l.arena, err = make(0, costRoom*alignment); err != nil {
			return err
		}
		if l.base, err = l.arena.Alloc(costRoom * alignment); err != nil {
			return err
		}
		return l.again()
	})
	if !o.OK() {
		return nil
	}
	return l
}

// again begins with the first blocks once more.
func (l *load) again() error {
	if err := l.arena.Reset(); err != nil {
		return err
	}
	for l.n = 0; l.n < l.low; l.n++ {
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
	for _, o := range notes.Outcomes {
		if !o.OK() {
			return suite.Answer{Findings: []suite.Finding{suite.UnexpectedError("New, Alloc, Reset or Close", o)}}
		}
	}
	for _, n := range notes.Values[noteAstray] {
		if n > 0 {
			return suite.Answer{Findings: []suite.Finding{{
				Rule: "wrong-when-timed", Severity: suite.Error, Record: -1,
				Message: fmt.Sprintf("When time was measured, %d blocks should have been handed out right behind the block before, but they "+
					"were elsewhere.", n),
				Why: "Two users of one address destroy each other's data; an arena is no faster for that.",
				Fix: "Hand out the next bytes in every call, whatever was done before.",
			}}}
		}
	}
	return suite.JudgeGrowth(notes, suite.GrowthWords{
		Operation: "an Alloc", Few: "100 blocks handed out", Many: "100,000 blocks handed out",
		Why: "An arena takes its blocks back all at once, so it need not know them: where the next one begins is one number.",
		Fix: "Keep no list of blocks, or never walk through it in Alloc: add the rounded size to what is used, and compare.",
	})
}
