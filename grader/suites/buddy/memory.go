package buddy

import (
	"fmt"
	"iter"

	"cudalab/grader/suite"
	"cudalab/grader/suite/allocator"
	"cudalab/grader/suite/verdict"
	"cudalab/native/device"
	"cudalab/native/trace"
)

// calledIn are the CUDA calls made in one Call, by record.
func calledIn(notes *verdict.CaseNotes, call int) iter.Seq[int] {
	from, to := notes.Window(call)
	return func(yield func(int) bool) {
		for at := from; at < to; at++ {
			r := &notes.Trace.Records[at]
			if r.Op == trace.OpMark || r.Phase == trace.Leave {
				continue
			}
			if !yield(at) {
				return
			}
		}
	}
}

func judgeMemory(e *suite.Evidence) suite.Answer {
	a := good.Judge(e, ofMemory, "New asked for the root block and nothing else, and CUDA was left alone until Close.",
		func(r *allocator.Run[layout]) []verdict.Finding { return root(e, r) })
	a.Findings = verdict.Unique(append(a.Findings, good.CallsBetween(e, "the root block", "halving a block")...))
	return a
}

// root judges what New allocated.
func root(e *suite.Evidence, r *allocator.Run[layout]) []verdict.Finding {
	if r.Record == nil {
		return nil
	}
	const why = "One allocation serves all blocks, and a buddy is found by the address: both need the root to be one " +
		"piece, of a size that is a power of two."
	fix := fmt.Sprintf("Round total up to a power of two first, here to %d, and allocate the root with one cuda.Malloc "+
		"of that many bytes.",
		r.Layout.root())
	var found []verdict.Finding
	roots := 0
	for at := range calledIn(r.Notes, r.Record.First-1) {
		call := &r.Notes.Trace.Records[at]
		if !suite.AllocatesOnDevice(call.Op) || call.Code != int32(device.Success) {
			continue
		}
		roots++
		f := verdict.Finding{Severity: verdict.Error, Record: at, Why: why, Fix: fix}
		switch {
		case roots > 1:
			f.Rule = "several-roots"
			f.Message = fmt.Sprintf("%s should have made one allocation, but this is another one.", r.Layout)
		case call.Op != trace.OpMalloc:
			f.Rule = "wrong-root"
			f.Message = fmt.Sprintf("%s should have got its root block from cuda.Malloc, but it called %s.", r.Layout,
				suite.CallName(call))
		case call.Size != r.Layout.root():
			f.Rule = "wrong-root"
			f.Message = fmt.Sprintf("%s should have allocated a root block of %d bytes, but it allocated %d.", r.Layout,
				r.Layout.root(), call.Size)
		default:
			continue
		}
		found = append(found, e.At(f, r.Notes.Trace.SiteOf(call)))
	}
	if roots == 0 {
		found = append(found, verdict.Finding{
			Rule: "no-root", Severity: verdict.Error, Record: -1, Why: why, Fix: fix,
			Message: fmt.Sprintf("%s should have allocated a root block of %d bytes, but it allocated nothing.", r.Layout,
				r.Layout.root()),
		})
	}
	return found
}
