package interleave

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"

	"cudalab/exercises/contract"
	"cudalab/grader/suite"
	"cudalab/grader/suite/verdict"
)

// Case is a case in which programs are explored.
type Case[C any] struct {
	ID, After string
	Of        func(C) Code
	Function  string // whose fault all is, where the others that threads call are the grader's own
	Draw      func(*rand.Rand) []Program
	Budget    int // states of all programs together: what is left over is not looked at, and no reason to fail

	trial *suite.Trial[C]
}

// Notes of a case, for each of its programs in their order: how many numbers follow, and these.
const (
	noteWhole   = "explored" // 1 where every order was looked at
	noteFailure = "wrong order"
	noteTooMany = "too many operations"
)

// Trial explores the programs in the runner. A gap of the skeleton is a panic there, since the functions answer no
// error.
func (k *Case[C]) Trial() *suite.Trial[C] {
	if k.trial != nil {
		return k.trial
	}
	k.trial = &suite.Trial[C]{ID: k.ID, After: k.After, Drive: func(b *suite.Bench, sides suite.Sides[C]) {
		x := NewExplorer(k.Of(sides.Student), k.Budget)
		for _, p := range k.Draw(b.Rand()) {
			var result Result
			if o := b.Call(p.Label(), func() error { return Unfinished(func() { result = x.Explore(&p) }) }); !o.OK() &&
				o.Gap == "" {
				return
			}
			whole := uint64(0)
			if result.Whole {
				whole = 1
			}
			b.Value(noteWhole, whole)
			note(b, noteFailure, result.Failure)
			note(b, noteTooMany, result.TooMany)
		}
	}}
	return k.trial
}

// Unfinished calls code that answers no error, and answers the gap that has ended it.
func Unfinished(code func()) (err error) {
	done := false
	defer func() {
		if done {
			return
		}
		v := recover()
		if answered, ok := v.(error); ok && errors.As(answered, new(*contract.Gap)) {
			err = answered
			return
		}
		panic(v)
	}()
	code()
	done = true
	return nil
}

func note(b *suite.Bench, name string, f *Failure) {
	var numbers []uint64
	if f != nil {
		numbers = f.numbers()
	}
	b.Value(name, uint64(len(numbers)))
	for _, n := range numbers {
		b.Value(name, n)
	}
}

// chunks are the numbers noted of each program.
func chunks(values []uint64) (all [][]uint64) {
	for len(values) > 0 {
		n := int(min(values[0], uint64(len(values)-1)))
		all, values = append(all, values[1:1+n]), values[1+n:]
	}
	return all
}

// seen is what was noted of a case's programs.
type seen struct {
	programs, whole int
	failures        []verdict.Finding
	tooMany         []verdict.Finding
}

func (k *Case[C]) seen(e *suite.Evidence) seen {
	notes := e.Cases[k.ID]
	programs := k.Draw(suite.NewRand(e.Seed, k.ID))
	s := seen{programs: len(programs)}
	failures, tooMany := chunks(notes.Values[noteFailure]), chunks(notes.Values[noteTooMany])
	for i := range programs {
		if whole := notes.Values[noteWhole]; i < len(whole) && whole[i] == 1 {
			s.whole++
		}
		for _, found := range []struct {
			all  [][]uint64
			into *[]verdict.Finding
		}{{failures, &s.failures}, {tooMany, &s.tooMany}} {
			if i >= len(found.all) || len(found.all[i]) == 0 {
				continue
			}
			if f := programs[i].failureOf(found.all[i]); f != nil {
				if finding, ok := programs[i].Finding(f); ok {
					finding.Function = cmp.Or(k.Function, finding.Function)
					*found.into = append(*found.into, finding)
				}
			}
		}
	}
	return s
}

// firsts are the first finding of each rule and function: the programs are in order, the small ones first.
func firsts(findings []verdict.Finding) (first []verdict.Finding) {
	known := map[string]bool{}
	for _, f := range findings {
		if key := f.Rule + f.Function; !known[key] {
			known[key] = true
			first = append(first, f)
		}
	}
	return first
}

// Judge answers by what came of the programs. pass begins the sentence for a pass: "Whatever came in between".
func (k *Case[C]) Judge(pass string) func(*suite.Evidence) suite.Answer {
	return func(e *suite.Evidence) suite.Answer {
		s := k.seen(e)
		a := suite.Answer{Findings: firsts(s.failures), Message: pass}
		switch {
		case len(a.Findings) > 0:
		case s.whole == 0:
			a.Skip = "No program was looked at to its end."
		case s.whole < s.programs:
			a.Message += fmt.Sprintf(" %d of %d programs were looked at: the others have more orders than there is time for.",
				s.whole, s.programs)
		}
		return a
	}
}

// Part asks for it.
func (k *Case[C]) Part(id, name, pass string) suite.Part[C] {
	return suite.Part[C]{Question: suite.Question{ID: id, Name: name, Judge: k.Judge(pass)},
		Cases: []*suite.Trial[C]{k.Trial()}}
}

// Cost is the part that asks how many operations the calls of some cases take.
func Cost[C any](id, name, pass string, cases ...*Case[C]) suite.Part[C] {
	p := suite.Part[C]{Question: suite.Question{ID: id, Name: name}}
	for _, k := range cases {
		p.Cases = append(p.Cases, k.Trial())
	}
	p.Judge = func(e *suite.Evidence) suite.Answer {
		a := suite.Answer{Message: pass}
		for _, k := range cases {
			s := k.seen(e)
			a.Findings = append(a.Findings, s.tooMany...)
			if len(s.failures) > 0 || s.whole == 0 {
				a.Skip = "What wrong answers cost does not count."
			}
		}
		if a.Findings = firsts(a.Findings); len(a.Findings) > 0 {
			a.Skip = ""
		}
		return a
	}
	return p
}
