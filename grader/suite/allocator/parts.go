package allocator

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"cudalab/grader/suite"
	"cudalab/native/device"
	"cudalab/native/trace"
)

// Good are trials that a right allocator completes, and by which most parts are judged.
type Good[Code any, L fmt.Stringer] []*Steps[Code, L]

// Trials are the trials, for a Part; more may follow.
func (g Good[Code, L]) Trials(more ...*suite.Trial[Code]) []*suite.Trial[Code] {
	var all []*suite.Trial[Code]
	for _, s := range g {
		all = append(all, &s.Trial)
	}
	return append(all, more...)
}

// IDs are the trials' IDs.
func (g Good[Code, L]) IDs() (ids []string) {
	for _, s := range g {
		ids = append(ids, s.ID)
	}
	return ids
}

// Runs are the sequences of all the trials.
func (g Good[Code, L]) Runs(e *suite.Evidence) (all []Run[L]) {
	for _, s := range g {
		all = append(all, s.Runs(e)...)
	}
	return all
}

// Seen reports whether every sequence could be seen to its end, as far as a part asks.
func (g Good[Code, L]) Seen(e *suite.Evidence, part string) bool {
	runs := g.Runs(e)
	return len(runs) > 0 && !slices.ContainsFunc(runs, func(r Run[L]) bool {
		return r.Record == nil || len(r.Record.Answers) < len(r.Ops) || r.Model.Blind(part)
	})
}

// Judge answers what a part asks: by the faults that the model finds, the one that is told in the fewest words first, and by
// what shown finds in each sequence, which may be nil. Where that is nothing, but not all could be seen, the question could
// not be asked.
func (g Good[Code, L]) Judge(e *suite.Evidence, part, pass string, shown func(*Run[L]) []suite.Finding) suite.Answer {
	a := suite.Answer{Message: pass}
	runs := g.Runs(e)
	for _, r := range runs {
		for _, f := range Failures(r.Notes, r.Name, r.Ops, r.fresh, part) {
			a.Findings = append(a.Findings, f.Finding(e, r.Layout.String()))
		}
	}
	slices.SortStableFunc(a.Findings, func(a, b suite.Finding) int { return cmp.Compare(len(a.Message), len(b.Message)) })
	for i := range runs {
		if shown != nil {
			a.Findings = append(a.Findings, shown(&runs[i])...)
		}
	}
	a.Findings = suite.Unique(a.Findings)
	if len(a.Findings) == 0 && !g.Seen(e, part) {
		a.Skip = unseen
	}
	return a
}

// unseen is why a part cannot answer where a sequence could not be seen to its end.
const unseen = "What another check found is in the way, so this could not be seen in full."

// Part asks for what the model finds, and for what shown finds in each sequence, which may be nil; see Judge.
func (g Good[Code, L]) Part(id, name, pass string, shown func(*suite.Evidence, *Run[L]) []suite.Finding) suite.Part[Code] {
	return suite.Part[Code]{Cases: g.Trials(), Question: suite.Question{ID: id, Name: name, Judge: func(e *suite.Evidence) suite.Answer {
		return g.Judge(e, id, pass, func(r *Run[L]) []suite.Finding {
			if shown == nil {
				return nil
			}
			return shown(e, r)
		})
	}}}
}

// Telling has a part tell of the allocators that New should have made and did not; other parts leave them out.
func (g Good[Code, L]) Telling(p suite.Part[Code]) suite.Part[Code] {
	judge := p.Judge
	p.Judge = func(e *suite.Evidence) suite.Answer {
		a := judge(e)
		made := g.made(e)
		for _, id := range g.IDs() {
			for _, o := range e.Cases[id].Outcomes {
				if made[o.Label] && !o.OK() {
					a.Findings = append(a.Findings, suite.UnexpectedError("New", o))
				}
			}
		}
		a.Findings = suite.Unique(a.Findings)
		return a
	}
	return p
}

// made are the labels of the Calls that made the allocators.
func (g Good[Code, L]) made(e *suite.Evidence) map[string]bool {
	made := map[string]bool{}
	for _, r := range g.Runs(e) {
		made[r.Layout.String()] = true
	}
	return made
}

// CallsBetween finds the CUDA calls that an allocator has made neither in New nor in Close. memory is what New should get,
// "all memory", and onHost what the host does in place of calling CUDA, "a list".
func (g Good[Code, L]) CallsBetween(e *suite.Evidence, memory, onHost string) []suite.Finding {
	var found []suite.Finding
	made := g.made(e)
	for _, id := range g.IDs() {
		notes := e.Cases[id]
		for at, i := range notes.CallsOfRecords() {
			r := &notes.Trace.Records[at]
			if i < 0 || i >= len(notes.Outcomes) || r.Phase == trace.Leave {
				continue
			}
			doing := notes.Outcomes[i].Label
			if made[doing] || doing == phrase(Close) {
				continue
			}
			found = append(found, e.At(suite.Finding{
				Rule: "cuda-call", Severity: suite.Error, Record: at,
				Message: fmt.Sprintf("Asked to %s, the allocator should not have called CUDA, but it called %s.", doing, suite.CallName(r)),
				Why: fmt.Sprintf("That is what the allocator is for: a cudaMalloc takes the driver microseconds, and a cudaFree waits for the "+
					"whole device, where %s on the host takes nanoseconds.", onHost),
				Fix: fmt.Sprintf("Get %s in New, free it in Close, and keep account of the blocks on the host.", memory),
			}, notes.Trace.SiteOf(r)))
		}
	}
	return suite.Unique(found)
}

// Arguments is the part that asks for bad arguments to be refused, and what becomes of good ones that cannot be had.
type Arguments[L fmt.Stringer] struct {
	Name, After string // of the part, and of its trial
	Bad         []L
	// Good are asked for behind the bad ones: they are right, but no device has what they ask for. Wrong says what is wrong with
	// the answer to that, if anything is.
	Good  []L
	Wrong func(suite.Outcome) (f suite.Finding, wrong bool)
	suite.Refusal
}

// Arguments is the part.
func (lab *Lab[Code, L]) Arguments(args Arguments[L]) suite.Part[Code] {
	t := &suite.Trial[Code]{ID: "arguments", After: args.After, Drive: func(b *suite.Bench, sides suite.Sides[Code]) {
		for _, l := range slices.Concat(args.Bad, args.Good) {
			o := b.Call(l.String(), func() error {
				_, err := lab.New(sides.Student, l)
				return err
			})
			if o.Gap != "" {
				return
			}
		}
	}}
	judge := func(e *suite.Evidence) suite.Answer {
		a := e.JudgeArguments(t.ID, 0, len(args.Bad), args.Refusal)
		outcomes := e.Cases[t.ID].Outcomes
		if len(outcomes) < len(args.Bad)+len(args.Good) {
			a.Skip = cmp.Or(a.Skip, "Not every argument could be tried.")
			return a
		}
		for _, o := range outcomes[len(args.Bad):] {
			if f, wrong := args.Wrong(o); wrong {
				f.Severity, f.Record, f.Function = suite.Error, -1, "New"
				a.Findings = suite.Unique(append(a.Findings, f))
			}
		}
		return a
	}
	return suite.Part[Code]{Cases: []*suite.Trial[Code]{t}, Question: suite.Question{ID: t.ID, Name: args.Name, Judge: judge}}
}

// Refused is what is wrong where arguments were refused that no device has the memory for.
func Refused(o suite.Outcome) (f suite.Finding, wrong bool) {
	return suite.Finding{
		Rule: "wrong-error",
		Message: o.Label + " should have returned the error of cuda.Malloc, since its arguments are good and only the memory is lacking, " +
			"but it returned contract.ErrArgument.",
		Why: "The caller finds out with errors.Is whether the arguments were at fault or the device.",
		Fix: "Refuse only what New's comment rules out.",
	}, o.Argument
}

// Life draws lives of allocators, which are alike in what the code has to call for them. One takes an allocator from New to
// Close, so that every CUDA call of the code is made, and answers the errors of all calls that failed. In words it is
// "slab.New([256], 2), three times Alloc, and Close".
type Life[Code any] func(b *suite.Bench, code Code) func(*rand.Rand) (words string, live func() error)

// ThreeBlocks is the life of an allocator that hands out three blocks and is closed while it does. draw answers with what it
// is, and how large the blocks are.
func (lab *Lab[Code, L]) ThreeBlocks(draw func(*rand.Rand) (L, [3]int64)) Life[Code] {
	return func(b *suite.Bench, code Code) func(*rand.Rand) (string, func() error) {
		return func(r *rand.Rand) (string, func() error) {
			l, sizes := draw(r)
			return l.String() + ", three times Alloc, and Close", func() error {
				s, err := lab.New(code, l)
				if err != nil {
					return err
				}
				for _, size := range sizes {
					p, wrong := s.Allocator.Alloc(size)
					if err = errors.Join(err, wrong); wrong == nil && !b.Session.Holds(device.Ptr(p), size) {
						b.Value(noteNowhere, uint64(b.Calls()-1))
					}
				}
				return errors.Join(err, CloseTwice(s.Allocator))
			}
		}
	}
}

// noteNowhere is the outcome of a life in which a block was handed out that lies in no memory of CUDA's.
const noteNowhere = "nowhere"

// nowhere says what is wrong with a life in which no call was made to fail, by its outcome; "" where nothing is.
func nowhere(notes *suite.CaseNotes) func(outcome int) string {
	return func(outcome int) string {
		if slices.Contains(notes.Values[noteNowhere], uint64(outcome)) {
			return "Every block should lie in memory that CUDA has given to this allocator, but one lies in none that there is."
		}
		return ""
	}
}

// CloseTwice closes an allocator, and where that fails once more, to give back what is left; the trace shows whether it did.
func CloseTwice(a Allocator) error {
	err := a.Close()
	if err != nil {
		_ = a.Close()
	}
	return err
}

// Cleanup is the part that asks that Close gives everything back, also where CUDA calls fail.
type Cleanup[Code any] struct {
	Name  string
	Pass  string // the sentence for a pass, where the usual one will not do
	After string // of the trial in which every CUDA call fails in turn
	Life  Life[Code]
	Also  []string                                // trials beside the good ones whose allocators must leave nothing behind, either
	Judge func(*suite.CaseNotes) suite.FaultJudge // how the failures are judged; nil: New and Close answer them
	// Further, where not nil, goes through what was found once more.
	Further func(e *suite.Evidence, notes *suite.CaseNotes, found []suite.Finding) []suite.Finding
}

// Cleanup is the part.
func (g Good[Code, L]) Cleanup(c Cleanup[Code]) suite.Part[Code] {
	t := &suite.Trial[Code]{ID: "faults", After: c.After, Drive: func(b *suite.Bench, sides suite.Sides[Code]) {
		type life struct {
			words string
			live  func() error
		}
		draw := c.Life(b, sides.Student)
		lives := suite.NewInputs(b.Rand(), func(r *rand.Rand) life {
			words, live := draw(r)
			return life{words, live}
		})
		b.EveryFault(func(input int) (string, func() error, func()) {
			l := lives.At(input)
			return l.words, l.live, func() {}
		})
	}}
	judge := func(e *suite.Evidence) suite.Answer {
		a := suite.Answer{
			Message:  cmp.Or(c.Pass, "Close gave everything back, and a CUDA call that failed was reported and left nothing behind."),
			Findings: e.Of(suite.EndRules, append(slices.Clone(c.Also), g.IDs()...)...),
		}
		if suite.HasError(a.Findings) {
			return a // what goes wrong without any failure would only be told again for each failure
		}
		notes := e.Cases[t.ID]
		j := suite.FaultJudge{Function: "New or Close", Retried: "Close", Wrong: nowhere(notes)}
		if c.Judge != nil {
			j = c.Judge(notes)
		}
		if len(notes.Outcomes) == 0 || !notes.Outcomes[0].OK() || j.Wrong(0) != "" {
			a.Skip = "The allocator did not work even where no call failed, so this could not be seen."
			return a
		}
		a.Findings = suite.Unique(append(a.Findings, e.AfterFaults(t.ID, j)...))
		if c.Further != nil {
			a.Findings = c.Further(e, notes, a.Findings)
		}
		if !suite.HasError(a.Findings) && len(notes.FaultRuns()) == 0 {
			a.Skip = suite.NoFault
		}
		return a
	}
	return suite.Part[Code]{Cases: g.Trials(t), Question: suite.Question{ID: "cleanup", Name: c.Name, Judge: judge}}
}
