package page

import (
	"cmp"
	"slices"

	"cudalab/grader/judge/prove"
	"cudalab/grader/suite"
)

// orderFigure is an order in which a finding goes wrong beside the one that happened, step by step.
type orderFigure struct {
	Lanes []orderLane
	Ends  string
}

// orderLane is one of the two. In both the steps have the numbers of what happened.
type orderLane struct {
	Title string
	Steps []orderStep
}

type orderStep struct {
	N                        int
	Call, Wrong, Link, Place string
	Early                    bool // it is what CUDA may do too early
}

// order is the order in which a finding goes wrong, nil if there is none.
func (p *content) order(f suite.Finding) *orderFigure {
	here := func(o prove.Fault) bool {
		return o.Finding.Rule == f.Rule && o.At.File == f.File && o.At.Line == f.Line
	}
	i := slices.IndexFunc(p.Orders, func(o prove.Fault) bool { return here(o) && o.Finding.Message == f.Message })
	if i < 0 {
		i = slices.IndexFunc(p.Orders, here) // of another case
	}
	if i < 0 || f.File == "" {
		return nil
	}
	o := p.Orders[i]
	happened := slices.SortedFunc(slices.Values(o.Steps), func(a, b prove.Step) int { return cmp.Compare(a.N, b.N) })
	lane := func(title string, steps []prove.Step, wrong bool) orderLane {
		l := orderLane{Title: title}
		for _, s := range steps {
			step := orderStep{N: s.N, Call: s.Call, Link: p.sources.link(s.At.File, s.At.Line), Place: place(s.At.File, s.At.Line),
				Early: !o.Always && s.Record == o.Early}
			if wrong {
				step.Wrong = s.Wrong
			}
			l.Steps = append(l.Steps, step)
		}
		return l
	}
	if o.Always {
		return &orderFigure{[]orderLane{lane("In the order of the calls", o.Steps, true)}, o.Ends}
	}
	return &orderFigure{[]orderLane{lane("What happened", happened, false), lane("What may happen as well", o.Steps, true)}, o.Ends}
}
