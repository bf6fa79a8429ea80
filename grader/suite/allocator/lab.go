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

// Lab is how a lesson makes allocators with the Code that it is given, and has them tried. L is what New is called with;
// its String is the call: "slab.New([256 512], 4)".
type Lab[Code any, L fmt.Stringer] struct {
	New   func(Code, L) (Subject, error) // with an error, or without an allocator, its Subject is not looked at any closer
	Model func(*Workload[L]) Model
	Maker string // what New calls in the student's code, where that is not New
	// Room is how many bytes New has to allocate at least; nil where it need not allocate. It is told where no block comes of it: blocks
	// tell themselves.
	Room func(L) int64
	// Parts are the IDs of the parts that the Model finds faults of, those first for which a sequence is to be shrunk first.
	Parts []string
	// Proof makes what uses the blocks of all sequences of a trial on the device. It may be nil.
	Proof func(*suite.Bench) Proof[L]
	// Device is as in Runner; it may be nil.
	Device   func(L) sim.Options
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
	seldom bool

	teller string // the part that tells where no allocator could be made; see Also
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

// unlimited is more memory than any sequence asks for, in bytes: what nobody touches costs a simulated device nothing.
const unlimited = 1 << 56

// Large has the trial run on a simulated device with memory for anything, and each sequence in one Call, so that a hundred
// thousand operations take milliseconds. Nobody uses the blocks, and a sequence that finds a fault is not shrunk. Parts
// ask for what the model finds in it with Also. Few are trials with few blocks in little memory: where all goes well in them,
// it is for its great numbers that one fails in this.
func (s *Steps[Code, L]) Large(few Good[Code, L]) *Steps[Code, L] {
	s.idle, s.once, s.few = true, true, few
	return s.On(func(seed uint64) sim.Options { return sim.Options{Seed: seed, Memory: unlimited} })
}

// Seldom has a Large trial ask for Stats only now and then in a long row of operations of one kind, which takes a third off it. It is
// for a Model that can tell what is right without the Stats behind each.
func (s *Steps[Code, L]) Seldom() *Steps[Code, L] {
	s.seldom = true
	return s
}

// Also has a part ask the same of a Large trial: for what the model finds of the part there. Where no allocator could be made
// the first such part tells of it.
func (s *Steps[Code, L]) Also(p suite.Part[Code]) suite.Part[Code] {
	tells := s.teller == ""
	if tells {
		s.teller = p.ID
	}
	p = p.And(func(e *suite.Evidence) (found []verdict.Finding) {
		for _, r := range s.Runs(e) {
			for _, f := range Failures(r.Notes, r.Name, r.Ops, r.Fresh, p.ID) {
				found = append(found, s.greatly(e, &f, f.Finding(e, r.Layout.String())))
			}
			if r.Record != nil || !tells {
				continue
			}
			outcomes := e.Cases[s.ID].Outcomes
			if i := slices.IndexFunc(outcomes, func(o verdict.Outcome) bool { return !o.OK() && o.Panic == "" }); i >= 0 {
				found = append(found, s.lab.notMade(outcomes[i]))
			}
		}
		return found
	}, &s.Trial.Trial)
	judge := p.Judge
	p.Judge = func(e *suite.Evidence) suite.Answer {
		a := judge(e)
		if !verdict.HasError(a.Findings) && slices.ContainsFunc(s.Runs(e), func(r Run[L]) bool { return r.Record == nil }) {
			a.Skip = unseen
		}
		return a
	}
	return p
}

// greatly words a finding of a Large trial where all goes well with few blocks, and it took many for something to go wrong.
func (s *Steps[Code, L]) greatly(e *suite.Evidence, failure *Failure, f verdict.Finding) verdict.Finding {
	if failure.Fault.RunsOver || failure.At < endless || failure.Ops[failure.At].Size > math.MaxInt32 { // a huge size is unlike the others by itself
		return f
	}
	for _, r := range s.few.Runs(e) {
		if r.Record == nil || r.Right < len(r.Ops) {
			return f
		}
	}
	f.Message += " With few blocks in little memory all went well."
	f.Why = "A number of 16 or 32 bits begins anew at 0 where it runs over, and says nothing of it: here are more than 65,536 blocks, and bytes beyond 4 GiB."
	f.Fix = "Look for a number that is kept in so few bits, or is cut to them on its way (uint16, int32, uint32(…)), and make it an int or an int64."
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
