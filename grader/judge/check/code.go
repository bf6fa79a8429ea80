package check

import (
	"context"
	"fmt"
	"path/filepath"

	"cudalab/grader/judge/compile"
	"cudalab/grader/judge/run"
	"cudalab/grader/suites/course"
)

// Code is a student's code for one exercise.
type Code struct {
	Exercise course.Exercise
	Dir      string // the folder that it is in; "": the exercise's own

	number int      // among Programs; 0: it is none of them
	solved []solved // what is the solution's, and not the student's
	told   string   // the folder that its files are told to be in; "": where they are
}

// Submitted is the code in a folder that has one for each exercise, named as its package.
func Submitted(dir string, exercises []course.Exercise) (all []Code) {
	for _, e := range exercises {
		all = append(all, Code{Exercise: e, Dir: filepath.Join(dir, e.Package)})
	}
	return all
}

// Stepwise builds the code to be carried out in parts and not as a whole: what runs it counts its steps. Nothing but
// what the compiler says keeps it from being built where there is no runner and no error.
func (c Code) Stepwise(ctx context.Context, course compile.Course) (*compile.Result, run.Code, error) {
	e := c.linked(course.Root)
	e.Stepwise = true
	built, err := compile.Build(ctx, course, e)
	if err != nil {
		return nil, run.Code{}, err
	}
	if linked := &built.Exercises[0]; !linked.OK() {
		built.Close()
		return nil, run.Code{}, &Unbuilt{linked}
	}
	code, err := c.known(course.Root, &built.Exercises[0])
	if err != nil {
		built.Close()
	}
	code.Translation = nil // of one text, where this is several programs in one
	return built, code, err
}

// Unbuilt is the error where code cannot be built.
type Unbuilt struct{ *compile.Linked }

func (e *Unbuilt) Error() string {
	switch {
	case len(e.Errors) > 0:
		return fmt.Sprintf("%s:%d: %s", e.Errors[0].File, e.Errors[0].Line, e.Errors[0].Message)
	case len(e.Refusals) > 0:
		return fmt.Sprintf("%s:%d: %s", e.Refusals[0].File, e.Refusals[0].Line, e.Refusals[0].Message)
	}
	return fmt.Sprint("it cannot be built: ", e.Err)
}

// linked is what package compile has to know of the code.
func (c Code) linked(root string) compile.Exercise {
	e, solution := c.Exercise, c.Exercise.HasSolution(root)
	skeleton, _ := e.Skeleton() // who asks for the gaps says that there is none
	return compile.Exercise{Package: e.Package, Dir: c.Folder(root), Main: e.Main(solution), Solution: solution,
		Skeleton: skeleton, Number: c.number}
}

// Folder is the folder that the code is in.
func (c Code) Folder(root string) string {
	if c.Dir != "" {
		return c.Dir
	}
	return course.Relative(filepath.Join(root, c.Exercise.Folder()))
}
