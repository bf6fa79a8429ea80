package suite

import (
	"fmt"
	"slices"
	"strings"

	"cudalab/grader/suite/verdict"
	"cudalab/native/trace"
)

// FaultRun is a run of the student's code in which one CUDA call was made to fail, or was to be; see EveryFault.
type FaultRun struct {
	Outcome  verdict.Outcome
	Index    int // the outcome's, among those of the case
	From, To int // the run's records
	Failed   int // the record of the call that failed; -1 where the code came to its end without that call
	Op       trace.Op
	// a clause to begin a sentence with: "As a test, the 2nd call of cuda.FreeAsync was made to fail with CUDA_ERROR_…
	// (1)"
	What string
	// the outcome of the run after it on the same inputs, in which nothing was made to fail; -1 if there was none
	Again int
	Kept  bool // the run answered the error that the call was made to fail with, or one that wraps it
}

// FaultJudge says how a lesson judges the runs of EveryFault.
type FaultJudge struct {
	// Function is who should have returned the error: "Run", or "New or Close".
	Function string
	// Wrong says in a sentence what is wrong with a run that returned nil, by its outcome's index, where nothing was made
	// to fail; "" where it did all its work. By this are judged who comes to the end without the call that was to fail,
	// and the run after a failure.
	Wrong func(outcome int) string
	// Recovers reports whether the code may make good for the call that failed and return nil. It may be nil: never, but
	// for a call that asks what the device is like, where all was done without its answer.
	Recovers func(FaultRun) bool
	// Stops says that the contract has the code stop at the first error: it enqueues nothing more.
	Stops bool
	// Fixes are how to give back what a call has made, in sentences, where the words of this package will not do.
	Fixes map[trace.Op]string
	// After finds what else is wrong behind a call that failed: what the code did by then, and what it goes on to do. It
	// may be nil. Where nothing else is wrong, the first that it finds is told: the others come of the same mistake.
	After func(FaultRun) []verdict.Finding
	// Retried is what the run calls again when it has returned an error, to give back what is left: "Close". Then the
	// object of a free that failed has to be gone as well; else it is excused.
	Retried string
	// MakesUp says that a call of the run's own later on makes the edge that failed: then no order is excused, and nobody
	// waits.
	MakesUp bool
	// Refused reports whether the code, asked once more behind the failure, took good arguments for bad ones, as it does
	// where nothing fails: another part tells that, and nothing is asked of the run. It may be nil.
	Refused func(FaultRun) bool
}

// AfterFaults judges the runs of EveryFault: the error must come back, all that was made must be given back, in order,
// and the next run must work. Whoever calls it has told before what goes wrong without any failure.
func (e *Evidence) AfterFaults(caseID string, j FaultJudge) []verdict.Finding {
	c := e.Cases[caseID]
	runs := FaultRuns(c)
	failing := func(f verdict.Finding) bool {
		return slices.ContainsFunc(runs, func(r FaultRun) bool { return r.holds(f) })
	}
	inOrder := !slices.ContainsFunc(c.Findings, func(f verdict.Finding) bool {
		return f.Severity == verdict.Error && slices.Contains(verdict.OrderRules, f.Rule) && !failing(f)
	})
	always := slices.DeleteFunc(e.Of(verdict.EndRules, caseID),
		func(f verdict.Finding) bool { return f.Severity != verdict.Error || failing(f) })
	left := e.leftOut(c, j)
	var found, after []verdict.Finding
	if len(runs) == 0 && len(c.Outcomes) > 0 && c.Outcomes[0].Err != "" {
		from, to := c.Window(0)
		found = append(found, e.AtError(UnexpectedError(j.Function, c.Outcomes[0]), c, from, to))
	}
	for _, run := range runs {
		if j.Refused != nil && j.Refused(run) {
			continue
		}
		if j.After != nil && run.Outcome.Panic == "" {
			after = append(after, j.After(run)...)
		}
		switch {
		case run.Outcome.OK():
			if (j.Recovers == nil || !j.Recovers(run)) && (!isAboutTheDevice(run.Op) || j.Wrong(run.Index) != "") {
				found = append(found, e.ignored(c, run, j))
			}
		case !run.Kept && run.Outcome.Panic == "" && len(after) == 0: // what else it returns comes of that
			found = append(found, e.replaced(c, run, j))
		}
		if j.Stops && run.Outcome.Err != "" {
			found = append(found, e.wentOn(c, run, j)...)
		}
		var notRetried []verdict.Finding
		if j.Retried != "" {
			notRetried = e.notRetried(c, run, j)
			found = append(found, notRetried...)
		}
		for _, f := range c.Findings {
			if f.Rule == "leak" && len(notRetried) > 0 {
				continue // it was for that call's second try to go on to this
			}
			if !run.holds(f) || f.Severity != verdict.Error && !slices.Contains(verdict.EndRules, f.Rule) || f.SameIn(always) {
				continue
			}
			if f.Rule == "free-before-use" || j.MakesUp && slices.Contains(unordered, f.Rule) {
				if !inOrder || run.Op.Synchronises() { // then nothing is left to put a free in order
					continue
				}
				if !j.MakesUp {
					f = lastResort(f, run)
				}
			} else if !slices.Contains(verdict.EndRules, f.Rule) && (f.Rule != "use-after-destroy" || !inOrder) {
				continue
			}
			f = OnError(c, f, run.What, j.Function)
			if fix, ok := j.Fixes[c.Trace.Records[f.Record].Op]; ok && f.Rule == "leak-on-error" {
				f.Fix = fix
			}
			if f.Rule == "leak-on-error" && givesBack(run.Op) {
				f.Fix += " The call that failed gives back something else: go on behind it, and return its error in the end."
			}
			found = append(found, e.Because(f, c, run))
		}
		if run.Again >= 0 && inOrder && len(left) == 0 {
			found = append(found, e.unusable(c, run, j)...)
		}
	}
	found = append(found, left...)
	if !verdict.HasError(found) {
		found = append(found, after[:min(len(after), 1)]...)
	}
	return verdict.Unique(append(found, always...))
}

// FaultRuns are the runs in which a call failed, in the order in which they were made.
func FaultRuns(c *verdict.CaseNotes) []FaultRun {
	return slices.DeleteFunc(faultRuns(c), func(r FaultRun) bool { return r.Failed < 0 })
}

// holds reports whether a finding is of the run's records.
func (run *FaultRun) holds(f verdict.Finding) bool { return f.Record >= run.From && f.Record < run.To }

func (e *Evidence) ignored(c *verdict.CaseNotes, run FaultRun, j FaultJudge) verdict.Finding {
	f := verdict.Finding{
		Rule: "error-ignored", Severity: verdict.Error, Record: run.Failed,
		Message: fmt.Sprintf("%s. %s should have returned that error, but it returned nil.", run.What, j.who()),
		Why:     "A CUDA call that fails does nothing, so what follows works on memory or results that are not there.",
		Fix: "Check the error of this call and return it; where it is made in a function of your own, check and return " +
			"that function's error, too.",
	}
	if run.Op == trace.OpEventQuery || run.Op == trace.OpStreamQuery {
		f.Why = "An error does not say whether the work is done, nor whether the stream or event can be used for " +
			"anything else."
		f.Fix = "Take nil for done and cuda.ErrorNotReady for not done yet, with errors.Is; return every other error of " +
			"this call."
	}
	if givesBack(run.Op) {
		f.Why = "A CUDA call that fails does nothing: what it should give back is still held, and only this error " +
			"tells the caller."
		f.Fix = "Keep the error of this call and return it; errors.Join adds it to one that came before. In a defer, put " +
			"the call into a func literal that sets the function's named error result."
	}
	return e.At(f, c.Trace.SiteOf(&c.Trace.Records[run.Failed]))
}

// leftOut finds a run that came to its end without the call that was to fail. It may, where it did all its work.
func (e *Evidence) leftOut(c *verdict.CaseNotes, j FaultJudge) []verdict.Finding {
	for _, run := range faultRuns(c) {
		switch {
		case run.Again >= 0 && !c.Outcomes[run.Again].OK():
			return nil // what follows comes of the failure before
		case run.Failed >= 0 || run.Outcome.Panic != "":
			continue
		}
		wrong := "It returned: " + run.Outcome.Err
		if run.Outcome.OK() {
			wrong = j.Wrong(run.Index)
		}
		if wrong == "" {
			continue
		}
		function, _, _ := strings.Cut(strings.ReplaceAll(j.Function, ",", " "), " ")
		return []verdict.Finding{{
			Rule: "left-out", Severity: verdict.Error, Record: -1, Function: function, Refused: run.Outcome.Argument,
			Message: fmt.Sprintf("%s. With inputs like these it was made before, but now the code came to its end without "+
				"it. %s", run.What, wrong),
			Why: "What an earlier call has found out, or made, is of no use to this one: its memory and its results are others.",
			Fix: "Do all the work anew in every call, whatever was done before.",
		}}
	}
	return nil
}

// faultRuns are the runs in which a call was to fail.
func faultRuns(c *verdict.CaseNotes) []FaultRun {
	var runs []FaultRun
	windows := c.Windows()
	for _, v := range c.Values[noteFault] {
		i, op, k := int(v>>32), trace.Op(v>>16), int(v&0xffff)
		if i >= min(len(c.Outcomes), len(windows)) {
			break
		}
		if len(runs) > 0 && runs[len(runs)-1].Again == i {
			runs[len(runs)-1].Again = -1
		}
		run := FaultRun{Outcome: c.Outcomes[i], Index: i, From: windows[i].From, To: windows[i].To, Op: op, Again: -1,
			Kept: slices.Contains(c.Values[noteKept], uint64(i))}
		run.Failed = slices.IndexFunc(c.Trace.Records[run.From:run.To], func(r trace.Record) bool {
			return r.Faked &&
				r.Op == op
		})
		name := nth(k, op)
		if at := run.From + max(run.Failed, 0); run.Failed >= 0 && c.Trace.Records[at].Flags != 0 {
			name = ordinal(k) + " call of " + CallName(&c.Trace.Records[at])
		}
		if run.Failed < 0 {
			run.What = fmt.Sprintf("As a test, the %s was to fail", name)
			runs = append(runs, run)
			continue
		}
		run.Failed += run.From
		if back, ok := callback(c, run.Failed); ok {
			name += ", inside " + back.Name + ","
		} else if op == trace.OpLaunch {
			name += ", " + CallName(&c.Trace.Records[run.Failed]) + ","
		}
		run.What = fmt.Sprintf("As a test, the %s was made to fail with %s", name, faultCode(op))
		if i+1 < len(c.Outcomes) {
			run.Again = i + 1
		}
		runs = append(runs, run)
	}
	return runs
}

// ErrorReplaced is the rule of a run that answers another error than the one that CUDA answered.
const ErrorReplaced = "error-replaced"

func (e *Evidence) replaced(c *verdict.CaseNotes, run FaultRun, j FaultJudge) verdict.Finding {
	return e.At(verdict.Finding{
		Rule: ErrorReplaced, Severity: verdict.Error, Record: run.Failed,
		Message: fmt.Sprintf("%s. %s should have returned that error, but errors.Is does not find it in what was "+
			"returned: %s.", run.What, j.who(),
			strings.TrimSuffix(run.Outcome.Err, ".")),
		Why: "The caller finds out with errors.Is what went wrong; the error's text alone, or the error of a later call, " +
			"does not tell.",
		Fix: "Return the error of this call itself, or wrap it: fmt.Errorf with %w, or errors.Join.",
	}, c.Trace.SiteOf(&c.Trace.Records[run.Failed]))
}

// wentOn finds new work that was enqueued behind a call that failed.
func (e *Evidence) wentOn(c *verdict.CaseNotes, run FaultRun, j FaultJudge) []verdict.Finding {
	for at := run.Failed + 1; at < run.To; at++ {
		r := &c.Trace.Records[at]
		if r.Code != 0 || r.Phase == trace.Leave || !isWork(r.Op) {
			continue
		}
		return []verdict.Finding{e.Because(e.At(verdict.Finding{
			Rule: "goes-on-after-error", Severity: verdict.Error, Record: at,
			Message: fmt.Sprintf("%s. %s should have stopped there, but went on with %s.", run.What, j.who(), CallNameAt(c, at)),
			Why: "What comes behind a call that failed works on memory or results that are not there, and a caller who is " +
				"told of an error expects no new work.",
			Fix: "Return the error at once: only give back what was made, and enqueue nothing more.",
		}, c.Trace.SiteOf(r)), c, run)}
	}
	return nil
}

// who is the Function at the beginning of a sentence.
func (j *FaultJudge) who() string {
	if rest, words := strings.CutPrefix(j.Function, "the "); words {
		return "The " + rest
	}
	return j.Function
}

// Because relates a finding to the call that was made to fail in a run.
func (e *Evidence) Because(f verdict.Finding, c *verdict.CaseNotes, run FaultRun) verdict.Finding {
	places := e.Place(c.Trace.SiteOf(&c.Trace.Records[run.Failed]))
	if len(places) > 0 {
		f.Fault = places[0]
	}
	if len(places) > 0 && (places[0].File != f.File || places[0].Line != f.Line) {
		f.Related = append(slices.Clone(f.Related),
			verdict.Related{File: places[0].File, Line: places[0].Line, Message: "this call was made to fail"})
	}
	return f
}

// isAboutTheDevice reports whether a kind of call asks what the device is like, and so changes nothing where it fails.
func isAboutTheDevice(op trace.Op) bool {
	return op == trace.OpDeviceInfo || op == trace.OpMemGetInfo || op == trace.OpMemGetAllocationGranularity
}

// isWork reports whether a kind of call has the device do something new: whatever allocates, fills, copies or computes.
func isWork(op trace.Op) bool {
	switch op {
	case trace.OpMalloc, trace.OpMallocAsync, trace.OpMallocFromPoolAsync, trace.OpMallocHost, trace.OpMemset,
		trace.OpMemsetAsync, trace.OpMemcpyHtoD, trace.OpMemcpyDtoH, trace.OpMemcpyDtoD, trace.OpMemcpyHtoDAsync,
		trace.OpMemcpyDtoHAsync, trace.OpMemcpyDtoDAsync, trace.OpLaunch:
		return true
	}
	return false
}

// remains is, for what makes a thing, what to say when it was left behind, and what gives it back.
var remains = map[trace.Op]struct{ left, fix string }{
	trace.OpMalloc: {"the memory that was allocated here should have been freed, but was not",
		"Free it with cuda.Free before returning the error."},
	trace.OpMallocHost: {"the pinned memory that was allocated here should have been freed, but was not",
		"Free it with cuda.FreeHost before returning the error."},
	trace.OpMallocAsync: {"the memory that was allocated here should have been freed, but was not",
		"Free it with cuda.FreeAsync, after what uses it, before returning the error."},
	trace.OpMallocFromPoolAsync: {"the memory that was allocated here should have been freed, but was not",
		"Free it with cuda.FreeAsync, after what uses it, before returning the error."},
	trace.OpEventCreate: {"the event that was created here should have been destroyed, but was not",
		"Call cuda.EventDestroy before returning the error; a defer right after the creation covers every way out."},
	trace.OpStreamCreate: {"the stream that was created here should have been destroyed, but was not",
		"Call cuda.StreamDestroy before returning the error."},
	trace.OpMemPoolCreate: {"the memory pool that was created here should have been destroyed, but was not",
		"Call cuda.MemPoolDestroy before returning the error."},
	trace.OpMemAddressReserve: {"the address range that was reserved here should have been given back, but was not",
		"Give it back with cuda.MemAddressFree, at its whole size, before returning the error."},
	trace.OpMemCreate: {"the memory that was created here should have been released, but was not",
		"Call cuda.MemRelease before returning the error; memory that is mapped is held until it is unmapped as well."},
	trace.OpMemMap: {"the memory that was mapped here should have been unmapped, but was not",
		"Call cuda.MemUnmap before returning the error, and then release the handle."},
}

// OnError words a finding of the order checker's for a call of function in which something failed. what is a clause:
// "As a test, the 1st kernel launch was made to fail with …".
func OnError(c *verdict.CaseNotes, f verdict.Finding, what, function string) verdict.Finding {
	if f.Rule == "leak" {
		words, known := remains[c.Trace.Records[f.Record].Op]
		if !known {
			words.left, words.fix = "what was made here should have been given back, but was not", f.Fix
		}
		f.Message = fmt.Sprintf("%s. When %s had returned, %s.", what, function, words.left)
		f.Why = "Only your code knows of it, so nobody else can give it back."
		f.Fix = words.fix
	} else {
		f.Message = fmt.Sprintf("%s. After that: %s", what, f.Message)
	}
	f.Rule += "-on-error"
	return f
}

// unordered are the rules of work that has to come behind other work, and does not.
var unordered = []string{"use-before-alloc", "use-after-free", "free-before-use", "data-race"}

// lastResort softens a free that is out of order because the usual way to order it is the one that failed.
func lastResort(f verdict.Finding, run FaultRun) verdict.Finding {
	if makesEdge(run.Op) {
		f.Severity = verdict.Remark
		f.Fix = "Where no event can be had, let the host wait: cuda.StreamSynchronize for the stream that uses the memory, " +
			"then free."
		f.Related, f.Picture = nil, ""
	}
	return f
}

// makesEdge reports whether a kind of call is half of an order between two streams: without it only the host is left to
// wait.
func makesEdge(op trace.Op) bool { return op == trace.OpEventRecord || op == trace.OpStreamWaitEvent }

// notRetried finds a call that failed to give something back and was not made again, where it should have been.
func (e *Evidence) notRetried(c *verdict.CaseNotes, run FaultRun, j FaultJudge) []verdict.Finding {
	failed := &c.Trace.Records[run.Failed]
	if !givesBack(run.Op) || run.Outcome.OK() || ofOneOperation(c, run) {
		return nil
	}
	for _, r := range c.Trace.Records[run.Failed+1 : run.To] {
		if r.Phase != trace.Enter && r.Code == 0 && givesBackSame(&r, failed) {
			return nil
		}
	}
	return []verdict.Finding{e.At(verdict.Finding{
		Rule: "leak-on-error", Severity: verdict.Error, Record: run.Failed,
		Message: fmt.Sprintf("%s. When %s was called once more, it should have tried this call again, but did not: what it "+
			"gives back is still held.", run.What, j.Retried),
		Why: "A CUDA call that fails does nothing, so it has to be made again.",
		Fix: fmt.Sprintf("Forget a thing only when the call that gives it back has succeeded, so that the next %s finds it.",
			j.Retried),
	}, c.Trace.SiteOf(failed))}
}

// ofOneOperation reports whether what a call failed to give back was made in the same operation, and so was never the
// object's: a mark stands between two operations. Nobody is to keep it for a later one.
func ofOneOperation(c *verdict.CaseNotes, run FaultRun) bool {
	failed := &c.Trace.Records[run.Failed]
	for at := run.Failed - 1; at >= run.From; at-- {
		r := &c.Trace.Records[at]
		if r.Op == trace.OpMark {
			return false
		}
		if _, makes := remains[r.Op]; makes && r.Code == 0 && sameThing(r, failed) {
			return true
		}
	}
	return false
}

// sameThing reports whether two calls name the same thing.
func sameThing(r, other *trace.Record) bool {
	return r.Addr == other.Addr && r.Stream == other.Stream && r.Event == other.Event &&
		r.Pool == other.Pool && r.Alloc == other.Alloc
}

// givesBack reports whether a kind of call gives something back.
func givesBack(op trace.Op) bool {
	switch op {
	case trace.OpFree, trace.OpFreeHost, trace.OpFreeAsync, trace.OpMemUnmap, trace.OpMemRelease, trace.OpMemAddressFree,
		trace.OpMemPoolDestroy, trace.OpEventDestroy, trace.OpStreamDestroy:
		return true
	}
	return false
}

// givesBackSame reports whether r names what failed, a call that did not give it back, has named.
func givesBackSame(r, failed *trace.Record) bool {
	switch failed.Op {
	case trace.OpFree, trace.OpFreeAsync:
		return (r.Op == trace.OpFree || r.Op == trace.OpFreeAsync) && r.Addr == failed.Addr
	case trace.OpMemUnmap:
		return r.Op == failed.Op && r.Addr <= failed.Addr && failed.Addr < r.Addr+uint64(r.Size)
	}
	return r.Op == failed.Op && sameThing(r, failed)
}

// unusable judges the run after one in which a call failed.
func (e *Evidence) unusable(c *verdict.CaseNotes, run FaultRun, j FaultJudge) []verdict.Finding {
	o, wrong := c.Outcomes[run.Again], ""
	switch {
	case o.Panic != "":
		return nil // told as the panic that it is
	case !o.OK():
		wrong = "It returned: " + o.Err
	default:
		wrong = j.Wrong(run.Again)
	}
	if wrong == "" {
		return nil
	}
	return []verdict.Finding{e.At(verdict.Finding{
		Rule: "not-usable-after-error", Severity: verdict.Error, Record: run.Failed,
		Message: fmt.Sprintf("%s. The next call, in which nothing was made to fail, should have worked as before, but did "+
			"not. %s", run.What, wrong),
		Why: "A CUDA call that answers an error has changed nothing, so the program may go on after it.",
		Fix: "Put back what the code has changed before the call that failed: what it keeps from one call to the next, and " +
			"what it was lent.",
	}, c.Trace.SiteOf(&c.Trace.Records[run.Failed]))}
}
