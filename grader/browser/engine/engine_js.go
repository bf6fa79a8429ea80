package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"cudalab/grader/judge/check"
	"cudalab/grader/judge/compile"
	"cudalab/grader/judge/prove"
	"cudalab/grader/judge/run"
	"cudalab/grader/report"
	"cudalab/grader/report/page"
	"cudalab/grader/suite/verdict"
	"cudalab/grader/suites"
	"cudalab/grader/suites/course"
	"cudalab/lessons"
)

// engine is the course and what its runners are built from.
type engine struct {
	course      *course.Course
	precompiled *compile.Precompiled
}

// request is a check that the page asks for.
type request struct {
	Exercise string
	Files    map[string]string // the student's, by name
	Seed     uint64            // 0: a fresh one
	Replayed bool              // the seed is the one that the code failed on the last time
	NoTiming bool
	HTML     bool   // with the page
	Dir      string // where the files are put; "": the exercise's own folder
}

// answer is what the page gets.
type answer struct {
	Status verdict.Status  `json:"status"`
	JSON   json.RawMessage `json:"json"` // as `cudalab check --json` writes it
	HTML   string          `json:"html"` // as `cudalab check --html` writes it
}

// open opens the course at root, whose suites are those that this program was built with.
func open(root string, precompiled *compile.Precompiled) (*engine, error) {
	c, err := course.Definition{Module: compile.Module(root), Texts: lessons.Texts, Suites: suites.All()}.Open(root)
	if err != nil {
		return nil, err
	}
	return &engine{course: c, precompiled: precompiled}, nil
}

// check is one check from the student's files to the report.
func (e *engine) check(ctx context.Context, q request) (answer, error) {
	x, err := e.course.Find(q.Exercise)
	if err != nil {
		return answer{}, err
	}
	if err := put(cmp.Or(q.Dir, filepath.Join(e.course.Root, x.Folder())), q.Files); err != nil {
		return answer{}, err
	}
	r := check.Exercise(ctx, check.Request{
		Course:   compile.Course{Root: e.course.Root, Precompiled: e.precompiled},
		Options:  run.Options{Device: "sim", Seed: q.Seed, NoTiming: q.NoTiming, Given: q.HTML, Pictures: q.HTML},
		Code:     []check.Code{{Exercise: x, Dir: q.Dir}},
		Replayed: q.Replayed,
	})
	var text bytes.Buffer
	if err := report.JSON(&text, r.Report); err != nil {
		return answer{}, err
	}
	a := answer{Status: r.Report.Status, JSON: text.Bytes()}
	if !q.HTML {
		return a, nil
	}
	var html bytes.Buffer
	err = page.Write(&html, page.Input{Title: x.Title, Report: r.Report, Orders: prove.Faults(r), Drawn: r.Drawn(),
		Timed: r.Timed(), Races: r.Races(),
		Place: r.Place, Read: os.ReadFile})
	a.HTML = html.String()
	return a, err
}

// put makes a folder hold these files and nothing else.
func put(dir string, files map[string]string) error {
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for name, text := range files {
		if name != filepath.Base(name) {
			return fmt.Errorf("the files of an exercise lie in one folder, and %q in another", name)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// warm builds a runner of the exercise's skeleton, which leaves compiler and linker warm.
func (e *engine) warm(ctx context.Context, exercise string) error {
	x, err := e.course.Find(exercise)
	if err != nil {
		return err
	}
	text, err := x.Skeleton()
	if err != nil {
		return err
	}
	dir := filepath.Join(e.course.Root, "warm", x.Package)
	if err := put(dir, map[string]string{x.Package + ".go": string(text)}); err != nil {
		return err
	}
	solution := x.HasSolution(e.course.Root)
	built, err := compile.Build(ctx, compile.Course{Root: e.course.Root, Precompiled: e.precompiled},
		compile.Exercise{Package: x.Package, Dir: dir, Main: x.Main(solution), Solution: solution})
	if err != nil {
		return err
	}
	built.Close()
	return built.Exercises[0].Err
}
