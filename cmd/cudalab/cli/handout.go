package cli

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"cudalab/grader/class/handout"
	"cudalab/grader/judge/compile"
	"cudalab/grader/suites/course"
)

func newHandout() *cobra.Command {
	return &cobra.Command{
		Use:   "handout DIR",
		Short: "Write a copy of the course without the solutions, to give to students",
		Long: `Handout writes a copy of the course into the folder DIR, ready to give to students: cudalab and its checks, the
chapters, the hints, and every exercise as its skeleton, whatever its folder holds now. The solutions, their walk-throughs
and the tests are left out.

Checks work there as here. Where they hold the time of a student's code against the solution's, a handout uses the time
of the baseline and the recorded ratio between the two. Where the course has a profile from cudalab calibrate, that goes
along, and the ratio is recorded on its simulated device now. Grading takes the whole course.`,
		Example: `  cudalab handout ../cuda-course`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usage("name the folder for the handout, and one only: cudalab handout DIR.")
			}
			c, err := openCourse(cmd)
			if err != nil {
				return err
			}
			err = handout.Write(cmd.Context(), c, args[0])
			var refused *handout.UsageError
			var environment *compile.EnvironmentError
			switch {
			case errors.As(err, &refused):
				return usage("%s", refused.Message)
			case errors.As(err, &environment):
				return &exitError{exitEnvironment, environment.Error()}
			case err != nil:
				return &exitError{exitEnvironment, fmt.Sprintf("the handout could not be written: %v.", err)}
			}
			fmt.Fprintf(cmd.OutOrStdout(), "The course without its solutions is in %s: %d exercises, as skeletons.\n"+
				"Its README.md tells students how to begin.\n", filepath.ToSlash(course.Relative(args[0])), len(c.Exercises))
			return nil
		},
	}
}

// noSolutions refuses, in a handout, what takes the solution of an exercise; what is that, in words.
func noSolutions(c *course.Course, e course.Exercise, what string) error {
	if e.HasSolution(c.Root) {
		return nil
	}
	return usage("this copy of the course is a handout: the solutions are not part of it, and %s. `cudalab check %s` works "+
		"without them.", what, e.Name)
}
