package run

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/grader/machine/child"
	"cudalab/grader/suite"
	"cudalab/grader/suite/verdict"
	"cudalab/native/session"
	"cudalab/native/trace"
)

func at(functions ...string) trace.Site {
	var site trace.Site
	for i, f := range functions {
		site = append(site, trace.Frame{Func: f, File: "/src/slab.go", Line: i + 1})
	}
	return site
}

// ended is a case whose one call of the student's code panicked there.
func ended(o verdict.Outcome) caseRun {
	return caseRun{end: done, notes: &verdict.CaseNotes{ID: "shapes", Trace: &trace.Trace{},
		Outcomes: []verdict.Outcome{o}}}
}

func TestWhosePanicItIs(t *testing.T) {
	const student, ours = "cudalab/exercises/slab.Run", "cudalab/native/sim.(*Device).MemAlloc"
	for name, tt := range map[string]struct {
		site    trace.Site
		runaway bool
		fault   bool
	}{
		"in the student's code":                      {site: at("runtime.gopanic", student, "cudalab/grader/suite.guard")},
		"in the standard library, called from there": {site: at("runtime.gopanic", "strings.Repeat", student)},
		"in package cuda, called from there": {site: at("runtime.gopanic", ours, "cudalab/native/cuda.Malloc",
			student), fault: true},
		"in a function that the suite passed in": {site: at("cudalab/grader/suites/slab.driver.func1", student), fault: true},
		"stopped for calling without end": {site: at("cudalab/native/session.(*Session).begin", student),
			runaway: true},
	} {
		t.Run(name, func(t *testing.T) {
			status, f, ok, err := verdictOf(ended(verdict.Outcome{Panic: "boom", Runaway: tt.runaway, Stack: tt.site}),
				slabLines)
			if tt.fault {
				require.ErrorContains(t, err, "boom")
				require.False(t, ok)
				return
			}
			require.NoError(t, err)
			require.True(t, ok)
			require.Equal(t, verdict.Crashed, status)
			require.Equal(t, "slab.go", f.File)
		})
	}
}

// A record that is not in the trace names no line, whatever the runner says.
func TestTooMuchMemoryIsTheStudentsFailure(t *testing.T) {
	for record, line := range map[int]int{0: 1, 1: 0, -1: 0} {
		run := ended(verdict.Outcome{Label: "5 batches", Err: "full",
			Excess: session.Excess{Asked: 34 << 20, Held: 489 << 20, Quota: 512 << 20, Record: record}})
		run.notes.Trace = &trace.Trace{Sites: []trace.Site{at("cudalab/exercises/slab.Run")},
			Records: []trace.Record{{Op: trace.OpMalloc}}}
		status, f, ok, err := verdictOf(run, slabLines)
		require.NoError(t, err)
		require.True(t, ok)
		require.Equal(t, verdict.Failed, status)
		require.Equal(t, "memory-limit", f.Rule)
		require.Contains(t, f.Message, "get by with 512 MiB of memory")
		require.Contains(t, f.Message, "asked for 34 MiB while it held 489 MiB")
		require.Equal(t, line, f.Line)
	}
}

func TestWhoseCrashItIs(t *testing.T) {
	inside := "goroutine 1 [running]:\ncudalab/exercises/slab.Run()\n\t/src/slab.go:4\n"
	outside := "goroutine 1 [running]:\ncudalab/grader/judge/runner.Main()\n\t/src/runner.go:4\n"
	for stderr, fault := range map[string]bool{
		"fatal error: stack overflow\n\n" + inside:              false,
		"panic: boom\n\n" + outside:                             true,
		"SIGSEGV: segmentation violation\nPC=0x1\n\n" + outside: false,
		"": false,
	} {
		run := caseRun{end: died, notes: &verdict.CaseNotes{ID: "shapes", Trace: &trace.Trace{}},
			child: child.Result{Reason: child.Exited, ExitCode: 2}, crash: []byte(stderr)}
		_, f, ok, err := verdictOf(run, slabLines)
		require.Equal(t, fault, err != nil, stderr)
		require.Equal(t, !fault, ok, stderr)
		if ok {
			require.NotEmpty(t, f.Message)
			require.NotEmpty(t, f.Fix)
		}
	}
}

func TestARunnerThatWasKilledIsNobodysFault(t *testing.T) {
	run := emptyRun("shapes")
	run.end, run.child = died, child.Result{Reason: child.Signalled, ExitCode: -1, Signal: os.Kill}
	_, _, ok, err := verdictOf(run, slabLines)
	require.ErrorContains(t, err, "killed the runner")
	require.False(t, ok)
}

func TestWhatEndsTheProcessBeforeItGreets(t *testing.T) {
	inside := "panic: boom\n\ngoroutine 1 " +
		"[running]:\ncudalab/exercises/slab.init()\n\t/src/slab.go:4\nmain.main()\n\t/main.go:1\n"
	another := strings.ReplaceAll(inside, "slab", "buddy")
	for stderr, own := range map[string]bool{inside: true, another: false, "": false} {
		born := &startError{child: child.Result{Reason: child.Exited, ExitCode: 2, Stderr: []byte(stderr)}}
		run, ok := startErrorRun(fmt.Errorf("starting: %w", born), "shapes", false, slabLines)
		require.Equal(t, own, ok, stderr)
		if own {
			status, f, _, err := verdictOf(run, slabLines)
			require.NoError(t, err)
			require.Equal(t, verdict.Crashed, status)
			require.Equal(t, 4, f.Line)
		}
	}
	_, ok := startErrorRun(&NoDevice{"none"}, "shapes", true, slabLines)
	require.False(t, ok)
}

func TestWhatWasOnlyLentIsNotYours(t *testing.T) {
	run := caseRun{end: faulted, notes: &verdict.CaseNotes{ID: "shapes", Trace: &trace.Trace{}}}
	_, _, _, err := verdictOf(run, slabLines)
	require.Error(t, err, "nothing lent was taken away, so the fault is ours")

	run.fault.Taken, run.fault.Site = "StreamDestroy", at("cudalab/native/cuda.StreamDestroy",
		"cudalab/exercises/slab.Run")
	status, f, ok, err := verdictOf(run, slabLines)
	require.NoError(t, err)
	require.True(t, ok)
	require.Equal(t, verdict.Failed, status)
	require.Equal(t, "not-yours", f.Rule)
	require.Equal(t, 2, f.Line)
}

// Maps have no order, and what is said of the same code must not change from run to run.
func TestTheFirstFaultOfOursIsTold(t *testing.T) {
	for range 50 {
		c := &checking{Runner: &Runner{}, Code: Code{Suite: &suite.Suite{}}, runs: map[string]caseRun{}, locate: slabLines}
		for _, id := range []string{"shapes", "order", "again", "faults"} {
			c.Suite.Cases = append(c.Suite.Cases, suite.Case{ID: id})
			run := emptyRun(id)
			if run.end, run.fault.Message = faulted, "of "+id; id == "shapes" {
				run.end = done
			}
			c.runs[id] = run
		}
		require.EqualError(t, c.conclude(nil), "case order: of order")
	}
}

func TestABusyMachineIsNobodysFault(t *testing.T) {
	run := emptyRun("shapes")
	run.end = endOf(child.Result{Reason: child.TooBusy}, 0)
	c := &checking{Runner: &Runner{}, Code: Code{Suite: &suite.Suite{Cases: []suite.Case{{ID: "shapes"}}}},
		runs: map[string]caseRun{"shapes": run}, locate: slabLines}
	var busy *Busy
	require.ErrorAs(t, c.conclude(nil), &busy)
	require.Equal(t, verdict.Errored, c.report.Status)
	require.Contains(t, c.report.Message, "too busy")
	require.Contains(t, c.report.Next, "not your code's fault: run it again")
}

// A method of a value's that is called through a nil pointer panics in what the compiler has added, which is nobody's
// code.
func TestANilPointersMethodIsItsCallers(t *testing.T) {
	site := at("runtime.panicwrap", "cudalab/native/device.(*Code).Error", "cudalab/exercises/slab.Run")
	site[1].File = autogenerated
	status, f, ok, err := verdictOf(ended(verdict.Outcome{Panic: "boom", Stack: site}), slabLines)
	require.NoError(t, err)
	require.True(t, ok)
	require.Equal(t, verdict.Crashed, status)
	require.Equal(t, 3, f.Line)
}

// The methods of an embedded error that is nil are nobody's code, and it is the grader that calls them.
func TestAnErrorThatCannotBeAskedIsTheStudents(t *testing.T) {
	for _, asking := range asking {
		site := at("runtime.panicmem", "runtime.sigpanic", "cudalab/exercises/slab.(*failure).Error",
			"errors.(*joinError).Error", asking, "cudalab/grader/suite.guard")
		site[2].File = autogenerated
		status, f, ok, err := verdictOf(ended(verdict.Outcome{Label: "no classes", Panic: "nil dereference", Stack: site}),
			slabLines)
		require.NoError(t, err, asking)
		require.True(t, ok)
		require.Equal(t, verdict.Crashed, status)
		require.Contains(t, f.Message, "it panics when it is asked")
	}
	// In a line of the student's it is a panic like any other, and elsewhere in the grader it is the grader's.
	_, f, _, err := verdictOf(ended(verdict.Outcome{Panic: "boom", Stack: at("cudalab/exercises/slab.failure.Error",
		asking[0])}), slabLines)
	require.NoError(t, err)
	require.Contains(t, f.Message, "but it panicked")
	_, _, _, err = verdictOf(ended(verdict.Outcome{Panic: "boom", Stack: at("cudalab/grader/suite.guard", asking[0])}),
		slabLines)
	require.ErrorContains(t, err, "cudalab's own code panicked")
}

// What keeps Go busy collecting until its time is up is its memory, whichever of the two limits comes first.
func TestMemoryWithoutEndIsTheSameFaultOnAnyMachine(t *testing.T) {
	full := fullFrom("sim")
	require.Equal(t, outOfMemory, endOf(child.Result{Reason: child.TooLong, Peak: full + 1}, full))
	require.Equal(t, outOfMemory, endOf(child.Result{Reason: child.Memory, Peak: memoryLimit("sim") + 1}, full))
	require.Equal(t, timedOut, endOf(child.Result{Reason: child.TooLong, Peak: 512 << 20}, full))
}

// A forged crash comes by the way of what is printed, and acquits nobody.
func TestWhatIsPrintedIsNoWitness(t *testing.T) {
	forged := "panic: a slip of cudalab's\n\ngoroutine 1 " +
		"[running]:\ncudalab/grader/judge/runner.Main()\n\t/src/runner.go:4\n"
	run := caseRun{end: died, notes: &verdict.CaseNotes{ID: "shapes", Trace: &trace.Trace{}},
		child: child.Result{Reason: child.Exited, ExitCode: 2, Stderr: []byte(forged)}}
	for _, crash := range []string{"",
		"\nruntime stack:\nruntime.throw()\n\t/go/panic.go:1\nruntime.newstack()\n\t/go/stack.go:1\n\n" +
			"goroutine 1 [running]:\ncudalab/exercises/slab.Run()\n\t/src/slab.go:4\n"} {
		run.crash = []byte(crash)
		status, f, ok, err := verdictOf(run, slabLines)
		require.NoError(t, err)
		require.True(t, ok)
		require.Equal(t, verdict.Crashed, status)
		if crash == "" {
			require.Contains(t, f.Message, `"a slip of cudalab's"`, "in quotes, as the code's own words")
		} else {
			require.Equal(t, "endless-recursion", f.Rule)
			require.Equal(t, 4, f.Line)
		}
	}
	run.crash = append([]byte(forged), make([]byte, maxCrash)...)
	_, _, ok, err := verdictOf(run, slabLines)
	require.NoError(t, err, "what was cut off may have been the student's")
	require.True(t, ok)

	run.crash = []byte(forged)
	_, _, _, err = verdictOf(run, slabLines)
	require.ErrorContains(t, err, "crashed in cudalab/grader/judge/runner.Main", "by the other way only Go writes")
}

func TestWhatNothingExplains(t *testing.T) {
	run := emptyRun("shapes")
	run.end, run.fault.Message = faulted, "CUDA_ERROR_INVALID_HANDLE (400)"
	_, _, _, err := verdictOf(run, slabLines)
	var unexplained *Unexplained
	require.ErrorAs(t, err, &unexplained)
	run.blamed = true
	status, f, ok, err := verdictOf(run, slabLines)
	require.NoError(t, err)
	require.True(t, ok)
	require.Equal(t, verdict.Failed, status)
	require.Equal(t, "left-broken", f.Rule)
	require.Contains(t, f.Message, "CUDA_ERROR_INVALID_HANDLE")
}

func TestAPanicIsMendedByItsCause(t *testing.T) {
	at := func(f func()) (message string) {
		defer func() { message = fmt.Sprint(recover()) }()
		f()
		return ""
	}
	none, three, zero := []int{}, []int{1, 2, 3}, 0
	var counts map[string]int
	var nobody *struct{ n int }
	number := func(n int) int { return n }
	for says, f := range map[string]func(){
		"The index is negative":         func() { three[number(-1)]++ },
		"has gone below 0":              func() { three[uint64(number(0))-2]++ },
		"The slice is empty":            func() { none[number(0)]++ },
		"one more than the last":        func() { three[number(3)]++ },
		"Check the index against":       func() { three[number(7)]++ },
		"Make the map before":           func() { counts["a"]++ },
		"What stands before the dot":    func() { nobody.n++ },
		"The length that make is given": func() { _ = make([]int, number(-1)) },
		"Check that the divisor":        func() { _ = 1 / zero },
		"before slicing":                func() { _ = three[:number(9)] },
		"Return an error instead":       func() { panic("so be it") },
	} {
		message := at(f)
		require.Contains(t, panicFix(message), says, message)
	}
}

// One crash is told by the check whose claim it breaks. What was right beside it is not lost with it.
func TestACrashTakesItsOwnCheck(t *testing.T) {
	passes := func(*suite.Evidence) suite.Answer { return suite.Answer{} }
	s := &suite.Suite{Functions: []string{"Run"},
		Cases: []suite.Case{{ID: "refusals"}, {ID: "shapes", Resumes: true}, {ID: "faults"}},
		Checks: []suite.Question{
			{ID: "arguments", Needs: []string{"refusals"}, Aside: true, Judge: passes},
			{ID: "results", Needs: []string{"shapes"}, Judge: passes},
			{ID: "placement", Needs: []string{"shapes"}, Judge: passes},
			{ID: "cleanup", Needs: []string{"shapes", "faults"}, Judge: passes},
		}}
	c := newChecking(&Runner{}, Code{Suite: s})
	c.locate = slabLines
	for _, cs := range s.Cases {
		run := emptyRun(cs.ID)
		run.end = deviceLost
		c.runs[cs.ID] = run
	}
	c.judge(false)
	var became []verdict.Status
	for _, ch := range c.report.Checks {
		became = append(became, ch.Status)
	}
	require.Equal(t, []verdict.Status{verdict.Passed, verdict.Failed, verdict.Passed, verdict.Skipped}, became)
}

func TestWhatIsLeftOfACaseIsCarriedOut(t *testing.T) {
	panicked := verdict.Outcome{Panic: "index out of range"}
	for name, x := range map[string]struct {
		end      ending
		outcomes []verdict.Outcome
		goesOn   bool
	}{
		"all well":        {done, []verdict.Outcome{{}, {}}, false},
		"a panic":         {done, []verdict.Outcome{{}, panicked}, true},
		"a lost device":   {deviceLost, []verdict.Outcome{{}}, true},
		"lost before all": {deviceLost, nil, false},
		"without an end":  {done, []verdict.Outcome{{Panic: "too many calls", Runaway: true}}, false},
		"a dead process":  {died, []verdict.Outcome{{}}, false},
	} {
		run := emptyRun("shapes")
		run.end, run.notes.Outcomes = x.end, x.outcomes
		require.Equal(t, x.goesOn, run.mayGoOn(), name)
	}
}
