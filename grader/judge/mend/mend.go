// Package mend looks for the cause of a failed check: the smallest change of the code with which it passes. Where
// there is one its place is the cause's place, whatever the first symptom was.
//
// Candidates come from the difference to the solution, where there is one, and from the operators and templates that
// know none. They are ordered, those that are most likely first, and their number is bounded, not the time: the same
// code and seed have the same answer. All of them are one program, in which a number chooses, and one case that fails
// decides. What passes is confirmed by all cases, by more seeds and in a program of its own, before anybody says
// anything.
//
// Search, in mend.go, goes by target.go, candidates.go with what makes them (difference.go, arguments.go,
// templates.go, rewrites.go), write.go, trials.go and choose.go.
package mend

import (
	"context"
	"go/token"
	"path/filepath"

	"cudalab/grader/judge/check"
	"cudalab/grader/judge/compile"
	"cudalab/grader/judge/edits"
	"cudalab/grader/judge/run"
	"cudalab/grader/suite/verdict"
)

// Budget is how many candidates are tried where nobody says otherwise.
const Budget = 300

// first is how many of them are in the first program: most causes are among them, and so many are built in a third of
// the time.
const first = 60

// Search is what is looked for, and what came of it.
type Search struct {
	check.Request
	Result check.Result // of the check that failed, of the same code
	Budget int          // 0: Budget
	Bare   bool         // do without the solution

	code, solution *edits.Code // solution is nil where there is none
	target         target
	trials         *trials
	Tried          int // how many candidates were
	Found          []*Edit
}

// Edit is a change with which the check passes.
type Edit struct {
	*candidate
	Place  verdict.Place // where it begins
	Number int           // of the candidate, from 1 on
}

// candidate is a change that may be one.
type candidate struct {
	changes  []edits.Change
	guided   bool // the solution has it like that
	what     string
	rank     int // the lower, the more likely
	function *function
	number   int // in the program that it is in
	compiles bool
	hunk     bool       // a place where the code and the solution part
	second   *candidate // of a pair
	gone     int        // how many errors are with it
	more     int        // how many are new
}

// line is where it begins.
func (c *candidate) line() int { return lineOf(c.function.Code, c.changes[0].From) }

// Cause looks for the cause of a failed check. It is nil where there is none to be told, which says nothing.
func (s *Search) Cause(ctx context.Context) (*Cause, error) {
	t, ok := targetOf(s.Result, s.Code[0].Exercise.Suite)
	if !ok {
		return nil, nil
	}
	s.target = t
	if s.Precompiled == nil {
		s.Precompiled = check.Recall(ctx, s.Request)
	}
	if err := s.load(); err != nil {
		return nil, err
	}
	var err error
	if s.trials, err = s.newTrials(ctx); err != nil {
		return nil, err
	}
	defer s.trials.close()
	if s.Budget == 0 {
		s.Budget = Budget
	}
	all := s.candidates()
	all = all[:min(len(all), s.Budget)]
	early := min(len(all), first)
	for _, next := range []func() []*candidate{
		func() []*candidate { return all[:early] },
		func() []*candidate { return all[early:] },
		func() []*candidate { return pairs(all) }, // of those that have turned out to compile
	} {
		some := next()
		if len(some) == 0 {
			continue
		}
		found, err := s.trials.passing(ctx, some, s.Tried)
		s.Tried += len(some)
		s.Found = append(s.Found, found...)
		if err != nil || len(s.Found) > 0 {
			return s.choose(ctx, err)
		}
	}
	return nil, nil
}

// load reads the student's code and the solution.
func (s *Search) load() (err error) {
	c, set := s.Code[0], token.NewFileSet()
	own, solution := c.Folder(s.Root), filepath.Join(s.Root, c.Exercise.SolutionFolder())
	importer, err := s.importer(set)
	if err != nil {
		return err
	}
	module := compile.Module(s.Root)
	if s.code, err = edits.Load(s.Root, own, module+"/exercises/"+c.Exercise.Package, set, importer); err != nil {
		return err
	}
	if !s.Bare && c.Exercise.HasSolution(s.Root) {
		s.solution, err = edits.Load(s.Root, solution, module+"/solutions/"+c.Exercise.Package, set, importer)
	}
	return err
}

// options are those of the check, with another seed.
func (s *Search) options(seed uint64) run.Options {
	o := s.Options
	o.Seed, o.NoTiming, o.Ahead, o.Pictures, o.Given = seed, !s.target.timed, false, false, false
	return o
}
