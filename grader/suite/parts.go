package suite

import (
	"math/rand/v2"
	"slices"
	"strings"
	"sync"

	"cudalab/grader/suite/verdict"
	"cudalab/native/trace"
)

// Part asks for what look finds in each call of the good trials; pass is the sentence where that is nothing.
func (g *Good[Code, W]) Part(id, name, pass string, look func(*Made[W]) []verdict.Finding) Part[Code] {
	return g.Asking(id, name, func(e *Evidence) Answer { return g.Judge(e, pass, look) })
}

// Never is such a part about what a call must not do at all: where a CUDA call fails it is asked of what came before.
func (g *Good[Code, W]) Never(id, name, pass string, look func(*Made[W]) []verdict.Finding) Part[Code] {
	return g.Part(id, name, pass, look).And(func(e *Evidence) []verdict.Finding { return g.Begun(e, look) })
}

// Begun are what look finds in calls in which something was made to fail, up to there, where the evidence is about
// such.
func (g *Good[Code, W]) Begun(e *Evidence, look func(*Made[W]) []verdict.Finding) (found []verdict.Finding) {
	if e.audit != nil {
		begun, _ := e.audit.begun.([]Made[W])
		for i := range begun {
			found = append(found, look(&begun[i])...)
		}
	}
	return found
}

// Results is the part that asks for right results: wrong finds what is wrong with those of a call that answered nil,
// and pass is the sentence for such calls where nothing is. What was lent has to be as it was.
func (g *Good[Code, W]) Results(name string, wrong func(*Made[W]) []verdict.Finding,
	pass func([]Made[W]) string) Part[Code] {
	p := g.Asking("results", name, func(e *Evidence) Answer {
		var answered []Made[W]
		a := g.Judge(e, "", func(m *Made[W]) []verdict.Finding {
			if !m.Outcome.OK() {
				return []verdict.Finding{m.UnexpectedError(g.function(m.W))}
			}
			switch {
			case m.Far && g.Uncomputed != nil:
				return g.Uncomputed(m)
			case m.Far:
				return nil
			}
			answered = append(answered, *m)
			return g.fromWhat(m, wrong(m))
		})
		a.Message = pass(answered)
		return a
	}).And(g.Kept)
	for _, far := range g.Far {
		p = p.Needing(&far.Trial)
	}
	return p
}

// fromWhat is what is wrong with a call's results, or what has made them wrong where a call of CUDA's was given
// something else than
// it should have been.
func (g *Good[Code, W]) fromWhat(m *Made[W], wrong []verdict.Finding) []verdict.Finding {
	if !verdict.HasError(wrong) {
		return wrong
	}
	given := m.partOfResult()
	if len(given) == 0 && g.Uncomputed != nil {
		given = slices.DeleteFunc(g.Uncomputed(m), func(f verdict.Finding) bool {
			return f.Rule != launchRule ||
				f.Record < 0
		})
	}
	if len(given) == 0 {
		return wrong
	}
	f := given[0]
	f.Rule, f.Given, f.Effect = wrong[0].Rule, true, wrong[0].Line
	f.Message += " What comes of it: " + strings.TrimPrefix(wrong[0].Message, "With "+m.W.Label()+", ")
	return []verdict.Finding{f}
}

// Needing has the part need further trials, about which it is asked in another way.
func (p Part[Code]) Needing(further ...*Trial[Code]) Part[Code] {
	p.Cases = append(slices.Clone(p.Cases), further...)
	return p
}

// Asking is a part that judge answers by the good trials.
func (g *Good[Code, W]) Asking(id, name string, judge func(*Evidence) Answer) Part[Code] {
	return Part[Code]{Question: Question{ID: id, Name: name, Judge: judge}, Cases: g.Trials(), further: g.further()}
}

// function is the one that a workload calls.
func (g *Good[Code, W]) function(w W) string {
	if g.Of != nil {
		return g.Of(w)
	}
	return g.Function
}

// Order is the part that asks for the order checker's rules, in the good trials and in further ones.
func (g *Good[Code, W]) Order(name, pass string, more ...*Trial[Code]) Part[Code] {
	p := Part[Code]{Question: Question{ID: "order", Name: name}, Cases: g.Trials(more...), further: g.further()}
	p.Judge = func(e *Evidence) Answer {
		a := Answer{Message: pass}
		for _, t := range p.Cases {
			a.Findings = append(a.Findings, e.Of(verdict.OrderRules, t.ID)...)
		}
		a.Findings = verdict.Unique(append(a.Findings, e.Remarks(g.IDs()...)...))
		if !verdict.HasError(a.Findings) {
			a.Skip = g.Incomplete(e)
		}
		return a
	}
	return p
}

// And has the part fail for what more finds, too, in further trials or in its own. Remarks stay behind the errors.
func (p Part[Code]) And(more func(*Evidence) []verdict.Finding, further ...*Trial[Code]) Part[Code] {
	judge := p.Judge
	p = p.Needing(further...)
	p.Judge = func(e *Evidence) Answer {
		a := judge(e)
		at := len(a.Findings)
		if i := slices.IndexFunc(a.Findings, func(f verdict.Finding) bool { return f.Severity == verdict.Remark }); i >= 0 {
			at = i
		}
		a.Findings = verdict.Unique(slices.Insert(a.Findings, at, more(e)...))
		if verdict.HasError(a.Findings) {
			a.Skip = ""
		}
		return a
	}
	return p
}

// With has the part answer for others as well, which are no checks of their own then.
func (p Part[Code]) With(others ...Part[Code]) Part[Code] {
	for _, other := range others {
		known := p.Cases
		cases := slices.DeleteFunc(slices.Clone(other.Cases), func(t *Trial[Code]) bool {
			return slices.Contains(known, t)
		})
		p = p.And(func(e *Evidence) []verdict.Finding { return other.Judge(e).Findings }, cases...)
		if other.deeper != nil {
			p = p.Deeper(other.deeper)
		}
	}
	return p
}

// Beside has a part that is asked about the good trials not fail for what others find wrong in the same lines of what
// both call: one slip costs its own check and no other.
func (g *Good[Code, W]) Beside(others []Part[Code], p Part[Code]) Part[Code] {
	judge := p.Judge
	p.Judge = func(e *Evidence) Answer {
		a := judge(e)
		if !verdict.HasError(a.Findings) || !e.Own() {
			return a
		}
		var told []verdict.Finding
		for _, other := range others {
			if other.ran(e) {
				told = append(told, other.Judge(e).Findings...)
			}
		}
		a.Findings = slices.DeleteFunc(a.Findings, func(f verdict.Finding) bool {
			return slices.ContainsFunc(told, func(o verdict.Finding) bool {
				return o.Severity == verdict.Error && o.Line == f.Line && o.File == f.File && (f.Line > 0 || o.Rule == f.Rule)
			})
		})
		if !verdict.HasError(a.Findings) {
			a.Skip = g.Incomplete(e)
		}
		return a
	}
	return p
}

// Once is the part where others ask it as well, to be silent about what it tells: it is answered once for all.
func (p Part[Code]) Once() Part[Code] { return p.once("answer") }

// once has the part be answered once, under a name that tells it from the same part with more to it.
func (p Part[Code]) once(name string) Part[Code] {
	judge := p.Judge
	p.Judge = func(e *Evidence) Answer {
		notes := e.Cases[p.Cases[0].ID]
		if e.audit != nil {
			notes = e.Cases[e.audit.caseID] // which are others when a timed case is carried out again
		}
		if notes == nil {
			return judge(e)
		}
		a := verdict.Once(notes, e.audit.key(name+" "+p.ID), func() Answer { return judge(e) })
		a.Findings = slices.Clone(a.Findings) // whoever has them may put them into other words
		return a
	}
	return p
}

// ByLuck has the part not pass while the order checker finds errors in what it needs; see Question.Luck.
func (p Part[Code]) ByLuck() Part[Code] {
	p.Luck = true
	return p
}

// InOrder has the part not pass while another one, which asks for order in the lesson's own way, finds errors.
func (p Part[Code]) InOrder(order Part[Code]) Part[Code] {
	judge := p.Judge
	p.Judge = func(e *Evidence) Answer {
		a := judge(e)
		if len(a.Findings) == 0 && a.Skip == "" && verdict.HasError(order.Judge(e).Findings) {
			a.Skip = "It came out right this time, but that is luck while the order is as another check says: mend that first."
		}
		return a
	}
	return p
}

// Without has the part leave out findings that are none in its lesson.
func (p Part[Code]) Without(none func(*Evidence, verdict.Finding) bool) Part[Code] {
	judge := p.Judge
	p.Judge = func(e *Evidence) Answer {
		a := judge(e)
		a.Findings = slices.DeleteFunc(a.Findings, func(f verdict.Finding) bool { return none(e, f) })
		return a
	}
	return p
}

// Reworded has what a part finds told in the words of the lesson, where the order checker's speak of streams alone.
func (p Part[Code]) Reworded(words func(*Evidence, verdict.Finding) verdict.Finding) Part[Code] {
	judge := p.Judge
	p.Judge = func(e *Evidence) Answer {
		a := judge(e)
		for i, f := range a.Findings {
			a.Findings[i] = words(e, f)
		}
		return a
	}
	return p
}

// Faults is a trial in which every CUDA call of the code fails once; see Bench.EveryFault.
type Faults[Code any, W Workload] struct {
	Trial[Code]
	draw  func(*rand.Rand) W
	judge FaultJudge
	wrong func(*Made[W]) []verdict.Finding
}

// Faults is a trial with workloads that are alike in what the code has to call for them: the smallest in which every
// call of the code is made. wrong finds what is wrong with a call that answered nil where nothing was made to fail:
// with its results, and with where they come from. It is nil where nothing is known of that.
func (sc *Scene[Code, W]) Faults(id, after string, draw func(*rand.Rand) W, j FaultJudge,
	wrong func(*Made[W]) []verdict.Finding) *Faults[Code, W] {
	if wrong == nil {
		wrong = func(*Made[W]) []verdict.Finding { return nil }
	}
	f := &Faults[Code, W]{Trial: Trial[Code]{ID: id, After: after}, draw: draw, judge: j, wrong: wrong}
	f.Drive = func(b *Bench, sides Sides[Code]) {
		inputs := NewInputs(b.Rand(), draw)
		b.EveryFault(func(input int) (label string, run func() error, finish func()) {
			w, s, number, answered := inputs.At(input), b.NewStage(), b.Calls(), false
			call := sc.Set(s, w)
			run = func() error {
				err := call(sides.Student, w)
				answered = err == nil
				return err
			}
			return w.Label(), run, func() {
				s.goOn(answered)
				s.settle()
				s.note("", number)
				s.Close()
			}
		}, trace.OpEventQuery, trace.OpStreamQuery)
	}
	return f
}

// Made are the calls of the trial.
func (f *Faults[Code, W]) Made(e *Evidence) []Made[W] {
	return madeOf(e, f.ID, func() []W { return FaultInputs(e, f.ID, f.draw) })
}

// Further are the calls of the trial in which nothing was made to fail, and of the others what came before the failure.
func (f *Faults[Code, W]) Further() Further {
	return Further{Where: "That was beside calls in which CUDA calls fail; in the others it was as it should be.",
		About: func(e *Evidence) *Evidence {
			if e.Cases[f.ID] == nil {
				return nil
			}
			var begun []Made[W]
			all, whole := f.Made(e), []int{0}
			for _, run := range FaultRuns(e.Cases[f.ID]) {
				m := all[run.Index]
				m.To, m.Outcome.Err = run.Failed, "" // which came of the failure
				begun, whole = append(begun, m), append(whole, run.Again)
			}
			about := only(e, f.ID, all, whole...)
			if about == nil {
				return nil
			}
			about.audit.begun = begun
			return about
		}}
}

// NoFault is why a part cannot answer where no call of the code could be made to fail.
const NoFault = "No CUDA call was made that could have failed, so this could not be seen."

// Cleanup is the part that asks that nothing is left behind, in the good trials and where CUDA calls fail.
func (g *Good[Code, W]) Cleanup(name, pass string, faults ...*Faults[Code, W]) Part[Code] {
	p := Part[Code]{Question: Question{ID: "cleanup", Name: name}, Cases: g.Trials(), further: g.further(),
		GivesBack: true}
	for _, f := range faults {
		p.Cases = append(p.Cases, &f.Trial)
	}
	p.Judge = func(e *Evidence) Answer {
		a := Answer{Message: pass, Findings: e.Of(verdict.EndRules, g.IDs()...)}
		if verdict.HasError(a.Findings) {
			return a // a leak without any failure would only be told again for each failure
		}
		if a.Skip = g.Incomplete(e); a.Skip != "" || e.audit != nil {
			return a
		}
		seen := false
		for _, f := range faults {
			if f.refused(e) && g.refused(e) {
				continue // who asks for results tells of it
			}
			a.Findings = append(a.Findings, f.findings(e, g)...)
			seen = seen || len(FaultRuns(e.Cases[f.ID])) > 0
		}
		a.Findings = verdict.Unique(a.Findings)
		if !verdict.HasError(a.Findings) && !seen && len(faults) > 0 {
			a.Skip = NoFault
		}
		return a
	}
	return p
}

// refused reports whether the code took the trial's arguments for bad ones, so that no call could be made to fail.
func (f *Faults[Code, W]) refused(e *Evidence) bool {
	outcomes := e.Cases[f.ID].Outcomes
	return len(outcomes) > 0 && outcomes[0].Argument
}

// refused reports whether the code took some of the good arguments for bad ones.
func (g *Good[Code, W]) refused(e *Evidence) bool {
	return slices.ContainsFunc(g.Made(e), func(m Made[W]) bool { return m.Outcome.Argument })
}

// findings are what the failures have shown. What is wrong in good trials, too, is wrong without any failure, and was
// told.
func (f *Faults[Code, W]) findings(e *Evidence, good *Good[Code, W]) []verdict.Finding {
	j, all := f.judge, f.Made(e)
	told := sync.OnceValue(func() bool {
		next, _ := e.Cases[f.ID].Window(1)
		early := slices.DeleteFunc(e.Of(verdict.OrderRules, f.ID),
			func(found verdict.Finding) bool { return found.Record >= next })
		return verdict.HasError(append(early, e.Of(verdict.OrderRules, good.IDs()...)...)) || // what comes out is luck then
			slices.ContainsFunc(good.Made(e), func(m Made[W]) bool { return m.Outcome.OK() && len(f.wrong(&m)) > 0 })
	})
	wrong := func(outcome int) []verdict.Finding {
		if found := f.wrong(&all[outcome]); len(found) > 0 && !told() {
			return found
		}
		return nil
	}
	if len(all) > 0 && all[0].Outcome.OK() {
		if found := wrong(0); found != nil {
			return found
		}
	}
	j.Wrong = func(outcome int) string {
		for _, found := range wrong(outcome) {
			return found.Message
		}
		return ""
	}
	return e.AfterFaults(f.ID, j)
}
