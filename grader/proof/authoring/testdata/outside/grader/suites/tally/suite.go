// Package tally is the suite of the tally lesson.
package tally

import (
	"fmt"
	"math/rand/v2"

	"cudalab/grader/suite"
	"cudalab/grader/suite/verdict"
	"cudalab/native/cuda"

	"example.com/outside/exercises/contract"
	"example.com/outside/kernels/oracle"
)

// Run is the function that the exercise asks for.
type Run func(s cuda.Stream, t contract.Tally) error

// Of is the exercise's code.
func Of(run Run) Run { return run }

// Suite makes the suite of a student's code, and of the solution where there is one. Through it a runner's main package,
// which is compiled for each check, calls what is compiled here.
var Suite = Lesson.Suite

// Lesson is what is asked about the exercise.
var Lesson = suite.Lesson[Run]{
	Name:      "tally",
	Functions: []string{"Run"},
	Parts: []suite.Part[Run]{
		suite.Arguments("refuses bad arguments before any CUDA call", refusals),
		good.Part("results", "every number is right", "Every number is right.", wrong),
		good.Order("every use is ordered", "No two uses of a number that nothing orders."),
		good.Cleanup("a CUDA call that fails is reported", "Every error came back.", faults),
	},
}

// workload is one call of Run, without the result pointer.
type workload struct{ contract.Tally }

func (w workload) Label() string { return fmt.Sprintf("%d additions of %d", w.N, w.Value) }

func (w workload) want() uint64 { return oracle.Tally(0, w.N, w.Value) }

// scene lends Run its stream, and room for the number.
var scene = &suite.Scene[Run, workload]{
	Set: func(s *suite.Stage, _ workload) func(Run, workload) error {
		stream, results := s.Stream("s"), s.Results(1)
		return func(run Run, w workload) error {
			w.Result = results.At(0)
			return run(stream, w.Tally)
		}
	},
}

func adding(n int, value uint64) workload { return workload{contract.Tally{N: n, Value: value}} }

// few draws what a call is made for in which CUDA fails.
func few(r *rand.Rand) workload { return adding(1+r.IntN(300), 1+r.Uint64N(100)) }

var (
	good = &suite.Good[Run, workload]{Function: "Run", Runs: []*suite.Runs[Run, workload]{
		scene.Runs("shapes", "1b", suite.Fixed(adding(1, 5), adding(256, 1), adding(257, 3)), suite.Around[workload]{}),
		scene.Runs("drawn", "1b", func(r *rand.Rand) []workload {
			return []workload{adding(1+r.IntN(100_000), 1+r.Uint64N(1<<20))}
		}, suite.Around[workload]{}),
	}}
	faults = scene.Faults("faults", "1b", few, suite.FaultJudge{Function: "Run"}, wrong)
)

var refusals = suite.NewRefusals("arguments", "1a", []suite.Bad[workload]{
	{Label: "an N of 0", W: adding(0, 1)},
	{Label: "an N of -3", W: adding(-3, 1)},
}, scene.Refuse, suite.Refusal{
	Function: "Run",
	Why:      "An argument that is refused before the first CUDA call leaves nothing to undo.",
	Fix:      "Return contract.ErrArgument when N is below 1.",
	FixLate:  "Look at N before the first CUDA call.",
})

// wrong is the finding where a call has left another number than it should.
func wrong(c *suite.Made[workload]) []verdict.Finding {
	if !c.Outcome.OK() {
		return []verdict.Finding{c.UnexpectedError("Run")}
	}
	got := c.Sums()
	if len(got) == 1 && got[0] == c.W.want() {
		return nil
	}
	return []verdict.Finding{c.At(-1, verdict.Finding{
		Rule:    "wrong-result",
		Message: fmt.Sprintf("With %s the number should be %d, but it is %d.", c.W.Label(), c.W.want(), got),
		Why:     "Every thread adds once, and the first addition needs a zero to add to.",
		Fix:     "Set t.Result to zero in the stream, and launch kernels.Tally with at least N threads.",
	})}
}
