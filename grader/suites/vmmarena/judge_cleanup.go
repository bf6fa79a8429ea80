package vmmarena

import (
	"fmt"
	"slices"

	"cudalab/grader/suite"
	"cudalab/native/trace"
)

func judgeCleanup(e *suite.Evidence) suite.Answer {
	a := suite.Answer{
		Message:  "Close gave everything back, and a CUDA call that failed was reported or made good, and left nothing behind.",
		Findings: e.Of(suite.EndRules, append([]string{caseMemory}, plenty...)...),
	}
	if suite.HasError(a.Findings) {
		return a // what goes wrong without any failure would only be told again for each failure
	}
	notes := e.Cases[caseFaults]
	if from, to := notes.Window(0); len(notes.Outcomes) == 0 || !notes.Outcomes[0].OK() || !sound(notes, from, to) {
		a.Skip = "The arena did not work even where no call failed, so this could not be seen."
		return a
	}
	a.Findings = suite.Unique(append(a.Findings, e.AfterFaults(caseFaults, suite.FaultJudge{
		Function: "New, Alloc or Close",
		Recovers: func(run suite.FaultRun) bool { return madeGood(notes, run) },
		Retried:  "Close",
	})...))
	changed := unsettled(e, notes)
	if len(changed) > 0 {
		// Whatever else it returns from then on comes of that.
		a.Findings = slices.DeleteFunc(a.Findings, func(f suite.Finding) bool { return f.Rule == suite.ErrorReplaced })
	}
	if !suite.HasError(a.Findings) {
		a.Findings = append(a.Findings, changed...)
	}
	return a
}

// madeGood reports whether an arena has come by another way to what the call that failed was to give it: a growth may be
// tried once more with less.
func madeGood(notes *suite.CaseNotes, run suite.FaultRun) bool {
	records := notes.Trace.Records
	switch run.Op {
	case trace.OpMemCreate, trace.OpMemMap, trace.OpMemSetAccess:
	case trace.OpMemRelease:
		released := false
		for at := run.Failed + 1; at < run.To; at++ {
			released = released || records[at].Op == run.Op && records[at].Code == 0 && records[at].Alloc == records[run.Failed].Alloc
		}
		if !released {
			return false
		}
	default:
		return false
	}
	return sound(notes, run.From, run.To)
}

// sound reports whether the device may use every block that was handed out between two records.
func sound(notes *suite.CaseNotes, from, to int) bool {
	var l ledger
	for at := from; at < to; at++ {
		r := &notes.Trace.Records[at]
		l.see(at, r)
		if r.Op != trace.OpBlockAlloc {
			continue
		}
		if p, whole := l.unusable(r.Addr, uint64(r.Size)); p != nil || !whole {
			return false
		}
	}
	return true
}

// unsettled finds a run in which an Alloc failed and the arena was not as before; of several, the first.
func unsettled(e *suite.Evidence, notes *suite.CaseNotes) []suite.Finding {
	for _, run := range notes.FaultRuns() {
		f := suite.Finding{Rule: "changed-by-error", Severity: suite.Error, Record: run.Failed,
			Why: "A growth that fails leaves the arena as it was, so that it can be tried again."}
		switch {
		case noted(notes, noteChanged, run.Index):
			f.Message = fmt.Sprintf("%s. Alloc should have returned that error and left Stats as they were, but they are others now.", run.What)
			f.Fix = "Change what the arena knows of itself only when all calls of a growth have succeeded."
		case noted(notes, noteStuck, run.Index):
			f.Message = fmt.Sprintf("%s. The same Alloc, tried once more, should have succeeded, but failed as well.", run.What)
			f.Fix = "Give back all that the growth has made before returning its error: unmap what was mapped, release what was created."
		default:
			continue
		}
		return []suite.Finding{e.At(f, notes.Trace.SiteOf(&notes.Trace.Records[run.Failed]))}
	}
	return nil
}

// noted reports whether a run was noted under a name, by its outcome.
func noted(notes *suite.CaseNotes, name string, outcome int) bool {
	return slices.Contains(notes.Values[name], uint64(outcome))
}
