package interleave

import (
	"fmt"

	"cudalab/exercises/contract"
	"cudalab/grader/suite/verdict"
)

// threads is an order as a page draws it.
func (p *Program) threads(f *Failure, h *followed) *verdict.Threads {
	requests, _ := p.requests()
	t := &verdict.Threads{Threads: len(p.Threads), Capacity: p.Capacity, Taken: p.Taken, Word: Number(p.Taken)}
	before := p.Taken
	for i, s := range f.Steps {
		x := verdict.ThreadStep{Thread: s.Thread, Answer: Number(s.Answer), Word: Number(h.words[i]),
			Changes: h.words[i] != before, More: !s.Last}
		before = h.words[i]
		if s.Op.Kind != 0 {
			x.Op, x.Short = s.Op.String(), s.Op.short()
		}
		if h.begun[s.Request] == i {
			x.Asks = requests[s.Request].String()
		}
		if s.Last && f.Results != nil {
			x.Gets = list(f.Results[s.Request], offset)
			for lane, from := range f.Results[s.Request] {
				if from != contract.NoRoom && from != poison {
					x.Blocks = append(x.Blocks, verdict.Stretch{From: from, Size: requests[s.Request].Sizes[lane]})
				}
			}
		}
		t.Steps = append(t.Steps, x)
	}
	return t
}

// short is an operation where there is little room.
func (o Op) short() string {
	switch o.Kind {
	case Load:
		return "Load"
	case Add:
		if back := -o.Value; back < o.Value {
			return "Add -" + Number(back)
		}
		return "Add " + Number(o.Value)
	}
	return fmt.Sprintf("CAS %s→%s", Number(o.Compare), Number(o.Value))
}
