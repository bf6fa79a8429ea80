package suite_test

import (
	"fmt"
	"math/rand/v2"

	"cudalab/exercises/contract"
	"cudalab/grader/order"
	"cudalab/grader/suite"
	"cudalab/grader/suite/verdict"
	"cudalab/native/cuda"
	"cudalab/native/session"
	"cudalab/native/sim"
	"cudalab/native/trace"
)

// Clear is what the exercise asks for: to set n numbers of 8 bytes to zero, in stream s.
type Clear func(s cuda.Stream, numbers cuda.DevicePtr, n int) error

// numbers is a workload: how many there are to clear.
type numbers int

func (n numbers) Label() string { return verdict.Count(int(n), "number", "numbers") }

// scene says how a workload becomes a call. Results hold garbage until the code under test has set them.
var scene = &suite.Scene[Clear, numbers]{
	Set: func(s *suite.Stage, n numbers) func(Clear, numbers) error {
		stream, results := s.Stream("s"), s.Results(int(n))
		return func(code Clear, n numbers) error { return code(stream, results.At(0), int(n)) }
	},
}

// Trials that a right program completes once gap 1b is filled; in the last every CUDA call fails once.
var (
	good = &suite.Good[Clear, numbers]{Function: "Clear", Runs: []*suite.Runs[Clear, numbers]{
		scene.Runs("shapes", "1b", suite.Fixed[numbers](1, 2, 1000), suite.Around[numbers]{}),
	}}
	faults = scene.Faults("faults", "1b", func(r *rand.Rand) numbers { return numbers(1 + r.IntN(100)) },
		suite.FaultJudge{Function: "Clear"}, notZero)
)

var refusals = suite.NewRefusals("arguments", "1a", []suite.Bad[numbers]{{Label: "no numbers", W: 0}}, scene.Refuse,
	suite.Refusal{Function: "Clear", Fix: "Return contract.ErrArgument when n is below 1.", FixLate: "Look at n first."})

// lesson is all that is asked about the exercise.
var lesson = suite.Lesson[Clear]{
	Name: "clear", Functions: []string{"Clear"},
	Parts: []suite.Part[Clear]{
		suite.Arguments("refuses bad arguments before any CUDA call", refusals),
		good.Part("results", "every number is zero", "Every number was zero.", notZero),
		good.Cleanup("a CUDA call that fails is reported", "Every error came back.", faults),
	},
}

// notZero looks at one call.
func notZero(m *suite.Made[numbers]) []verdict.Finding {
	for i, v := range m.Sums() {
		if v != 0 {
			return []verdict.Finding{m.At(-1, verdict.Finding{Rule: "wrong-result",
				Message: fmt.Sprintf("Of %s, number %d should be 0, but it is %#x.", m.W.Label(), i, v),
				Why:     "Fresh memory holds whatever was there before.", Fix: "Clear 8 bytes for each number."})}
		}
	}
	return nil
}

// notes keeps what cases see. A runner sends it on to cudalab.
type notes struct{ verdict.CaseNotes }

func (n *notes) Outcome(o verdict.Outcome)       { n.Outcomes = append(n.Outcomes, o) }
func (n *notes) Value(name string, vs ...uint64) { n.Values[name] = append(n.Values[name], vs...) }
func (n *notes) Sample(series string, took int64) {
	n.Samples[series] = append(n.Samples[series], took)
}

// judge does what a runner and cudalab do between them: every case runs on a device of its own, with a record of its
// CUDA calls, and then every question is put to what was seen.
func judge(s *suite.Suite) {
	e := &suite.Evidence{Cases: map[string]*verdict.CaseNotes{}, Place: func(trace.Site) []verdict.Place { return nil }}
	for _, c := range s.Cases {
		n := &notes{verdict.CaseNotes{ID: c.ID, Values: map[string][]uint64{}}}
		device := session.New(sim.New(sim.Options{}))
		device.Use()
		device.StartTrace()
		c.Drive(&suite.Bench{Session: device, CaseID: c.ID, Notes: n})
		n.Trace = device.StopTrace()
		for _, f := range order.Check(n.Trace) {
			n.Findings = append(n.Findings, verdict.Finding{Rule: f.Rule, Severity: verdict.Error, Message: f.Message,
				Record: f.At})
		}
		e.Cases[c.ID] = &n.CaseNotes
	}
	for _, q := range s.Checks {
		a := q.Judge(e)
		if len(a.Findings) == 0 {
			fmt.Printf("✓ %s\n  %s\n", q.Name, a.Message)
			continue
		}
		fmt.Printf("✗ %s\n", q.Name)
		for _, f := range a.Findings {
			fmt.Printf("  %s: %s\n", f.Rule, f.Message)
		}
	}
}

// A whole lesson, and what it says of a right program and of one with three mistakes.
func ExampleLesson() {
	right := func(s cuda.Stream, numbers cuda.DevicePtr, n int) error {
		if n < 1 {
			return contract.ErrArgument
		}
		return cuda.MemsetAsync(numbers, 0, int64(8*n), s)
	}
	wrong := func(s cuda.Stream, numbers cuda.DevicePtr, n int) error {
		cuda.MemsetAsync(numbers, 0, 8, s)
		return nil
	}
	judge(lesson.Suite(right))
	judge(lesson.Suite(wrong))
	// Output:
	// ✓ refuses bad arguments before any CUDA call
	//   Bad arguments are refused, and nothing was touched.
	// ✓ every number is zero
	//   Every number was zero.
	// ✓ a CUDA call that fails is reported
	//   Every error came back.
	// ✗ refuses bad arguments before any CUDA call
	//   bad-argument-accepted: Clear was given no numbers: it should have returned an error, but it returned nil.
	//   late-argument-check: Clear was given no numbers: it should have refused before any CUDA call, but it called cuda.MemsetAsync first.
	// ✗ every number is zero
	//   wrong-result: Of 2 numbers, number 1 should be 0, but it is 0xa5a5a5a5a5a5a5a5.
	// ✗ a CUDA call that fails is reported
	//   error-ignored: As a test, the 1st call of cuda.MemsetAsync was made to fail with CUDA_ERROR_INVALID_VALUE (1). Clear should have returned that error, but it returned nil.
}
