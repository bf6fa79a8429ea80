// Package suite is the lesson kit: what a lesson's suite consists of, what its cases may do in the runner, and what its
// checks are given to judge by. Their reports are package verdict's.
//
// A suite has two halves. Cases run in the runner, beside the student's code: they draw workloads from the seed, call
// the code and note what came back, and decide nothing. Checks run in cudalab: they are given what the cases noted
// together with the trace and the order checker's findings, and decide. Either half can draw the same workload from
// the same seed, so expectations never travel. A lesson's author declares both halves at once, as a Lesson: its
// example, in example_test.go, is a whole one.
//
// Time is taken in one way, by Bench.Time. Contenders take turns: in a round each has one sample, which is the time of
// one run by the clock that its Span names, and the first rounds only warm up. What is judged is never a time but a
// ratio of two contenders' samples, with the interval around it:
//
//   - Race holds the student's code against the solution's, for the part that Good.Speed makes;
//   - Bench.Compare holds implementations beside each other for cudalab bench, and judges nothing;
//   - allocator.Cost holds an operation among many blocks against the same among few.
//
// The files in the order in which to read them: suite and lesson declare; parts, arguments, hostwait, kept,
// afterfaults, faults and speed, with pace, have the questions that lessons share, and further, far and launches have
// them asked about more calls; benchmark and timing are what speed rests on; scene and stage make the calls, on
// testbench and guard, in the runner, with what lent lends; call, reduced, callback and evidence are what a check sees
// of them.
package suite

import (
	"slices"

	"cudalab/grader/suite/verdict"
	"cudalab/native/sim"
	"cudalab/native/trace"
)

// Suite is all that is asked about one exercise.
type Suite struct {
	Exercise string // as on the command line, "async-pipeline"
	Package  string // the folder and package, "asyncpipeline"
	// Functions are what the exercise exports. The first line of the first is where a finding points to that is about none
	// of the student's calls.
	Functions []string
	// OnDevice is the function that is translated for the threads of a GPU as well; "" where none is. Cases find it in
	// Bench.Translation, and checks in Evidence.Translation.
	OnDevice string
	Memory   uint64 // bytes that the code may have at one time, on the device and pinned together; 0: DefaultMemory
	// Remarks are rules of the order checker whose remarks weigh otherwise here: as an Error, or, where nothing stands for
	// them, not at all.
	Remarks map[string]verdict.Severity
	WaysOut []WayOut
	Cases   []Case
	Checks  []Question
	// Benchmarks are for comparing only: no check needs one.
	Benchmarks []Benchmark
}

// WayOut says that what a call makes is given back on every way out of a function, as soon as one of the skeleton's
// gaps is filled. The error that a later gap answers is such a way: what is left on it will be left wherever something
// fails there.
type WayOut struct {
	Gap   string   // with which giving back is written, "1b"
	Makes trace.Op // OpEventCreate
}

// DefaultMemory is ten times what any solution needs where the suite says nothing else, in bytes. The simulator keeps
// what is written to it in the host's memory, of which a runner has no more than 1 GiB there.
const DefaultMemory = 512 << 20

// Case finds what a runner is asked for by its ID: a case, or a benchmark as one.
func (s *Suite) Case(id string) (*Case, bool) {
	for i := range s.Cases {
		if s.Cases[i].ID == id {
			return &s.Cases[i], true
		}
	}
	for i := range s.Benchmarks {
		if c := s.Benchmarks[i].Case(); c.ID == id {
			return &c, true
		}
	}
	return nil, false
}

// IsTimed reports whether a check needs a timed case.
func (s *Suite) IsTimed(check string) bool {
	return slices.ContainsFunc(s.Checks, func(q Question) bool {
		return q.ID == check && slices.ContainsFunc(s.Cases, func(c Case) bool {
			return c.Timed &&
				slices.Contains(q.Needs, c.ID)
		})
	})
}

// Case is one run of the student's code in the runner. Cases are independent: each starts on a clean device, and
// when one ends the process the next runs in a fresh one.
type Case struct {
	ID    string
	After string // the last gap that has to be filled before it can come to its end, "1f"
	// Timed cases run alone, with tracing off, and only where every untimed check passed.
	Timed bool
	// Resumes says that the case can begin with any of its Calls; see Bench.From.
	Resumes bool
	// Simulated, where not nil, has the case run on a simulated device of these options on every machine, also where the
	// rest runs on a GPU: for what no GPU can be made to do, such as having another granularity.
	Simulated func(seed uint64) sim.Options
	Drive     func(*Bench)
}

// Question is one check: what it is called, what it needs and how it decides.
type Question struct {
	ID   string // stable, as in the course's weights
	Name string // a claim in plain words that a pass makes true
	// Needs names the cases whose notes Judge reads. If one of them crashed, the check is not asked. If one found a gap,
	// the check cannot pass, but what Judge finds in what is written so far fails it.
	Needs []string
	Judge func(*Evidence) Answer
	// Luck says that a pass rests on what the device happened to hold, and is none while the order checker finds errors in
	// what it needs: unordered work comes out right on one day and wrong on another, and a grade must not.
	Luck bool
	// Aside says that the question is about the first calls of its cases alone. What else ends one of them is another
	// check's to tell, if one tells the same.
	Aside bool
	// Unwaited: it asks that the host never waits, so that no advice in its cases may be to have it wait.
	Unwaited bool
}

// Answer is a check's decision. It has passed when no finding is an Error and there is no Skip.
type Answer struct {
	Message      string // one sentence for a pass; a failure's findings speak for themselves
	Findings     []verdict.Finding
	Measurements []verdict.Measurement
	Run          *verdict.Run // what there is to be shown of an allocator's longest sequence; nil: nothing
	// Skip, where not empty and there are no findings, says why the question could not be asked.
	Skip  string
	Again Again // on a timed case
}

// Again is why a timed case should be carried out once more before its answer counts.
type Again int

// Reasons: of two the greater counts.
const (
	NotAgain  Again = iota
	ToTell          // what was measured lies beyond the limit, and may lie on either side of it
	ToConfirm       // it is a failure, which counts only if a fresh run says so as well
)
