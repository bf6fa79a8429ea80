package suite

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"cudalab/grader/suite/verdict"
	"cudalab/native/trace"
)

// Race holds the student's code against the solution and the baseline by the device's clock, on fresh workloads of one
// shape: the trial, the benchmark and the part that judges by it come from one declaration.
type Race[Code any, W Workload] struct {
	SpeedWords // SpeedWords.Function is the function that is timed, where a trial times several
	// Shape is what the stage is set for: what Draw draws is like it.
	Shape    W
	Draw     func(*rand.Rand) W
	Baseline Code
	KeepPool bool // the default pool keeps its memory meanwhile, so that nobody pays for growing it
	// Around, where not nil, has more than the call timed: it is told the stage once, and answers with what a sample is.
	Around func(*Stage) func(call func() error) error
	// Audit tells what a call that is not timed, but which the code can tell from no sample, has left out of its work, by
	// numbers that LeftOut puts into words. The trace is nil where the call failed.
	Audit   func(s *Stage, w W, t *trace.Trace) []uint64
	LeftOut func(w W, what uint64) string
	// Wrong says what is wrong with a sample of the student's, "" where nothing is.
	Wrong func(*Timed[W]) string
	// WrongWhy and WrongFix go with what LeftOut and Wrong say.
	WrongWhy, WrongFix string
}

// Timed is one call of the student's code under the clock, with the workload that it was given.
type Timed[W any] struct {
	W      W
	notes  *verdict.CaseNotes
	prefix string
	number int
}

// Noted are the numbers that a Stage noted of the call under a name; nil where it noted none.
func (m *Timed[W]) Noted(name string) []uint64 { return notedOf(m.notes, m.prefix+name)[m.number] }

// Sums are the values of the call's results when the device had come to rest.
func (m *Timed[W]) Sums() []uint64 { return m.Noted(noteSum) }

// What is noted of samples and audits, under a name that begins with the function's.
const (
	prefixTimed = "timed "
	noteSampled = "sampled"
	noteLeftOut = "left out"
)

func (r *Race[Code, W]) prefix() string { return SeriesOf(r.Function, prefixTimed) }

// carryOut runs the race.
func (r *Race[Code, W]) carryOut(b *Bench, sc *Scene[Code, W], sides Sides[Code]) {
	random, w, drawn := b.Rand(), r.Shape, 0
	s := b.NewStage()
	call := sc.Set(s, w)
	sample := func(call func() error) error { return call() }
	if r.Around != nil {
		sample = r.Around(s)
	}
	of := func(code Code) func() error {
		return func() error { return sample(func() error { return call(code, w) }) }
	}
	var solution func() error
	if sides.Solution != nil {
		solution = of(*sides.Solution)
	}
	contenders := Contenders(r.Function, of(sides.Student), solution, of(r.Baseline))
	for i := range contenders {
		contenders[i].TimeOnly = i > 0
		contenders[i].Prepare = func() error {
			w = r.Draw(random)
			drawn++
			if s.results != nil {
				s.results.Poison()
			}
			return nil
		}
	}
	contenders[0].Audit = func(t *trace.Trace) { b.noteOf(drawn, r.prefix()+noteLeftOut, r.Audit(s, w, t)) }
	contenders[0].Check = func() {
		b.noteOf(drawn, r.prefix()+noteSampled, nil)
		s.note(r.prefix(), drawn)
	}
	all, _ := b.Time(b.raceTiming(), contenders...)
	b.Note(all)
	s.Close()
}

// wrong finds a sample or an audit in which the student's code did not do its work: speed counts only where it did.
func (r *Race[Code, W]) wrong(e *Evidence, notes *verdict.CaseNotes, caseID string) []verdict.Finding {
	f := verdict.Finding{Rule: "wrong-when-timed", Severity: verdict.Error, Record: -1, Function: r.Function, Why: r.WrongWhy, Fix: r.WrongFix}
	samples, audits := notedOf(notes, r.prefix()+noteSampled), notedOf(notes, r.prefix()+noteLeftOut)
	random, last := NewRand(e.Seed, caseID), 0
	for _, number := range slices.Concat(slices.Collect(maps.Keys(samples)), slices.Collect(maps.Keys(audits))) {
		last = max(last, number)
	}
	wrong := ""
	for number := 1; number <= last; number++ {
		w := r.Draw(random)
		for _, what := range audits[number] {
			f.Message = r.LeftOut(w, what)
			return []verdict.Finding{f}
		}
		if _, sampled := samples[number]; sampled && wrong == "" {
			wrong = r.Wrong(&Timed[W]{w, notes, r.prefix(), number})
		}
	}
	if wrong == "" {
		return nil
	}
	f.Message = wrong
	return []verdict.Finding{f}
}

// Speed is the part that asks whether the code keeps to the limits of some races, which one trial carries out. who is told
// to have failed where a call under the clock answered an error: "Run", "The code".
func (sc *Scene[Code, W]) Speed(name, after, who string, races ...*Race[Code, W]) Part[Code] {
	t := &Trial[Code]{ID: "speed", After: after, Timed: true, Drive: func(b *Bench, sides Sides[Code]) {
		for _, r := range races {
			if r.KeepPool {
				b.KeepPool()
			}
			r.carryOut(b, sc, sides)
		}
	}}
	return Part[Code]{Cases: []*Trial[Code]{t}, Question: Question{ID: t.ID, Name: name, Judge: func(e *Evidence) Answer {
		var a Answer
		notes := e.Cases[t.ID]
		for _, r := range races {
			spoilt := Spoilt(notes, who, func(*verdict.CaseNotes) []verdict.Finding {
				return verdict.Once(notes, r.prefix()+"wrong", func() []verdict.Finding { return r.wrong(e, notes, t.ID) })
			})
			if spoilt != nil {
				return Answer{Findings: spoilt}
			}
			one := e.JudgeSpeed(notes, r.SpeedWords)
			if one.Skip != "" {
				return one
			}
			a.Message = strings.TrimSpace(a.Message + " " + one.Message)
			a.Findings = append(a.Findings, one.Findings...)
			a.Measurements = append(a.Measurements, one.Measurements...)
			a.Again = max(a.Again, one.Again)
		}
		return a
	}}}
}

// Benchmark is the part's trial as a benchmark.
func (p Part[Code]) Benchmark(name, operation, note string) Trial[Code] {
	return Trial[Code]{ID: p.ID, Benchmark: Benchmark{Name: name, Operation: operation, Note: note}, Drive: p.Cases[0].Drive}
}
