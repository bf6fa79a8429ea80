package allocator

import (
	"fmt"
	"math/rand/v2"

	"cudalab/grader/suite"
)

// Load is an allocator with many blocks handed out, whose operations are timed.
type Load interface {
	Fill(blocks int) error     // makes the allocator, where there is none yet, and has it hand out so many, more each time
	Work(operations int) error // carries out the operation so many times
	Close() error
	// Handed is what there is to tell, when it is closed, of the blocks that it was handed on the clock.
	Handed() []uint64
}

// Cost is the part that asks whether an operation costs the same among few blocks and among many; see growth.
type Cost[Code any] struct {
	Name, After string // of the part, and of its trial
	Few, Many   int    // blocks
	// Load is made for so many blocks at most.
	Load func(code Code, blocks int, r *rand.Rand) Load
	// Calls are the methods that a Load calls: "Alloc or Free".
	Calls string
	// Wrong says what is wrong with blocks by what a Load tells of them, "" where nothing is: speed counts only where they are
	// right. blocks is how many the Load was to hold when time was measured.
	Wrong              func(blocks uint64, handed []uint64) string
	WrongWhy, WrongFix string
	GrowthWords
	// Versus, where not nil, takes samples of something else, for a figure under its name.
	Versus     func(*suite.Bench, func(nanoseconds int64)) error
	VersusName string
}

// What a cost's trial notes.
const (
	noteHanded   = "handed out when timed "
	seriesVersus = "versus"
)

// Part is the part.
func (c Cost[Code]) Part() suite.Part[Code] {
	t := &suite.Trial[Code]{ID: "cost", After: c.After, Timed: true, Drive: c.carryOut}
	judge := func(e *suite.Evidence) suite.Answer {
		notes := e.Cases[t.ID]
		if spoilt := notes.Spoilt(c.Calls, c.wrong); spoilt != nil {
			return suite.Answer{Findings: spoilt}
		}
		a := judgeGrowth(notes, c.GrowthWords)
		if versus := notes.Samples[seriesVersus]; len(versus) > 0 && a.Skip == "" {
			a.Measurements = append(a.Measurements, suite.Microseconds(c.VersusName, versus))
		}
		return a
	}
	return suite.Part[Code]{Cases: []*suite.Trial[Code]{t}, Question: suite.Question{ID: t.ID, Name: c.Name, Judge: judge}}
}

func (c Cost[Code]) carryOut(b *suite.Bench, sides suite.Sides[Code]) {
	r := b.Rand()
	loads := [2]Load{c.Load(sides.Student, c.Few, r), c.Load(sides.Student, c.Many, r)}
	var solution Load
	if sides.Solution != nil {
		solution = c.Load(*sides.Solution, c.Many, r)
	}
	if !growth(b, c.Few, c.Many, loads, solution) {
		return
	}
	if solution != nil {
		b.Must(solution.Close())
	}
	for i, l := range loads {
		b.Call("Close", l.Close)
		for _, v := range l.Handed() {
			b.Value(fmt.Sprint(noteHanded, i), v)
		}
	}
	if c.Versus != nil {
		b.Must(c.Versus(b, func(nanoseconds int64) { b.Notes.Sample(seriesVersus, nanoseconds) }))
	}
}

// wrong looks at the blocks that were handed out on the clock.
func (c Cost[Code]) wrong(notes *suite.CaseNotes) []suite.Finding {
	few, many, ok := blockCounts(notes)
	if !ok {
		return nil // no time was measured
	}
	for i, blocks := range []uint64{few, many} {
		if message := c.Wrong(blocks, notes.Values[fmt.Sprint(noteHanded, i)]); message != "" {
			return []suite.Finding{{
				Rule: "wrong-when-timed", Severity: suite.Error, Record: -1, Function: "Alloc",
				Message: message, Why: c.WrongWhy, Fix: c.WrongFix,
			}}
		}
	}
	return nil
}
