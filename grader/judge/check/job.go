package check

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime/debug"

	"cudalab/grader/judge/compile"
	"cudalab/grader/judge/run"
	"cudalab/grader/judge/visible"
	"cudalab/grader/machine/lock"
	"cudalab/grader/suite/gaps"
	"cudalab/grader/suite/verdict"
	"cudalab/grader/suites/course"
)

// job is the check of several exercises of one student's, which share a runner.
type job struct {
	root        string
	parts       []part
	options     run.Options          // without the runner's file
	precompiled *compile.Precompiled // nil: go build does it all
	preparing   func()               // as in Request
	seed        uint64
	noTiming    bool
	ahead       bool // as in run.Request
	given       bool
	pictures    bool
	turns       lock.Turns
	blamed      bool // as in run.Request
}

// part is one exercise and the folder with the code for it.
type part struct {
	exercise course.Exercise
	dir      string
}

// build is what package compile has to know of it, in the course at root.
func (p part) build(root string) compile.Exercise {
	solution := p.exercise.HasSolution(root)
	return compile.Exercise{Package: p.exercise.Package, Dir: p.dir, Main: p.exercise.Main(solution), Solution: solution}
}

// check checks all parts; each gets the result that it would get alone. An error concerns them all.
func (j job) check(ctx context.Context) ([]Result, error) {
	q := compile.Request{Root: j.root, Precompiled: j.precompiled, Preparing: j.preparing}
	for _, p := range j.parts {
		if err := outdated(j.root, p.exercise); err != nil {
			return nil, err
		}
		q.Exercises = append(q.Exercises, p.build(j.root))
	}
	built, err := compile.Build(ctx, q)
	if err != nil {
		return nil, err
	}
	defer built.Close()
	results, broken, shared := j.together(ctx, built)
	if len(j.parts) == 1 { // which is never too much for one program
		built.Close()
		results[0], err = j.control(ctx, 0, results[0])
		return results, err
	}
	// An exercise that ends the process may have been brought to it by another's: its initialisation, or what it left
	// behind. What it does in a process of its own is its own, and in a program of its own where others' code runs there
	// in any case.
	var entangled []int
	for i := range built.Exercises {
		if built.Exercises[i].Apart {
			entangled = append(entangled, i)
		}
	}
	for _, i := range shared {
		if othersStart(built, i) {
			entangled = append(entangled, i)
			continue
		}
		runner := j.runner(built)
		results[i] = j.one(ctx, j.parts[i], &built.Exercises[i], runner)
		runner.Close()
	}
	built.Close()
	for _, i := range broken {
		if results[i], err = j.control(ctx, i, results[i]); err != nil {
			return nil, err
		}
	}
	for _, i := range entangled {
		if results[i], err = j.alone(ctx, i); err != nil {
			return nil, err
		}
	}
	return results, nil
}

// alone checks the i-th part in a program of its own.
func (j job) alone(ctx context.Context, i int) (Result, error) {
	j.parts = j.parts[i : i+1]
	r, err := j.check(ctx)
	if err != nil {
		return Result{}, err
	}
	return r[0], nil
}

// control looks into what nothing explains: where all goes well with the solution in the place of the student's code, it is that code's
// doing, and is told as such. Without a solution, in a handout, nobody knows.
func (j job) control(ctx context.Context, i int, r Result) (Result, error) {
	p := j.parts[i]
	if unexplained := (*run.Unexplained)(nil); j.blamed || !errors.As(r.Err, &unexplained) || !p.exercise.HasSolution(j.root) {
		return r, nil
	}
	solution := j
	solution.parts = []part{{p.exercise, filepath.Join(j.root, "solutions", p.exercise.Package)}}
	solution.blamed = true // it is not looked into once more
	if c, err := solution.alone(ctx, 0); err != nil || c.Report.Status != verdict.Passed {
		return r, err
	}
	j.blamed = true
	return j.alone(ctx, i)
}

// othersStart reports whether code of any other exercise but the i-th runs when the program starts.
func othersStart(built *compile.Result, i int) bool {
	for other := range built.Exercises {
		if e := &built.Exercises[other]; other != i && e.OK() && e.Starts {
			return true
		}
	}
	return false
}

func (j job) runner(built *compile.Result) *run.Runner {
	o := j.options
	o.Binary = built.Binary
	return run.NewRunner(o)
}

// together checks all parts with one runner. Broken are those in whose check a process came to a bad end, and shared those of them that
// were not alone in it: others' code runs there in any case, or has run there before.
func (j job) together(ctx context.Context, built *compile.Result) (results []Result, broken, shared []int) {
	runner := j.runner(built)
	defer runner.Close()
	for i, p := range j.parts {
		if built.Exercises[i].Apart {
			results = append(results, Result{}) // it is checked in a program of its own
			continue
		}
		alone := !runner.Running() && !othersStart(built, i)
		r := j.one(ctx, p, &built.Exercises[i], runner)
		if r.Broken {
			broken = append(broken, i)
			if !alone || r.Err != nil { // what is not the code's doing is tried once more as well
				shared = append(shared, i)
			}
		}
		results = append(results, r)
	}
	return results, broken, shared
}

// Panic is the error where cudalab itself panicked while it judged an exercise. It says nothing about any other.
type Panic struct {
	Value any
	Stack []byte
}

func (e *Panic) Error() string {
	return fmt.Sprintf("cudalab itself panicked, please report it: %v", e.Value)
}

// one is the result for one exercise of a runner.
func (j job) one(ctx context.Context, p part, linked *compile.Linked, runner *run.Runner) (r Result) {
	q := Request{Exercise: p.exercise, Device: j.options.Device, Seed: j.seed}
	defer func() {
		if v := recover(); v != nil {
			r = unbuilt(q, verdict.Errored, verdict.Check{}, &Panic{v, debug.Stack()})
			r.Report.Message, r.Broken = r.Err.Error()+".", true
		}
	}()
	switch {
	case linked.Err != nil:
		return unbuilt(q, verdict.Errored, verdict.Check{}, linked.Err)
	case len(linked.Refusals) > 0:
		return unbuilt(q, verdict.Refused, refusals(linked.Refusals), nil)
	case len(linked.Errors) > 0:
		return unbuilt(q, verdict.BuildFailed, compileErrors(linked.Errors), nil)
	}
	left, err := gaps.Find(p.dir)
	if err != nil {
		return unbuilt(q, verdict.Errored, verdict.Check{}, err)
	}
	for i := range left {
		left[i].Text = visible.Line(left[i].Text)
	}
	skeleton, err := p.exercise.Skeleton()
	if err != nil {
		return unbuilt(q, verdict.Errored, verdict.Check{}, err)
	}
	name := nameIn(linked)
	declared, code := functions(p.dir)
	return Result{Name: name, Result: run.Check(ctx, run.Request{
		Suite: p.exercise.Suite, Runner: runner, Package: linked.ImportPath, Starts: linked.Starts, Blamed: j.blamed, Seed: j.seed, NoTiming: j.noTiming, Ahead: j.ahead,
		Given: j.given, Pictures: j.pictures, Points: points(p.exercise), Gaps: left, AllGaps: gaps.Of(skeleton), Functions: declared, Code: code, Name: name,
		Turns: j.turns,
	})}
}

// nameIn turns a path that the compiler saw into the student's.
func nameIn(linked *compile.Linked) func(file string) string {
	return func(file string) string {
		if path, ok := linked.Sources.RealPath(file); ok {
			return path
		}
		return file
	}
}
