package check

import (
	"path/filepath"

	"cudalab/grader/judge/compile"
	"cudalab/grader/suites/course"
)

// Code is a student's code for one exercise.
type Code struct {
	Exercise course.Exercise
	Dir      string // the folder that it is in; "": the exercise's own
}

// Submitted is the code in a folder that has one for each exercise, named as its package.
func Submitted(dir string, exercises []course.Exercise) (all []Code) {
	for _, e := range exercises {
		all = append(all, Code{e, filepath.Join(dir, e.Package)})
	}
	return all
}

// linked is what package compile has to know of the code.
func (c Code) linked(root string) compile.Exercise {
	e, solution := c.Exercise, c.Exercise.HasSolution(root)
	return compile.Exercise{Package: e.Package, Dir: c.dir(root), Main: e.Main(solution), Solution: solution}
}

// dir is the folder that the code is in.
func (c Code) dir(root string) string {
	if c.Dir != "" {
		return c.Dir
	}
	return course.Relative(filepath.Join(root, c.Exercise.Folder()))
}
