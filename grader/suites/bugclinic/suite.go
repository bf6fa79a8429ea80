// Package bugclinic is the suite of the bug-clinic lesson: its workloads, its baseline and what is asked.
package bugclinic

import (
	"cmp"
	"slices"

	"cudalab/grader/suite"
	"cudalab/grader/suite/verdict"
	"cudalab/native/trace"
)

// Suite makes the suite of a student's code, and of the solution where there is one. Through it a runner's main
// package, which is compiled for each check, calls what is compiled here.
var Suite = Lesson.Suite

// Lesson is what is asked about the exercise: a question for each function, whichever are mended first.
var Lesson = lesson()

func lesson() suite.Lesson[Code] {
	l := suite.Lesson[Code]{Name: "bug-clinic"}
	all := &suite.Good[Code, workload]{Function: "One of the functions"}
	timed := &suite.Good[Code, workload]{Function: pingPong.name}
	var faults []*suite.Faults[Code, workload]
	for _, f := range functions {
		good := &suite.Good[Code, workload]{Function: f.name, Of: func(workload) string { return f.name },
			Runs: []*suite.Runs[Code, workload]{scene.Runs(f.id, f.gap, drawn(f, f.idle, f.draw), around)}}
		if far := scene.Runs(f.id+"-far", f.gap, f.reaching, around); f.real {
			good.Runs = append(good.Runs, far)
		} else {
			good.Far = append(good.Far, far.Far())
		}
		if f == pingPong {
			timed.Runs = good.Runs
		}
		all.Runs, all.Far = append(all.Runs, good.Runs...), append(all.Far, good.Far...)
		fails := scene.Faults(f.id+"-faults", f.gap, f.alike, suite.FaultJudge{Function: f.name, Stops: true}, wrong)
		faults, good.Further = append(faults, fails), []suite.Further{fails.Further()}
		l.Functions, l.Parts = append(l.Functions, f.name), append(l.Parts, mended(f, good))
	}
	speed := speedOf(timed)
	l.Parts = append(l.Parts,
		all.Cleanup("nothing is left behind, not even when a call fails",
			"Events, memory and streams are gone after every call, also where a call in between failed, and the failure was "+
				"reported.",
			faults...).And(oldKept(faults[slices.Index(functions, replace)])),
		speed)
	l.Benchmarks = []suite.Trial[Code]{speed.Benchmark("PingPong over 32 items", "call",
		"The baseline has the host wait behind every item.")}
	return l
}

// mended is the question whether a function is in order: what it does is ordered, right, done where it should be, and
// nothing waits that need not.
func mended(f *function, good *suite.Good[Code, workload]) suite.Part[Code] {
	order := good.Order(f.claim, f.pass).Once()
	p := order
	p.ID, p.Unwaited = f.id, true
	p.Judge = func(e *suite.Evidence) suite.Answer { return f.advised(order.Judge(e)) }
	waits := good.NoHostWait(f.id, f.claim, "", func(workload) suite.HostWait { return waiting(f) }).Judge
	for _, far := range good.Far {
		p = p.Needing(&far.Trial)
	}
	return p.And(func(e *suite.Evidence) (found []verdict.Finding) {
		found = append(found, waits(e).Findings...)
		found = append(found, good.Kept(e)...)
		inOrder := !verdict.HasError(order.Judge(e).Findings)
		for _, m := range good.Made(e) {
			c := call{&m}
			if !m.Outcome.OK() {
				found = append(found, m.UnexpectedError(f.name))
				continue
			}
			did := f.steps(c)
			found = append(found, did...)
			if f.overlap != nil {
				found = append(found, f.overlap(c)...)
			}
			if inOrder && len(did) == 0 { // else it follows from that
				found = append(found, c.wrong()...)
			}
		}
		return found
	})
}

// advised is an answer whose findings advise what mends the function, where the order checker's own words would not:
// they know nothing of what may wait here.
func (f *function) advised(a suite.Answer) suite.Answer {
	for i, found := range a.Findings {
		a.Findings[i].Fix = cmp.Or(f.fixes[found.Rule], found.Fix)
	}
	return a
}

func waiting(f *function) suite.HostWait {
	return suite.HostWait{
		Should: f.name + " should be mended without making the host wait",
		Why: "A host that waits enqueues nothing, so every stream runs dry and not only the one that has to wait; it hides " +
			"the edge that is missing, and does not say which it is.",
		Fix: cmp.Or(f.fixes["host-wait"], "Leave it out, and find the two calls that have to come one behind the other: "+
			"cuda.EventRecord behind the one, cuda.StreamWaitEvent ahead of the other."),
		AllocationShould: f.name + " should have its memory in stream order",
		AllocationThen:   "stands outside every stream, and what frees such memory waits for the device.",
		AllocationWhy:    "cuda.MallocAsync and cuda.FreeAsync only join a stream's queue, so that events can order them.",
	}
}

// oldKept finds runs in which a call failed and Replace did not even try to destroy old.
func oldKept(faults *suite.Faults[Code, workload]) func(*suite.Evidence) []verdict.Finding {
	return func(e *suite.Evidence) (found []verdict.Finding) {
		notes, made := e.Cases[faults.ID], faults.Made(e)
		if len(made) == 0 || !(call{&made[0]}).destroysOld() {
			return nil // where it never does, that is said already
		}
		for _, run := range suite.FaultRuns(notes) {
			c := call{&made[run.Index]}
			if c.destroysOld() || c.Outcome.Panic != "" {
				continue
			}
			found = append(found, c.At(run.Failed, verdict.Finding{
				Rule:    "stream-kept-on-error",
				Message: run.What + ". Replace should have destroyed old then, too, but left it.",
				Why:     "Whoever gives a stream away to be replaced has no use for it, and nobody else destroys it.",
				Fix:     "Destroy old on every way out; errors.Join keeps both errors.",
			}))
		}
		return found
	}
}

// destroysOld reports whether Replace has at least tried to destroy old.
func (c call) destroysOld() (tried bool) {
	c.Records(func(_ int, r *trace.Record) bool {
		tried = r.Op == trace.OpStreamDestroy && r.Stream == c.Stream(0)
		return !tried
	})
	return tried
}
