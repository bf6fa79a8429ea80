package blockpool

import (
	"slices"

	"cudalab/grader/suite"
	"cudalab/native/trace"
)

// leaking has a part that tells of leaks say what Close has to do.
func leaking(p suite.Part[Make]) suite.Part[Make] {
	judge := p.Judge
	p.Judge = func(e *suite.Evidence) suite.Answer {
		a := judge(e)
		a.Findings = slices.Clone(a.Findings)
		for i := range a.Findings {
			f := &a.Findings[i]
			s := noted(e, f)
			if f.Rule != "leak" || s == nil {
				continue
			}
			switch e.Cases[s.ID].Trace.Records[f.Record].Op {
			case trace.OpMalloc:
				f.Fix = "Have Close free the pool's memory (cuda.Free), with the address that cuda.Malloc returned in New, also where blocks are still out."
			case trace.OpEventCreate:
				f.Fix = "Have Close destroy (cuda.EventDestroy) every event that the pool has made. Keep each until then: one that was overwritten cannot be destroyed any more."
			}
		}
		return a
	}
	return p
}
