package check

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"sync"

	"cudalab/grader/judge/compile"
	"cudalab/grader/judge/run"
	"cudalab/grader/judge/statements"
	"cudalab/grader/judge/visible"
	"cudalab/grader/suite/gaps"
	"cudalab/grader/suite/verdict"
	"cudalab/grader/suites/course"
)

// one is the result for one exercise of a runner.
func one(ctx context.Context, q Request, c Code, linked *compile.Linked, runner *run.Runner) (r Result) {
	defer func() {
		if v := recover(); v != nil {
			r = unbuilt(q, c, verdict.Errored, verdict.Check{}, &Panic{v, debug.Stack()})
			r.Report.Message, r.Broken = r.Err.Error()+".", true
		}
	}()
	switch {
	case linked.Err != nil:
		return unbuilt(q, c, verdict.Errored, verdict.Check{}, linked.Err)
	case len(linked.Refusals) > 0:
		return unbuilt(q, c, verdict.Refused, refusals(linked.Refusals), nil)
	case len(linked.Errors) > 0:
		return unbuilt(q, c, verdict.BuildFailed, compileErrors(linked.Errors), nil)
	}
	code, err := c.known(q.Root, linked)
	if err != nil {
		return unbuilt(q, c, verdict.Errored, verdict.Check{}, err)
	}
	r = Result{Name: code.Name, Result: runner.Check(ctx, code)}
	for _, a := range linked.Added {
		r.Report.Message = strings.TrimSpace(r.Report.Message + " " + visible.Line(a.String()))
	}
	if len(linked.Added) > 0 {
		r.Report.Message += " So what is there could be judged; `cudalab update` writes it into an older file."
	}
	return r
}

// known is what package run has to know of code that is linked.
func (c Code) known(root string, linked *compile.Linked) (run.Code, error) {
	dir := c.Folder(root)
	left, err := gaps.Find(dir)
	if err != nil {
		return run.Code{}, err
	}
	left = gaps.InOrder(append(left, linked.Gaps...))
	for i := range left {
		left[i].Text, left[i].File = visible.Line(left[i].Text), c.Shown(left[i].File)
	}
	skeleton, err := c.Exercise.Skeleton()
	if err != nil {
		return run.Code{}, err
	}
	declared, inStacks := functions(dir, skeleton)
	for name, at := range declared {
		at.File = c.Shown(at.File)
		declared[name] = at
	}
	for _, s := range c.solved {
		f := inStacks[s.name]
		f.Given = true
		inStacks[s.name] = f
	}
	name := nameIn(linked)
	code := sync.OnceValue(func() *statements.Code { return statements.Read(dir) }) // few checks need it
	return run.Code{
		Suite: c.Exercise.Suite, Number: c.number, Package: linked.ImportPath, Starts: linked.Starts,
		Points: points(c.Exercise),
		Gaps:   left, AllGaps: gaps.Of(skeleton), Functions: declared, InStacks: inStacks,
		Name: func(file string) string { return c.Shown(name(file)) },
		Statements: func(function string, look verdict.Look) (verdict.Place, string, bool) {
			at, what, ok := code().Of(function, look)
			at.File = c.Shown(at.File)
			return at, what, ok && !c.IsSolved(at.File, at.Line)
		},
		Argument: func(file string, line int, call string, i int) string {
			return code().Argument(file, line, call, i)
		},
		Translation: translated(dir, c.Exercise.Suite.OnDevice),
	}, nil
}

// unbuilt is the result where there is nothing to run.
func unbuilt(q Request, code Code, status verdict.Status, c verdict.Check, err error) Result {
	r := verdict.Report{Schema: verdict.SchemaVersion, Exercise: code.Exercise.Name,
		Device: verdict.Device{Kind: q.Device},
		Status: status, Seed: q.Seed}
	for _, n := range code.Exercise.Points {
		r.MaxScore += float64(n)
	}
	if c.ID != "" {
		r.Checks = []verdict.Check{c}
	}
	if err != nil {
		r.Message = "cudalab could not build the runner: " + err.Error()
		if environment := (*compile.EnvironmentError)(nil); errors.As(err, &environment) {
			r.Message, r.Next = environment.Problem, environment.Fix
		}
	}
	return Result{Result: run.Result{Report: r, Err: err}, Name: func(file string) string { return file }}
}

// The check that stands for everything before the code runs. It is worth nothing by itself.
const buildID = "build"

func refusals(rs []compile.Refusal) verdict.Check {
	c := verdict.Check{ID: buildID, Name: "uses only what an exercise may use", Status: verdict.Failed}
	for _, r := range rs {
		c.Findings = append(c.Findings, verdict.Finding{Rule: string(r.Rule), Severity: verdict.Error,
			Message: visible.Line(r.Message),
			Why:     r.Why, Fix: visible.Line(r.Fix), File: r.File, Line: r.Line, Column: r.Col, Record: -1})
	}
	return c
}

func compileErrors(es []compile.CompileError) verdict.Check {
	c := verdict.Check{ID: buildID, Name: "compiles", Status: verdict.Failed}
	for _, e := range es {
		c.Findings = append(c.Findings, verdict.Finding{Rule: "compile", Severity: verdict.Error,
			Message: visible.Text(e.Message),
			Fix: cmp.Or(visible.Line(e.Plain), "Compare this line and the one before it with the skeleton; go doc says "+
				"what a call takes and returns."),
			File: e.File, Line: e.Line, Column: e.Col, Record: -1})
	}
	return c
}

// points are what the exercise's checks are worth.
func points(e course.Exercise) map[string]float64 {
	p := map[string]float64{}
	for id, n := range e.Points {
		p[id] = float64(n)
	}
	return p
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

// Panic is the error where cudalab itself panicked while it judged an exercise. It says nothing about any other.
type Panic struct {
	Value any
	Stack []byte
}

func (e *Panic) Error() string {
	return fmt.Sprintf("cudalab itself panicked, please report it: %v", e.Value)
}
