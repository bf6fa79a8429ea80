package class

import (
	"context"
	"os"
	"runtime"
	"time"

	"cudalab/grader/class/intake"
	"cudalab/grader/suite/verdict"
)

// Plan is what Grade would do.
type Plan struct {
	Submissions []intake.Submission // that would be graded; their folders are gone
	Form        string              // what SUBMISSIONS was taken for, to follow "Read as "
	Attention   []Attention         // what a person should look at
	People      map[string][]Person // by the submission's ID
	Absent      []Person            // on the roster, but nothing came from them
	Aside       []intake.File       // that are in no submission
	Files       intake.Count        // of all that was handed in
	Device      verdict.Device
	Jobs        int
	GPUs        []string // empty on the simulator
	// Estimate is how long that would take, if all code took as long as the solutions.
	Estimate time.Duration
}

// DryRun says what Grade would do and writes nothing. To know how long it would take it builds and checks the
// solutions of what was handed in.
func DryRun(ctx context.Context, o Options) (*Plan, error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	rules, err := readPolicy(o.Policy, exercises(o))
	if err != nil {
		return nil, err
	}
	in, submissions, err := open(o, "", rules)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	g, arrived := &grading{Options: o}, receive(in, o.Roster)
	if o.Resume || len(o.Only) > 0 {
		if g.results, err = results(o.Results); err != nil {
			return nil, err
		}
	}
	todo, err := g.todo(submissions)
	if err != nil {
		return nil, err
	}
	ready, err := prepare(ctx, o, in.Submissions())
	if err != nil {
		return nil, err
	}
	g.header.Device = ready.device
	p := &Plan{Device: ready.device, Jobs: g.jobs(len(todo)), Form: in.Form(), Absent: arrived.Absent,
		People:    map[string][]Person{},
		Attention: append(arrived.Attention, arrived.withdrawn(g.results)...), Aside: in.Aside(), Files: in.Count()}
	if ready.device.Kind == "gpu" {
		p.GPUs = g.places()
	}
	for _, s := range todo {
		p.People[s.ID] = arrived.From[s.ID].People
		p.Submissions = append(p.Submissions, s.Submission)
	}
	p.Estimate = ready.cost.estimate(p)
	return p, nil
}

// results are those that a folder holds already.
func results(dir string) (map[string]Student, error) {
	path := journalPath(dir)
	f, err := os.Open(path)
	if os.IsNotExist(err) {
		return map[string]Student{}, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	state, _, err := readJournal(f, path)
	return state.results, err
}

// cost is how long the solutions take.
type cost struct {
	build  time.Duration            // of a runner with all exercises
	checks map[string]time.Duration // by package, but for the timing
	timing map[string]time.Duration // by package
}

// estimate is how long a plan takes: workers share the machine, and on a GPU only one at a time measures.
func (c cost) estimate(p *Plan) time.Duration {
	var work, alone time.Duration
	for _, s := range p.Submissions {
		if len(s.Packages) == 0 {
			continue
		}
		work += c.build
		for _, pkg := range s.Packages {
			work += c.checks[pkg] + c.timing[pkg]
			alone += c.timing[pkg]
		}
	}
	total := work / time.Duration(min(p.Jobs, runtime.NumCPU()))
	if n := len(p.GPUs); n > 0 {
		total = max(total, alone/time.Duration(n))
	}
	return total
}
