package poolconfig

import (
	"fmt"
	"slices"

	"cudalab/grader/suite"
	"cudalab/native/trace"
)

func judgeCleanup(e *suite.Evidence) suite.Answer {
	a := judged(e, false, func(*call) []suite.Finding { return nil })
	a.Findings = e.Of(suite.EndRules, caseShapes, caseRandom)
	a.Message = "Every block was freed and the pool destroyed, and a failing CUDA call was reported and left nothing behind."
	if suite.HasError(a.Findings) || a.Skip != "" {
		return a // what goes wrong without any failure would only be told again for each failure
	}
	a.Findings = e.AfterFaults(caseFaults, suite.FaultJudge{Function: "Run"})
	a.Findings = suite.Unique(append(a.Findings, poolsAfterFaults(e)...))
	return a
}

// poolsAfterFaults judges whether the device's pools were as Run had found them, also where a call failed.
func poolsAfterFaults(e *suite.Evidence) []suite.Finding {
	if slices.ContainsFunc(good(e), func(c call) bool { return len(c.changedPools()) > 0 }) {
		return nil // so they are without any failure
	}
	all := calls(e, caseFaults, []workload{faulty()})
	var found []suite.Finding
	for _, run := range e.Cases[caseFaults].FaultRuns() {
		c := all[run.Index]
		if run.Op == trace.OpDeviceSetMemPool ||
			run.Op == trace.OpMemPoolSetAttribute && c.Record(run.Failed).Pool == c.before.defaultPool {
			continue // it may be the very call that was to put them back
		}
		for _, f := range c.changedPools() {
			f.Message = fmt.Sprintf("%s. When Run had returned, the device's pools should have been as it had found them, but were not.", run.What)
			found = append(found, e.Because(f, e.Cases[caseFaults], run))
		}
	}
	return found
}
