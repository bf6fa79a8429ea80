// Package devicebump is the suite of the device-bump lesson: programs of threads that share a word, lives of pools that
// kernels take memory from, its baseline and what is asked.
package devicebump

import (
	"cmp"
	_ "embed"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"cudalab/exercises/contract"
	"cudalab/grader/suite"
	"cudalab/grader/suite/allocator"
	"cudalab/grader/suite/verdict"
	"cudalab/grader/suites/devicebump/interleave"
	"cudalab/native/cuda"
	"cudalab/native/sim"
	"cudalab/native/trace"
)

// Pools is what New makes.
type Pools interface {
	Launch(i int, sizes cuda.DevicePtr, n int, tag uint32, offsets cuda.DevicePtr) error
	Reset(i int) error
	Memory(i int) cuda.DevicePtr
	Close() error
}

// Code is the functions that the exercise asks for.
type Code struct {
	interleave.Code
	New func(streams []cuda.Stream, bytes int64, shared bool) (Pools, error)
}

// Of is the exercise's code, whatever New calls its pools.
func Of[P Pools](alloc func(contract.Word, uint64, uint64) (uint64, bool), allocWarp func(contract.Word, uint64,
	[]uint64, []uint64), make func([]cuda.Stream, int64, bool) (P, error)) Code {
	return Code{Code: interleave.Code{Alloc: alloc, AllocWarp: allocWarp}, New: func(streams []cuda.Stream, bytes int64,
		shared bool) (Pools, error) {
		p, err := make(streams, bytes, shared)
		made := allocator.OrNil[Pools](p)
		if made == nil && err == nil {
			err = errNoPools
		}
		return made, err
	}}
}

var errNoPools = errors.New("neither pools nor an error came from New")

func ofCode(c Code) interleave.Code { return c.Code }

// lastGap has to be filled before pools can be closed.
const lastGap = "3f"

// Suite makes the suite of a student's code, and of the solution where there is one. Through it a runner's main
// package, which is compiled for each check, calls what is compiled here.
var Suite = Lesson.Suite

// Lesson is what is asked about the exercise.
var Lesson = suite.Lesson[Code]{
	Name:      "device-bump",
	Functions: []string{"Alloc", "AllocWarp", "New"},
	OnDevice:  "Alloc",
	Memory:    16 << 30, // who has a pool for each stream of the largest is told so
	Parts: []suite.Part[Code]{
		byThreads,
		among("warp", "a warp takes memory together, as its lanes would one by one",
			"In every order of the operations each warp got what its lanes would have got one behind the other.",
			lonelyWarp, warps, losingWarp),
		edges,
		translated(byThreads, edges),
		suite.Arguments("refuses bad arguments before any CUDA call", refusals).And(badCalls, &refusing.Trial).And(tooMuch,
			&beyond.Trial).Deeper(func(e *suite.Evidence) []verdict.Finding {
			return append(misplaced(refusing.Made(e)), waitsIn(refusing.Made(e))...)
		}), ordered,
		good.Part("concurrency", "pools are not put in order without need",
			"No launch waited for another without need, and the host for nothing.", concurrency),
		cleanup.And(closed, &refusing.Trial).And(goesOn).And(outOfOrder, &refused.Trial).
			Deeper(func(e *suite.Evidence) []verdict.Finding {
				return waitsIn(slices.Concat(refused.Made(e), sharedFaults.Made(e), ownFaults.Made(e)))
			}).
			Deeper(whereRefused),
		interleave.Cost("cost", "no operation on the word is one too many",
			"Alloc and AllocWarp took no operation that they could have done without.",
			lonely, threads, lonelyWarp, warps, limits[0].Case, limits[1].Case, limits[2].Case).
			And(losingThread.costly, losingThread.Trial).And(losingWarp.costly, losingWarp.Trial),
		race,
	},
	Benchmarks: []suite.Trial[Code]{race.Benchmark("64 launches of 64 threads in 4 streams", "call",
		"The streams share a pool, which is reset after every 16 launches. The baseline puts all launches one after the "+
			"other, and the host waits at each reset.")},
}

var (
	shaped = scene.Runs("examples", lastGap, examples, suite.Around[workload]{})
	random = scene.Runs("drawn", lastGap, drawn, suite.Around[workload]{})
	scale  = scene.Runs("scale", lastGap, large, suite.Around[workload]{}).On(
		func(seed uint64) sim.Options { return sim.Options{Seed: seed, Jitter: true} })
	farther  = scene.Runs("far", lastGap, far, suite.Around[workload]{}).Far()
	refused  = scene.Runs("unrecorded", lastGap, unrecorded, suite.Around[workload]{})
	refusing = scene.Runs("bad-calls", lastGap, badlyCalled, suite.Around[workload]{})
	beyond   = scene.Runs("beyond", "3b", lacking, suite.Around[workload]{})
	good     = &suite.Good[Code, workload]{Function: "New, Launch, Reset or Close", Partly: goesOnRefused,
		Runs:    []*suite.Runs[Code, workload]{shaped, random, scale},
		Far:     []*suite.Runs[Code, workload]{farther},
		Further: []suite.Further{sharedFaults.Further(), ownFaults.Further(), refusals.Further()}}
)

var byThreads = among("alloc", "threads that take memory at the same time get blocks as if they had come one by one",
	"In every order of their operations the threads got what they would have got one behind the other.",
	lonely, threads, losingThread)

// goesOnRefused reports whether enough of a life's steps were carried out, though some were refused.
func goesOnRefused(m *suite.Made[workload]) bool {
	refused, steps := m.Noted(noteRefused), len(m.W.steps)
	return len(refused) == 1 && suite.Enough(steps-int(min(refused[0], maxThreads)), steps)
}

// among asks for what threads are answered. What goes wrong where nobody else is there is no matter of order, and what
// goes wrong among a few is no matter of how many swaps are lost: it is told alone.
func among(id, name, pass string, lonely, threads *interleave.Case[Code], losing *losing) suite.Part[Code] {
	p := threads.Part(id, name, pass)
	judge := p.Judge
	p.Cases = []*suite.Trial[Code]{lonely.Trial(), threads.Trial(), losing.Trial}
	p.Judge = func(e *suite.Evidence) suite.Answer {
		if a := byOneself(e, lonely); len(a.Findings) > 0 {
			return a
		}
		a := judge(e)
		if len(a.Findings) == 0 {
			if a.Findings = losing.wrong(e); len(a.Findings) > 0 {
				a.Skip = ""
			}
		}
		return a
	}
	return p
}

// byOneself judges programs of one thread, whose requests no other one can have come before.
func byOneself(e *suite.Evidence, k *interleave.Case[Code]) suite.Answer {
	a := k.Judge("")(e)
	for i := range a.Findings {
		switch f := &a.Findings[i]; {
		case f.Function == "AllocWarp" && (f.Rule == interleave.RoomLost || f.Rule == interleave.LeftBehind):
			f.Why = "Each lane is granted or refused by itself: one that does not fit takes nothing, and those behind it lie " +
				"as if it had not been there."
			f.Fix = "Go through the lanes in their order with the number of bytes that are taken so far. A lane that " +
				"fits gets its place and adds its rounded size; one that does not gets contract.NoRoom, adds nothing, and ends " +
				"nothing. Change w by what was added."
		case f.Rule == interleave.RoomLost:
			f.Fix = "Refuse only if the rounded size is more than capacity-taken, and leave w as it is for a request that is " +
				"refused: what it adds stays taken."
		}
	}
	return a
}

// edges asks for sizes and capacities at the edges, and where those are right for very many calls.
var edges = func() suite.Part[Code] {
	p := suite.Part[Code]{Question: suite.Question{ID: "limits",
		Name: "no size and no capacity is too large or too small"}}
	for _, l := range limits {
		p.Cases = append(p.Cases, l.Trial())
	}
	p.Cases = append(p.Cases, lonely.Trial(), lonelyWarp.Trial(), many)
	p.Judge = func(e *suite.Evidence) suite.Answer {
		a := suite.Answer{Message: "Every size was right at every capacity, and so were 100,000 calls."}
		without := map[string]string{} // by function, a rule that it has broken with numbers like any other
		for _, f := range slices.Concat(byOneself(e, lonely).Findings, byOneself(e, lonelyWarp).Findings) {
			without[f.Function] = cmp.Or(without[f.Function], f.Rule)
		}
		for _, l := range limits {
			one, told := byOneself(e, l.Case), a.Findings
			for _, f := range one.Findings {
				if slices.ContainsFunc(told, func(t verdict.Finding) bool { return t.Function == f.Function }) {
					continue // it is wrong with smaller numbers
				}
				switch rule := without[f.Function]; {
				case rule != "":
					f.Follows = &verdict.Cause{Rule: rule}
				case l.why != "" && slices.Contains(counted, f.Rule):
					f.Why, f.Fix = l.why, l.fix
				}
				a.Findings = append(a.Findings, f)
			}
			a.Skip = cmp.Or(a.Skip, one.Skip)
		}
		if len(a.Findings) == 0 && a.Skip == "" {
			a.Findings = strayed(e)
		}
		if len(a.Findings) > 0 {
			a.Skip = ""
		}
		return a
	}
	return p
}()

// counted are the rules that numbers which are kept too small break.
var counted = []string{interleave.Overlap, interleave.BeyondEnd, interleave.RoomLost, interleave.LeftBehind,
	interleave.NotInARow}

// ordered asks for the order of launches and resets, and for what comes of it.
var ordered = func() suite.Part[Code] {
	p := good.Order("a reset comes behind every user of the pool and before the next",
		"Every thread got a block of its stream's pool, and nobody came too early.")
	judge := p.Judge
	p.Judge = func(e *suite.Evidence) suite.Answer {
		a := judge(e)
		found := misplaced(good.Made(e))
		if len(found) == 0 && !verdict.HasError(a.Findings) {
			for _, m := range good.Made(e) {
				found = append(found, call{&m}.results()...) // what comes of disorder is luck
			}
		}
		for i := range a.Findings {
			switch f := &a.Findings[i]; f.Rule {
			case "data-race": // the words are all that launches and resets have in common
				if at := slices.IndexFunc(found, func(o verdict.Finding) bool {
					return o.Rule == wordsMixed || o.Rule == launchTooEarly && o.File == f.File && o.Line == f.Line
				}); at >= 0 {
					f.Follows = &verdict.Cause{Rule: found[at].Rule}
				}
				if strings.Contains(f.Fix, " Memset") { // of New's: a stream of its own would be one pool's
					f.Fix = zeroFirst
				}
			case "uninitialized-read":
				f.Fix = zeroFirst
			}
		}
		a.Findings = verdict.Unique(slices.Concat(found, a.Findings))
		if verdict.HasError(a.Findings) {
			a.Skip = ""
		}
		return a
	}
	return p.Needing(&farther.Trial).Once()
}()

// zeroFirst is what mends words that are not 0 when the first launch comes.
const zeroFirst = "Have New set the words of all pools to 0 with cuda.Memset, and have the host wait for that with " +
	"cuda.StreamSynchronize(cuda.Stream{}): the caller's streams need not wait for the legacy default stream."

// misplaced finds calls that failed, and what is wrong with where launches and memory are.
func misplaced(made []suite.Made[workload]) (found []verdict.Finding) {
	for _, look := range []func(call) []verdict.Finding{call.unexpected, call.placed, call.memory, call.words,
		call.usedOn} {
		for _, m := range made {
			found = append(found, look(call{&m})...)
		}
		if len(found) > 0 {
			break // the others may come of that
		}
	}
	return found
}

// cleanup asks for what is left behind Close.
var cleanup = func() suite.Part[Code] {
	p := good.Cleanup("everything is given back, also when a call fails",
		"Memory and events were gone after every Close, also where a call had failed, and failures were reported.",
		sharedFaults, ownFaults)
	judge := p.Judge
	p.Judge = func(e *suite.Evidence) suite.Answer {
		a := judge(e)
		for i := range a.Findings {
			if f := &a.Findings[i]; f.Rule == "leak" {
				f.Fix += " The place for that is Close, which gives back all that New has made."
			}
		}
		return a
	}
	return p
}()

// whereRefused finds what lives leave behind in which calls are refused, and what is wrong with the memory of those in
// which events cannot be recorded.
func whereRefused(e *suite.Evidence) []verdict.Finding {
	found := e.Of(verdict.EndRules, refusing.ID, refused.ID)
	for _, m := range refused.Made(e) {
		found = append(found, call{&m}.memory()...)
	}
	return verdict.Unique(found)
}

// unexpected finds a call that answered an error.
func (c call) unexpected() []verdict.Finding {
	if c.Outcome.OK() {
		return nil
	}
	f := c.UnexpectedError("New, Launch, Reset or Close")
	f.Function = "New"
	return []verdict.Finding{f}
}

// badCalls finds calls with bad arguments, among good ones, that were not refused.
func badCalls(e *suite.Evidence) (found []verdict.Finding) {
	for _, m := range refusing.Made(e) {
		c, answers := call{&m}, m.Noted(noteAnswers)
		for at, s := range m.W.steps {
			if !s.bad || len(answers) == 0 {
				continue
			}
			method, fix := fmt.Sprintf("Reset(%d)", s.stream),
				"Return contract.ErrArgument where i is below 0 or not below len(streams), before anything else."
			if s.sizes != nil {
				method = fmt.Sprintf("Launch(%d) with n %d", s.stream, s.threads)
			}
			if 0 <= s.stream && s.stream < m.W.streams {
				fix = "Return contract.ErrArgument where n is below 1 or above 1<<30, before anything else."
			}
			if s.most {
				if answers[0] == answeredArgument {
					f := c.Finding(-1, suite.Rule{ID: "wrong-error",
						Why: "The caller finds out with errors.Is whether the arguments were at fault or the device.",
						Fix: "Refuse an n below 1 and above 1<<30, and nothing between."},
						"%s should go as far as its kernel launch, which was made to fail, but it returned contract.ErrArgument.", method)
					f.Function = "Launch"
					return []verdict.Finding{f}
				}
				answers = answers[1:]
				continue
			}
			rule, first := suite.Rule{ID: "bad-argument-accepted", Why: refusal.Why, Fix: fix}, -1
			for i := m.From; i < m.To && first < 0; i++ {
				if r := c.Record(i); c.stepOf(i) == at && r.Op != trace.OpMark {
					first = i
				}
			}
			switch {
			case answers[0] == answeredArgument && first >= 0:
				rule.ID, rule.Fix = "late-argument-check", refusal.FixLate
				return []verdict.Finding{c.Finding(first, rule, "%s should be refused before any CUDA call, but it called %s "+
					"first.", method, suite.CallName(c.Record(first)))}
			case answers[0] != answeredArgument:
				instead := saying(answers[0])
				switch {
				case first >= 0:
					instead = "it went on to " + suite.CallName(c.Record(first))
				case answers[0] != answeredNil:
					rule.ID = "wrong-error"
				}
				f := c.Finding(-1, rule, "%s should be refused with contract.ErrArgument, but %s.", method, instead)
				f.Function, _, _ = strings.Cut(method, "(")
				return []verdict.Finding{f}
			}
			answers = answers[1:]
		}
	}
	return nil
}

// tooMuch finds a New that takes the lack of memory for a bad argument.
func tooMuch(e *suite.Evidence) (found []verdict.Finding) {
	for _, m := range beyond.Made(e) {
		if !m.Outcome.Argument {
			continue
		}
		f := m.Finding(-1, suite.Rule{ID: "wrong-error",
			Why: "The caller finds out with errors.Is whether the arguments were at fault or the device.",
			Fix: "Divide math.MaxInt64 by the number of pools, not of streams, and refuse what is above that: if they share " +
				"one, that is one pool."},
			"New should return the error of cuda.Malloc, since its arguments are good and only the memory is lacking, but it "+
				"returned contract.ErrArgument.")
		f.Function = "New"
		found = append(found, f)
	}
	return found
}

// saying is an answer in words.
func saying(answer uint64) string {
	switch answer {
	case answeredNil:
		return "it returned nil"
	case answeredArgument:
		return "it returned contract.ErrArgument"
	case answeredClosed:
		return "it returned contract.ErrClosed"
	}
	return "it returned another error"
}

// closed finds a method that goes on behind Close.
func closed(e *suite.Evidence) (found []verdict.Finding) {
	for _, m := range slices.Concat(good.Made(e), refusing.Made(e)) {
		answers := m.Noted(noteClosed)
		last := len(answers) - 1
		if !m.Outcome.OK() || last < 0 || last > 2 || answers[last] == answeredClosed {
			continue
		}
		method := []string{"Close", "Reset", "Launch"}[last]
		f := m.Finding(-1, suite.Rule{ID: "used-after-close",
			Why: "Behind Close the memory is somebody else's: who goes on by mistake has to be told.",
			Fix: "Note in Close that it has succeeded, and begin every method that returns an error with a look at that."},
			"%s behind a Close that succeeded should return contract.ErrClosed, but %s.", method, saying(answers[last]))
		f.Function = method
		return []verdict.Finding{f}
	}
	return nil
}

var refusal = suite.Refusal{
	Function: "New",
	Why:      "An argument that is refused before the first CUDA call leaves nothing to undo.",
	Fix: "Return contract.ErrArgument where there are no streams or one is there twice, where bytes is below 16 or no " +
		"multiple of 16, and where all pools together have more than math.MaxInt64 bytes; divide that by the number of " +
		"pools, since the product may be more than an integer holds.",
	FixLate: "Look at all the arguments before the first CUDA call.",
}

var refusals = suite.NewRefusals("arguments", "3a", append([]suite.Bad[workload]{
	{Label: "no streams", W: workload{bytes: 64}},
	{Label: "one stream twice", W: workload{streams: 2, bytes: 64, twice: true}},
	{Label: "one stream twice, with another between them and a shared pool", W: workload{streams: 3, bytes: 64,
		twice: true, shared: true}},
	{Label: "0 bytes", W: workload{streams: 1}},
	{Label: "-16 bytes", W: workload{streams: 1, bytes: -16}},
	{Label: "15 bytes", W: workload{streams: 1, bytes: 15}},
	{Label: "24 bytes", W: workload{streams: 1, bytes: 24, shared: true}},
}, tooMany()...), scene.Refuse, refusal).
	Behind(scene.Call(workload{streams: 2, bytes: 64, steps: []step{launch(0, 16)}}))

// tooMany are pools that have more bytes together than an int64 counts.
func tooMany() (bad []suite.Bad[workload]) {
	for _, of := range suite.Overflowing(16) {
		bad = append(bad, suite.Bad[workload]{Label: fmt.Sprintf("%d pools of %s bytes", of[1], suite.Literal(of[0])),
			W: workload{streams: int(of[1]), bytes: of[0]}})
	}
	return bad
}

// The timed workload: each launch is followed by work in its stream that takes far longer, so that streams which do not
// wait for each other take a quarter of the time of such as do.
const (
	timedStreams = 4
	timedRounds  = 16
	timedThreads = 64
	timedDelay   = 40_000 // nanoseconds
	// Launches one after the other take 3.5 times as long. A compare-and-swap of each thread is right, and took 1.41 and
	// 1.50 times as long on H100s.
	speedLimit = 2.2
)

// timedLife is alike in every sample: which thread gets which block is the device's to say.
var timedLife = func() workload {
	w := workload{streams: timedStreams, bytes: 1 << 20, shared: true, timed: true, unchecked: true}
	sizes := make([]uint64, timedThreads)
	for i := range sizes {
		sizes[i] = uint64(1 + 3*i)
	}
	for round := range timedRounds {
		for stream := range timedStreams {
			w.steps = append(w.steps, launch(stream, sizes...))
		}
		if round%4 == 3 {
			w.steps = append(w.steps, reset(round/4%timedStreams))
		}
	}
	return w
}()

//go:embed paces.txt
var paces string

var race = good.Speed(scene, "streams that share a pool run at the same time", lastGap,
	"New, Launch, Reset or Close", &suite.Race[Code, workload]{
		Draw:     func(*rand.Rand) workload { return timedLife },
		Baseline: Code{New: newChained},
		Wrong: func(m *suite.Timed[workload]) string {
			for _, span := range m.W.spans() {
				if _, _, message := m.W.wrongSpan(span, m.Sums()); message != "" {
					return "While time was measured, " + message
				}
			}
			return ""
		},
		SpeedWords: suite.SpeedWords{
			Pacing: suite.Pacing{Versus: "launches one after the other", Limit: speedLimit, Recorded: paces},
			Passed: "The pools take %.2f times the solution's time and are %.1f times as fast as launches one after the other.",
			Work:   "64 launches in 4 streams", Takes: "take",
			Why: "What follows a launch in its stream needs nothing of the other streams, until the pool is reset.",
			Fix: "Let a stream wait only for a Reset, and the host for nothing.",
		},
	})
