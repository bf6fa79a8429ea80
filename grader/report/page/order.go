package page

import (
	"slices"

	"cudalab/grader/judge/prove"
	"cudalab/grader/suite"
)

// orderFigure is an order in which a finding goes wrong, step by step.
type orderFigure struct {
	Always bool // it goes wrong in the order in which the calls were made
	Steps  []orderStep
	Ends   string
}

type orderStep struct{ Call, Wrong, Link, Place string }

// order is the order in which a finding goes wrong, nil if there is none.
func (p *content) order(f suite.Finding) *orderFigure {
	i := slices.IndexFunc(p.Orders, func(o prove.Fault) bool {
		return o.Finding.Rule == f.Rule && o.At.File == f.File && o.At.Line == f.Line
	})
	if i < 0 || f.File == "" {
		return nil
	}
	o := p.Orders[i]
	figure := &orderFigure{Always: o.Always, Ends: o.Ends}
	for _, s := range o.Steps {
		figure.Steps = append(figure.Steps, orderStep{s.Call, s.Wrong, p.sources.link(s.At.File, s.At.Line), place(s.At.File, s.At.Line)})
	}
	return figure
}
