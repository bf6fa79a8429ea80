package suite

import (
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"cudalab/grader/suite/verdict"
	"cudalab/native/cuda"
	"cudalab/native/trace"
)

// Race holds the student's code against the solution and the baseline by the device's clock, on fresh workloads of one
// shape: the trial, the benchmark and the part that judges by it come from one declaration.
type Race[Code any, W Workload] struct {
	SpeedWords // SpeedWords.Function is the function that is timed, where a trial times several
	Draw       func(*rand.Rand) W
	Baseline   Code
	KeepPool   bool // the default pool keeps its memory meanwhile, so that nobody pays for growing it
	// Sample, where not nil, has more than the call timed, as in Around.
	Sample func(*Stage) func(call func() error) error
	// Wrong says what is wrong with a sample of the student's, "" where nothing is.
	Wrong func(*Timed[W]) string
}

// Timed is one call of the student's code under the clock, with the workload that it was given.
type Timed[W any] struct {
	W      W
	notes  *verdict.CaseNotes
	prefix string
	number int
}

// Noted are the numbers that a Stage noted of the call under a name; nil where it noted none.
func (m *Timed[W]) Noted(name string) []uint64 { return notedOf(m.notes, m.prefix+name)[m.number] }

// Sums are the values of the call's results when the device had come to rest.
func (m *Timed[W]) Sums() []uint64 { return m.Noted(noteSum) }

// Speed is the part that asks whether the code keeps to the limits of some races, which one trial carries out. who is
// told to have failed where a call under the clock answered an error: "Run", "The code". The parts that judge the good
// trials are asked about the race as well: of each code's calls some are recorded, and it cannot tell which.
func (g *Good[Code, W]) Speed(sc *Scene[Code, W], name, after, who string, races ...*Race[Code, W]) Part[Code] {
	t := &Trial[Code]{ID: "speed", After: after, Timed: true, Drive: func(b *Bench, sides Sides[Code]) {
		for _, r := range races {
			if r.KeepPool {
				b.KeepPool()
			}
			r.carryOut(b, sc, sides)
		}
	}}
	p := Part[Code]{Cases: []*Trial[Code]{t}, Question: Question{ID: t.ID, Name: name}}
	p.Judge = func(e *Evidence) Answer {
		var a Answer
		notes := e.Cases[t.ID]
		for _, r := range races {
			spoilt := Spoilt(notes, who, func(*verdict.CaseNotes) []verdict.Finding {
				return verdict.Once(notes, r.prefix()+"wrong", func() []verdict.Finding { return r.wrong(e, notes, t.ID) })
			})
			if spoilt != nil {
				return Answer{Findings: spoilt}
			}
			one := e.JudgeSpeed(notes, r.SpeedWords)
			if one.Skip != "" {
				return one
			}
			a.Message = strings.TrimSpace(a.Message + " " + one.Message)
			a.Findings = append(a.Findings, one.Findings...)
			a.Measurements = append(a.Measurements, one.Measurements...)
			a.Again = max(a.Again, one.Again)
		}
		return a
	}
	p.like = g.Trials()
	p.audited = func(e *Evidence) *Evidence {
		var all []Made[W]
		for _, r := range races {
			all = append(all, r.audited(e, t.ID)...)
		}
		all = slices.DeleteFunc(all, func(m Made[W]) bool { return !m.Outcome.OK() }) // which Judge tells
		return e.about(audit{caseID: t.ID, made: all})
	}
	return p
}

// Benchmark is the part's trial as a benchmark.
func (p Part[Code]) Benchmark(name, operation, note string) Trial[Code] {
	return Trial[Code]{ID: p.ID, Benchmark: Benchmark{Name: name, Operation: operation, Note: note},
		Drive: p.Cases[0].Drive}
}

// What is noted of samples and audits, under a name that begins with the function's.
const (
	prefixTimed = "timed "
	noteSampled = "sampled"
	noteAudited = "audited" // by the number of the Call, which of the workloads it was
)

// carryOut runs the race. Each call has a stage of its own, like those that are not timed: nothing that the code is
// given tells it which of them are under the clock.
func (r *Race[Code, W]) carryOut(b *Bench, sc *Scene[Code, W], sides Sides[Code]) {
	random, drawn := b.Rand(), 0
	draw := func() W {
		drawn++
		return r.Draw(random)
	}
	Contest(b, b.raceTiming(), r.Function, sides, r.Baseline, func(name string, code Code) Contender {
		yours := name == verdict.Yours
		var s *Stage
		var sample func() error
		c := Contender{TimeOnly: !yours, Run: func() error { return sample() }}
		c.Prepare = func() error {
			w := draw()
			s = b.NewStage()
			call := sc.Set(s, w)
			sample = sampling(s, r.Sample, func() error { return call(code, w) })
			return nil
		}
		c.Check = func() {
			if yours {
				b.noteOf(drawn, r.prefix()+noteSampled, nil)
				s.note(r.prefix(), drawn)
			}
			s.Close()
		}
		if yours {
			c.Audit = func() (ok bool) {
				w := draw()
				b.noteOf(b.Calls(), r.prefix()+noteAudited, []uint64{uint64(drawn)})
				b.Session.Traced(func() { ok = sc.once(b, code, w, Around[W]{Sample: r.Sample}) })
				return ok
			}
		}
		return c
	})
	b.endLasting()
}

// sampling is a call with what goes around it, which may be nothing.
func sampling(s *Stage, around func(*Stage) func(call func() error) error, call func() error) func() error {
	if around == nil {
		return call
	}
	with := around(s)
	return func() error { return with(call) }
}

// raceTiming is how samples are taken that hold the student's code against the solution. Virtual times repeat exactly
// once the pool has its memory; the second is for code that does its work in the first calls only. On a GPU 25 ratios
// give an interval that resolves a tenth.
func (b *Bench) raceTiming() Timing {
	return b.TimingFor(Timing{Warm: 1, Rounds: 2}, Timing{Warm: 2, Rounds: 25})
}

// Contest holds implementations against each other and notes their samples: contender makes a contender of each, of the
// student's first, and of others by their names alone. Function is the one that is timed, where a case times several,
// as in Pacing.
func Contest[Code any](b *Bench, t Timing, function string, sides Sides[Code], baseline Code,
	contender func(name string, code Code) Contender, others ...string) {
	var all []Contender
	add := func(name string, code Code) {
		c := contender(name, code)
		c.Name = SeriesOf(function, name)
		if name == verdict.Yours && c.Audit == nil {
			c.Audit = func() bool { return b.audit(&c) }
		}
		all = append(all, c)
	}
	add(verdict.Yours, sides.Student)
	if sides.Solution != nil {
		add(verdict.Solution, *sides.Solution)
	}
	if b.Recorded {
		b.record(t, all)
		return
	}
	add(Baseline, baseline)
	for _, name := range others {
		var none Code
		add(name, none)
	}
	samples, _ := b.Time(t, all...)
	b.Note(samples)
}

// audit has a contender run once more with the trace on; it reports whether it succeeded.
func (b *Bench) audit(c *Contender) (ok bool) {
	b.Session.Traced(func() {
		if c.Prepare != nil && !b.attempt(c.Name, c.Prepare) {
			return
		}
		o := b.Call("a run among those that are timed", c.Run)
		b.Must(cuda.DeviceSynchronize())
		if ok = o.OK(); ok && c.Check != nil {
			c.Check()
		}
	})
	return ok
}

// Flaw is said of the student's code where a race has noted of a sample, under a name, that so much of its work was not
// done.
type Flaw struct {
	Note, Function string
	Message        func(missing uint64) string
	Why, Fix       string
}

// SpeedPart is Good.Speed for code that is no call with a workload, such as an allocator: drive holds a Contest, and
// notes flaws. Some runs are recorded: nothing is to be left of them, no work too early, and the host is not to wait.
func SpeedPart[Code any](name, after, who string, drive func(*Bench, Sides[Code]), words SpeedWords,
	flaws ...Flaw) Part[Code] {
	t := &Trial[Code]{ID: "speed", After: after, Timed: true, Drive: drive}
	return Part[Code]{Cases: []*Trial[Code]{t}, Question: Question{ID: t.ID, Name: name, Judge: func(e *Evidence) Answer {
		notes := e.Cases[t.ID]
		spoilt := Spoilt(notes, who, func(c *verdict.CaseNotes) []verdict.Finding {
			return append(flawed(c, flaws), e.audited(c)...)
		})
		if len(spoilt) > 0 {
			return Answer{Findings: spoilt}
		}
		return e.JudgeSpeed(notes, words)
	}}}
}

// audited finds what is wrong in the runs of a timed case that were recorded: by the order checker, or since the host
// waits.
func (e *Evidence) audited(notes *verdict.CaseNotes) []verdict.Finding {
	found := slices.DeleteFunc(e.Of(slices.Concat(verdict.OrderRules, verdict.EndRules), notes.ID),
		func(f verdict.Finding) bool { return f.Severity != verdict.Error })
	for _, c := range e.Calls(notes.ID) {
		for at, r := range c.Records {
			what := c.HostWait(at)
			if what == "" || r.Op == trace.OpFree || len(e.Place(notes.Trace.SiteOf(r))) == 0 {
				continue
			}
			found = append(found, c.At(at, verdict.Finding{Rule: "host-wait",
				Message: fmt.Sprintf("The host should never wait here, but %s %s.", CallName(r), what),
				Why:     "While the host waits it enqueues nothing, so every stream runs dry.",
				Fix:     "Leave it out: what has to come behind something can wait for it in its stream."}))
		}
	}
	for i := range found {
		found[i].Message += timedAlone
	}
	return verdict.Unique(found)
}

// timedAlone ends what is said of a call that is like those that are timed: time is measured only where all else
// passed.
const timedAlone = " This was in a call like those that are timed; in the others it was as it should be."

// flawed is the first flaw that was noted.
func flawed(c *verdict.CaseNotes, flaws []Flaw) []verdict.Finding {
	for _, flaw := range flaws {
		for _, missing := range c.Values[flaw.Note] {
			if missing > 0 {
				return []verdict.Finding{{Rule: "wrong-when-timed", Severity: verdict.Error, Record: -1, Function: flaw.Function,
					Message: flaw.Message(missing), Why: flaw.Why, Fix: flaw.Fix}}
			}
		}
	}
	return nil
}

// Spoilt finds why the times of a case tell nothing: function returned an error on the clock, or did not do its work
// there, by what wrong finds in the notes.
func Spoilt(c *verdict.CaseNotes, function string, wrong func(*verdict.CaseNotes) []verdict.Finding) []verdict.Finding {
	for _, o := range c.Outcomes {
		if !o.OK() {
			return []verdict.Finding{UnexpectedError(function, o)}
		}
	}
	return wrong(c)
}

// wrong finds a sample in which the student's code did not do its work: speed counts only where it did.
func (r *Race[Code, W]) wrong(e *Evidence, notes *verdict.CaseNotes, caseID string) []verdict.Finding {
	samples := notedOf(notes, r.prefix()+noteSampled)
	for number, w := range r.workloads(e, caseID, slices.Collect(maps.Keys(samples))) {
		wrong := r.Wrong(&Timed[W]{w, notes, r.prefix(), number})
		if wrong == "" {
			continue
		}
		return []verdict.Finding{{Rule: "wrong-when-timed", Severity: verdict.Error, Record: -1, Function: r.Function,
			Message: wrong,
			Why: "Time counts only where the work was done. What is timed is larger than what came before, and behind " +
				"many calls.",
			Fix: "Look at what is different here: there is more of everything, and much was called before. Each call has " +
				"to do all of its work, with every wait."}}
	}
	return nil
}

// workloads yields those that were drawn for some numbers, in their order, with the numbers.
func (r *Race[Code, W]) workloads(e *Evidence, caseID string, numbers []int) iter.Seq2[int, W] {
	return func(yield func(int, W) bool) {
		random, drawn := NewRand(e.Seed, caseID), 0
		for _, number := range slices.Sorted(slices.Values(numbers)) {
			var w W
			for ; drawn < min(number, maxCalls); drawn++ {
				w = r.Draw(random)
			}
			if number > 0 && !yield(number, w) {
				return
			}
		}
	}
}

// audited are the calls of the race that were recorded.
func (r *Race[Code, W]) audited(e *Evidence, caseID string) (all []Made[W]) {
	calls := e.Calls(caseID)
	of := map[int]int{} // by which of the workloads it was: the number of the Call
	for call, drawn := range notedOf(e.Cases[caseID], r.prefix()+noteAudited) {
		if call < len(calls) && len(drawn) == 1 {
			of[int(min(drawn[0], maxCalls))] = call
		}
	}
	for drawn, w := range r.workloads(e, caseID, slices.Collect(maps.Keys(of))) {
		all = append(all, Made[W]{Call: calls[of[drawn]], W: w, number: of[drawn]})
	}
	return all
}

func (r *Race[Code, W]) prefix() string { return SeriesOf(r.Function, prefixTimed) }
