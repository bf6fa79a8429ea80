package allocator

import (
	"fmt"
	"math"
	"slices"

	"cudalab/grader/suite"
	"cudalab/grader/suite/sequence"
	"cudalab/grader/suite/verdict"
	"cudalab/native/cuda"
	"cudalab/native/session"
	"cudalab/native/sim"
)

// Lab is how a lesson makes allocators with the Code that it is given, and has them tried. L is what New is called
// with; its String is the call: "slab.New([256 512], 4)".
type Lab[Code any, L fmt.Stringer] struct {
	New   func(Code, L) (Subject, error) // with an error, or without an allocator, its Subject is not looked at any closer
	Model func(*Workload[L]) Model
	Maker string // what New calls in the student's code, where that is not New
	// Room is how many bytes New has to allocate at least; nil where it need not allocate. It is told where no block comes
	// of it: blocks tell themselves.
	Room func(L) int64
	// Parts are the IDs of the parts that the Model finds faults of, those first for which a sequence is to be shrunk
	// first.
	Parts []string
	// Proof makes what uses the blocks of all sequences of a trial on the device. It may be nil.
	Proof func(*suite.Bench) Proof[L]
	// Device is as in Runner; it may be nil.
	Device   func(L) sim.Options
	Between  Between
	Traced   bool // as in Runner
	Granular bool // sequences are drawn by the granularity of the device's memory; see sequence.Source
}

// Workload is one allocator and what is done with it.
type Workload[L fmt.Stringer] = sequence.Workload[L, Op]

// Run is a sequence as it went.
type Run[L fmt.Stringer] = sequence.Run[L, Op]

// Proof uses the blocks on the device, so that it shows if they overlap or somebody else writes to them.
type Proof[L fmt.Stringer] interface {
	User
	Begin(w *Workload[L], base cuda.DevicePtr) // another allocator is made: for the sequence, or for a shrunk part of it
	Close()
}

// Steps is a trial that carries out sequences, each on an allocator of its own.
type Steps[Code any, L fmt.Stringer] struct {
	*sequence.Trial[Code, Workload[L], Run[L]]
	lab  *Lab[Code, L]
	idle bool
	once bool          // each sequence in one Call
	few  Good[Code, L] // of a Large trial; see there
	// seldom: in a Large trial Stats are asked for only now and then; see Seldom.
	seldom  bool
	beside  *Steps[Code, L] // of a Large trial another, of which parts ask the same; see Beside
	abreast bool            // all allocators are alive at once; see Abreast

	teller string   // the part that tells where no allocator could be made; see Also
	asked  []string // the parts that ask; what the model finds of others the teller tells, too
}

// Steps is a trial with the sequences that draw draws. after is as in suite.Trial.
func (lab *Lab[Code, L]) Steps(id, after string, draw func(sequence.Source) []Workload[L]) *Steps[Code, L] {
	s := &Steps[Code, L]{lab: lab}
	s.Trial = sequence.NewTrial(id, after, lab.Granular, draw, s.carryOut,
		func(e *suite.Evidence, notes *verdict.CaseNotes, w Workload[L]) Run[L] {
			return lab.run(notes, w, s.once)
		})
	return s
}

// On has the trial run on a simulated device everywhere, as in suite.Case.
func (s *Steps[Code, L]) On(device func(seed uint64) sim.Options) *Steps[Code, L] {
	s.Simulated = device
	return s
}

// Idle has nobody use the blocks, where the device has no memory left for a Proof.
func (s *Steps[Code, L]) Idle() *Steps[Code, L] {
	s.idle = true
	return s
}

// Large has the trial run on a simulated device with memory for anything, and each sequence in one Call, so that a
// hundred thousand operations take milliseconds. Nobody uses the blocks, and a sequence that finds a fault is not
// shrunk. Parts ask for what the model finds in it with Also. Few are trials with few blocks in little memory: where
// all goes well in them, it is for its great numbers that one fails in this.
func (s *Steps[Code, L]) Large(few Good[Code, L]) *Steps[Code, L] {
	s.idle, s.once, s.few = true, true, few
	s.Each(closing)
	return s.On(unlimited)
}

// closing is a workload that ends with a Close, so that what is left behind it can be counted.
func closing[L fmt.Stringer](w Workload[L]) Workload[L] {
	if !slices.ContainsFunc(w.Ops, func(o Op) bool { return o.Kind == KindClose }) {
		w.Ops = append(slices.Clip(w.Ops), Close)
	}
	return w
}

// unlimited is a device with memory for anything.
func unlimited(seed uint64) sim.Options { return sim.Options{Seed: seed, Memory: suite.Unlimited} }

// Seldom has a Large trial ask for Stats only now and then in a long row of operations of one kind, which takes a third
// off it. It is for a Model that can tell what is right without the Stats behind each.
func (s *Steps[Code, L]) Seldom() *Steps[Code, L] {
	s.seldom = true
	return s
}

// Abreast has the sequences of a Large trial carried out in turns, an operation of each, on allocators that are alive
// at once, and no kernel and no copy does its work. They are short.
func (s *Steps[Code, L]) Abreast() *Steps[Code, L] {
	s.abreast = true
	return s
}

// Beside has parts ask of another Large trial whatever they ask of this one.
func (s *Steps[Code, L]) Beside(other *Steps[Code, L]) *Steps[Code, L] {
	s.beside = other
	return s
}

// Also has a part ask the same of a Large trial: for what the model finds of the part there. Where no allocator could
// be made the first such part tells of it, and once all is well elsewhere what the model finds of the other parts.
func (s *Steps[Code, L]) Also(p suite.Part[Code]) suite.Part[Code] {
	tells := s.teller == ""
	if tells {
		s.teller = p.ID
	}
	s.asked = append(s.asked, p.ID)
	p = p.And(func(e *suite.Evidence) (found []verdict.Finding) {
		for _, t := range s.all() {
			found = append(found, t.failures(e, p.ID, tells)...)
			if !t.faultless(e) {
				break // others would tell the same in other words
			}
		}
		return found
	}, s.trials()...)
	judge := p.Judge
	p.Judge = func(e *suite.Evidence) suite.Answer {
		a := judge(e)
		made, runs := 0, 0
		for _, t := range s.all() {
			for _, r := range t.Runs(e) {
				if runs++; r.Record != nil {
					made++
				}
			}
		}
		if !verdict.HasError(a.Findings) && !suite.Enough(made, runs) {
			a.Skip = unseen
		}
		return a
	}
	if tells {
		p = p.Deeper(s.ofOthers)
	}
	return p
}

// ofOthers are failures of parts that do not ask of the trial.
func (s *Steps[Code, L]) ofOthers(e *suite.Evidence) (found []verdict.Finding) {
	for _, t := range s.all() {
		for _, other := range s.lab.Parts {
			if !slices.Contains(s.asked, other) {
				found = append(found, t.failures(e, other, false)...)
			}
		}
		if len(found) > 0 {
			break // others would tell the same in other words
		}
	}
	return found
}

// all are a Large trial and the one beside it.
func (s *Steps[Code, L]) all() []*Steps[Code, L] {
	if s.beside == nil {
		return []*Steps[Code, L]{s}
	}
	return []*Steps[Code, L]{s, s.beside}
}

func (s *Steps[Code, L]) trials() (all []*suite.Trial[Code]) {
	for _, t := range s.all() {
		all = append(all, &t.Trial.Trial)
	}
	return all
}

// failures are what the model finds of a part in a Large trial, and, where the part tells of that, that no allocator
// was made.
func (s *Steps[Code, L]) failures(e *suite.Evidence, part string, tells bool) (found []verdict.Finding) {
	if s.abreast && !s.rightWithFew(e) {
		return nil
	}
	for _, r := range s.Runs(e) {
		for _, f := range Failures(r.Notes, r.Name, r.Ops, r.Fresh, part) {
			one := s.greatly(e, &f, f.Finding(e, r.Layout.String()))
			if s.abreast {
				one = amongOthers(one, r)
			}
			found = append(found, one)
		}
		if r.Record != nil || !tells {
			continue
		}
		notes := e.Cases[s.ID]
		if i := slices.IndexFunc(notes.Outcomes, func(o verdict.Outcome) bool { return !o.OK() && o.Panic == "" }); i >= 0 {
			found = append(found, s.lab.notMade(e, notes, i))
		}
	}
	return found
}

// faultless reports whether all allocators were made, and the model finds nothing wrong with what they answered.
func (s *Steps[Code, L]) faultless(e *suite.Evidence) bool {
	return !slices.ContainsFunc(s.Runs(e), func(r Run[L]) bool {
		return r.Record == nil || len(judged(r.Notes, r.Name, r.Ops, r.Fresh)) > 0
	})
}

// alone is the name under which a sequence is noted that was carried out once more, with no other allocator in use.
func alone(name string) string { return name + ", alone" }

// amongOthers words a finding of an allocator that was not alone in use.
func amongOthers[L fmt.Stringer](f verdict.Finding, r Run[L]) verdict.Finding {
	f.Drawing = nil // which would take others' memory for this one's
	for _, again := range Read(r.Notes, alone(r.Name), r.Ops) {
		for range sequence.Faults(again.Ops, again.Answers, r.Fresh()) {
			return f
		}
		f.Message += " Meanwhile others were in use; alone it went well."
		f.Why = "What is kept in a variable of the package there is once for all, and each has to know its own things."
		f.Fix = "Keep all that one knows of itself in its own fields, which New makes anew."
	}
	return f
}

// rightWithFew reports whether all went well with few blocks in little memory.
func (s *Steps[Code, L]) rightWithFew(e *suite.Evidence) bool {
	return !slices.ContainsFunc(s.few.Runs(e), func(r Run[L]) bool { return r.Record == nil || r.Right < len(r.Ops) })
}

// greatly words a finding of a Large trial where all goes well with few blocks, and it took many for something to go
// wrong.
func (s *Steps[Code, L]) greatly(e *suite.Evidence, failure *Failure, f verdict.Finding) verdict.Finding {
	// a huge size is unlike the others by itself
	if failure.Fault.RunsOver || failure.At < endless || failure.Ops[failure.At].Size > math.MaxInt32 {
		return f
	}
	if !s.rightWithFew(e) {
		return f
	}
	f.Message += " With few blocks in little memory all went well."
	f.Why = "Here are more than 65,536 blocks, and bytes beyond 4 GiB: 16 or 32 bits do not count so far, and a table " +
		"of a fixed length does not reach so far."
	f.Fix = "Look at what grows with the number of blocks or with their size: how wide each number is on its way " +
		"(uint16, int32, uint32(…)), and how long " +
		"each table."
	return f
}

// Fixed draws always the same sequences.
func Fixed[L fmt.Stringer](ws ...Workload[L]) func(sequence.Source) []Workload[L] {
	return func(sequence.Source) []Workload[L] { return ws }
}

func (s *Steps[Code, L]) carryOut(b *suite.Bench, code Code, ws []Workload[L]) {
	var proof Proof[L]
	if s.lab.Proof != nil && !s.idle {
		proof = s.lab.Proof(b)
	}
	if s.once {
		b.Quota = 0
	}
	if s.abreast {
		b.NothingComputed()
		s.turnByTurn(b, code, ws)
		return
	}
	for _, w := range ws {
		r := s.lab.runner(b, code, &w, proof)
		if s.once {
			r.RunAtOnce(w.Name, w.Ops, s.seldom)
			continue
		}
		r.Check(w.Name, w.Ops, func() Model { return s.lab.Model(&w) }, s.lab.Parts...)
	}
	if proof != nil {
		proof.Close()
	}
}

func (s *Steps[Code, L]) turnByTurn(b *suite.Bench, code Code, ws []Workload[L]) {
	var runners []*Runner
	var names []string
	var ops [][]Op
	var models []Model
	for _, w := range ws {
		runners = append(runners, s.lab.runner(b, code, &w, nil))
		names, ops, models = append(names, w.Name), append(ops, w.Ops), append(models, s.lab.Model(&w))
	}
	for i, wrong := range abreast(b, runners, names, ops, models) {
		if wrong > 0 {
			runners[i].RunAtOnce(alone(names[i]), ops[i][:wrong], false)
		}
	}
}

// runner carries out sequences on the allocator of a workload; proof may be nil.
func (lab *Lab[Code, L]) runner(b *suite.Bench, code Code, w *Workload[L], proof Proof[L]) *Runner {
	r := &Runner{Bench: b, Label: w.Layout.String(), Traced: lab.Traced}
	if proof != nil {
		r.User = proof
	}
	if lab.Device != nil {
		r.Device = lab.Device(w.Layout)
	}
	r.New = func() (Subject, error) {
		s, err := lab.newSubject(b, code, w.Layout)
		if err == nil && proof != nil && session.Current() == b.Session { // not in a Try
			proof.Begin(w, s.Base)
		}
		return s, err
	}
	return r
}

// Try carries out a workload off the record, as Runner.Try does.
func (lab *Lab[Code, L]) Try(b *suite.Bench, code Code, w *Workload[L]) []sequence.Answer {
	return lab.runner(b, code, w, nil).Try(w.Ops)
}

// run is a workload as it went. In a Large trial what is asked of it the model alone answers.
func (lab *Lab[Code, L]) run(notes *verdict.CaseNotes, w Workload[L], once bool) Run[L] {
	r := Run[L]{Workload: w, Notes: notes, Fresh: func() sequence.Model[Op] { return lab.Model(&w) }}
	if records := Read(notes, w.Name, w.Ops); len(records) > 0 {
		r.Record = &records[0]
	}
	if !once {
		r.Follow()
	}
	return r
}
