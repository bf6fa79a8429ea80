package allocator

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"

	"cudalab/grader/suite"
	"cudalab/grader/suite/sequence"
	"cudalab/grader/suite/verdict"
)

// Load is an allocator with many blocks handed out, whose operations are timed.
type Load interface {
	Make() error               // makes the allocator
	Fill(blocks int) error     // has it hand out so many, more each time
	Work(operations int) error // carries out the operation so many times
	Close() error
	Subject() Subject
	// Past is a sequence that comes to what the allocator is when the clock has stopped, shorter than what was done by
	// then: it hands out the blocks that are out now. Of the answers most have no Stats.
	Past() ([]Op, []sequence.Answer)
	// Misses is how many of the blocks that it was handed on the clock were not what they should be, as far as the Past
	// does not show it.
	Misses() uint64
}

// Cost is the part that asks whether an operation costs the same among few blocks and among many; see growth.
type Cost[Code any] struct {
	ID          string // of the part, and of its trial; "cost" where it is empty
	Name, After string // of the part, and of its trial
	Few, Many   int    // blocks
	// Load is made for so many blocks at most.
	Load func(code Code, blocks int, r *rand.Rand) Load
	// Calls are the methods that a Load calls: "Alloc or Free".
	Calls string
	// Model knows what the allocator of a Load for so many blocks must answer: speed counts only where it was right. It is
	// asked about the Load's Past, and about what Behind draws: operations that follow when the clock has stopped, up to
	// Close.
	Model    func(from sequence.Source, blocks int) Model
	Granular bool // the models have to know the device's granularity
	Behind   func(r *rand.Rand, past []Op) []Op
	Own      Own // of the operations; may be nil
	Between  Between
	// Missed says what should have been where a Load has Misses: "so many blocks should have …, but did not"; Why and Fix
	// go with that.
	Missed               func(misses uint64) string
	MissedWhy, MissedFix string
	GrowthWords
	// Versus, where not nil, takes samples of something else, for a figure under its name.
	Versus     func(*suite.Bench, func(nanoseconds int64)) error
	VersusName string
}

// What a cost's trial notes.
const (
	noteMisses   = "misses when timed"
	noteTimed    = "timed " // and which of the loads
	seriesVersus = "versus"
)

// Part is the part.
func (c Cost[Code]) Part() suite.Part[Code] {
	t := &suite.Trial[Code]{ID: cmp.Or(c.ID, "cost"), After: c.After, Timed: true, Drive: c.carryOut}
	judge := func(e *suite.Evidence) suite.Answer {
		notes := e.Cases[t.ID]
		spoilt := suite.Spoilt(notes, c.Calls, func(*verdict.CaseNotes) []verdict.Finding {
			return verdict.Once(notes, "wrong", func() []verdict.Finding { return c.wrong(e, t.ID) })
		})
		if spoilt != nil {
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
	b.Quota = 0 // how much memory it takes is no matter here
	loads := [2]*countedLoad{}
	for i, blocks := range []int{c.Few, c.Many} {
		loads[i] = &countedLoad{c.Load(sides.Student, blocks, r), newCounted(b)}
		o := loads[i].calls.making("an allocator with many blocks", loads[i].Load.Make)
		if !o.OK() {
			return
		}
	}
	var reference Load
	var solution func() (growing, error)
	if sides.Solution != nil {
		solution = func() (growing, error) {
			reference = c.Load(*sides.Solution, c.Many, r)
			return reference, reference.Make()
		}
	}
	if !growth(b, c.Few, c.Many, [2]growing{loads[0], loads[1]}, solution) {
		return
	}
	if reference != nil {
		b.Must(reference.Close())
	}
	if c.Granular {
		sequence.Granularity(b)
	}
	for i, l := range loads {
		b.Value(noteMisses, l.Misses())
		past, answers := l.Past()
		goOn(b, fmt.Sprint(noteTimed, i), l.Subject(), past, answers, c.Behind(r, past), l.calls)
	}
	if c.Versus != nil {
		b.Must(c.Versus(b, func(nanoseconds int64) { b.Notes.Sample(seriesVersus, nanoseconds) }))
	}
}

// countedLoad is a Load whose CUDA calls are counted.
type countedLoad struct {
	Load
	calls *counted
}

func (l *countedLoad) Fill(blocks int) (err error) {
	l.calls.in(between, func() { err = l.Load.Fill(blocks) })
	return err
}

func (l *countedLoad) Work(operations int) (err error) {
	l.calls.in(between, func() { err = l.Load.Work(operations) })
	return err
}

// wrong looks at what was handed out on the clock, and at what the allocators answered behind it.
func (c Cost[Code]) wrong(e *suite.Evidence, caseID string) []verdict.Finding {
	notes := e.Cases[caseID]
	from, ok := sequence.SourceOf(e, caseID, c.Granular)
	if !ok {
		return nil // no time was measured
	}
	for i, blocks := range []int{c.Few, c.Many} {
		if misses := notes.Values[noteMisses]; c.Missed != nil && i < len(misses) && misses[i] > 0 {
			return []verdict.Finding{{Rule: wrongWhenTimed, Severity: verdict.Error, Record: -1, Function: "Alloc",
				Message: "While time was measured, " + c.Missed(misses[i]) + ".", Why: c.MissedWhy, Fix: c.MissedFix}}
		}
		for _, rec := range Read(notes, fmt.Sprint(noteTimed, i), []Op{{Own: c.Own}}) {
			for at, f := range sequence.Faults(rec.Ops, rec.Answers, c.Model(from, blocks)) {
				return []verdict.Finding{whenTimed(rec.Ops[:at+1], rec.Answers[at], f)}
			}
		}
		if calls, ok := countsOf(e, notes, fmt.Sprint(noteTimed, i)); ok {
			when := fmt.Sprintf("Among %d blocks, as they are timed,", blocks)
			if found := append(calls.calls(e, when, &c.Between), calls.leaks(e, when)...); len(found) > 0 {
				return found
			}
		}
	}
	return nil
}

const wrongWhenTimed = "wrong-when-timed"

// whenTimed is the finding of a wrong answer to the last of some operations. Where the answer has no Stats that was
// timed, else it came behind. No block is named by its number: how many there were before depends on the machine.
func whenTimed(ops []Op, a sequence.Answer, f sequence.Fault) verdict.Finding {
	when := "When time had been measured"
	if a.Stats() == nil {
		when = "While time was measured"
	}
	last := ops[len(ops)-1]
	words := phrase(last)
	switch last.Kind {
	case KindFree:
		words = "the free of a block"
		if slices.Contains(ops[:len(ops)-1], last) {
			words = "the second free of a block"
		}
	case KindFreeInside:
		words = "the free of an address inside a block"
	}
	return verdict.Finding{Rule: wrongWhenTimed, Severity: verdict.Error, Record: -1, Function: last.method(),
		Message: fmt.Sprintf("%s, %s %s. Before, with fewer calls behind it, your code was right.", when, words, f.Message),
		Why:     f.Why, Fix: f.Fix}
}
