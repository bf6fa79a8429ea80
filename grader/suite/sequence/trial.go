// Package sequence is the kit of lessons that judge by sequences of operations. A trial draws them alike in both
// halves. The runner carries them out on what the student's New makes, and notes what came back. In cudalab that is
// read again, a model of what is right says which answer is wrong, and a sequence that fails is shrunk to the
// shortest that still does. What an operation is, and what is to be known of the state it leaves, the lesson says, or
// the kit of all allocators, package allocator.
package sequence

import (
	"math/rand/v2"

	"cudalab/grader/suite"
	"cudalab/grader/suite/verdict"
	"cudalab/native/cuda"
	"cudalab/native/sim"
)

// Trial is a trial that carries out workloads W, which both halves draw alike; R is how one of them went.
type Trial[Code, W, R any] struct {
	suite.Trial[Code]
	granular bool
	draw     func(Source) []W
	read     func(*suite.Evidence, *verdict.CaseNotes, W) R
}

// NewTrial is a trial in which carryOut carries out what draw draws, and read reads how each went. after is as in
// suite.Trial. Where it is granular, workloads are drawn by the granularity of the device's memory.
func NewTrial[Code, W, R any](id, after string, granular bool, draw func(Source) []W,
	carryOut func(*suite.Bench, Code, []W), read func(*suite.Evidence, *verdict.CaseNotes, W) R) *Trial[Code, W, R] {
	t := &Trial[Code, W, R]{suite.Trial[Code]{ID: id, After: after}, granular, draw, read}
	t.Drive = func(b *suite.Bench, sides suite.Sides[Code]) {
		carryOut(b, sides.Student, t.draw(NewSource(b, granular)))
	}
	return t
}

// Each has the trial carry out what of makes of each workload.
func (t *Trial[Code, W, R]) Each(of func(W) W) {
	draw := t.draw
	t.draw = func(from Source) []W {
		ws := draw(from)
		for i, w := range ws {
			ws[i] = of(w)
		}
		return ws
	}
}

// On has the trial run on a simulated device everywhere, as in suite.Case.
func (t *Trial[Code, W, R]) On(device func(seed uint64) sim.Options) *Trial[Code, W, R] {
	t.Simulated = device
	return t
}

// Runs are the trial's workloads as they went; there are none where it ended before it had drawn them, or was not asked
// for: the search for a cause asks checks as soon as the cases that they need have been run.
func (t *Trial[Code, W, R]) Runs(e *suite.Evidence) []R {
	notes := e.Cases[t.ID]
	if notes == nil {
		return nil
	}
	return verdict.Once(notes, "runs", func() (all []R) {
		from, ok := SourceOf(e, t.ID, t.granular)
		if !ok {
			return nil
		}
		for _, w := range t.draw(from) {
			all = append(all, t.read(e, notes, w))
		}
		return all
	})
}

// Source is what the workloads of a trial are drawn from, in the same way in both halves.
type Source struct {
	*rand.Rand  // the trial's own
	Seed        uint64
	Granularity int64 // of the device's memory, in bytes; 0 where the trial is not granular
}

// NewSource is the source of a trial in the runner.
func NewSource(b *suite.Bench, granular bool) Source {
	from := Source{Rand: b.Rand(), Seed: b.Seed}
	if granular {
		from.Granularity = Granularity(b)
	}
	return from
}

// SourceOf is the source of a trial in cudalab; it is not ok where the trial ended before it had one.
func SourceOf(e *suite.Evidence, caseID string, granular bool) (from Source, ok bool) {
	from = Source{Rand: suite.NewRand(e.Seed, caseID), Seed: e.Seed}
	for _, v := range e.Cases[caseID].Values[noteGranularity] {
		from.Granularity = int64(v)
	}
	return from, !granular || from.Granularity >= 256 && from.Granularity <= 1<<40 // any device's
}

// Drawing draws from a source like another.
func Drawing[W any](from Source, draw func(Source) W) func(*rand.Rand) W {
	return func(r *rand.Rand) W {
		from.Rand = r
		return draw(from)
	}
}

// noteGranularity is what Granularity was answered, in bytes.
const noteGranularity = "granularity"

// Granularity asks the device what it maps memory in multiples of, and notes the answer.
func Granularity(b *suite.Bench) int64 {
	prop := cuda.MemAllocationProp{Type: cuda.MemAllocationTypePinned,
		Location: cuda.MemLocation{Type: cuda.MemLocationTypeDevice}}
	g, err := cuda.MemGetAllocationGranularity(prop, cuda.MemAllocGranularityMinimum)
	b.Must(err)
	b.Value(noteGranularity, uint64(g))
	return g
}
