package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"cudalab/grader/class/handout"
	"cudalab/grader/desk/parcel"
	"cudalab/grader/desk/renew"
	"cudalab/grader/judge/compile"
	"cudalab/grader/suites/course"
)

func newHandout() *cobra.Command {
	browser := false
	cmd := &cobra.Command{
		Use:   "handout DIR",
		Short: "Write a copy of the course without the solutions, to give to students",
		Long: `Handout writes a copy of the course into the folder DIR, ready to give to students: cudalab and its checks, the
chapters, the hints, and every exercise as its skeleton, whatever its folder holds now. The solutions, their walk-throughs
and the tests are left out.

Checks work there as here. Where they hold the time of a student's code against the solution's, a handout uses the time
of the baseline and the recorded ratio between the two. Where the course has a profile from cudalab calibrate, that goes
along, and the ratio is recorded on its simulated device now. Grading takes the whole course.

A folder with an earlier handout is brought to what this one would be: what has been changed there stays, as with
cudalab update, and a copy of what changes is kept in it.

--browser makes a web site of it instead, as cudalab browser does of the whole course: students need nothing but a browser.`,
		Example: `  cudalab handout ../cuda-course
  cudalab handout --browser ../site`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usage("name the folder for the handout, and one only: cudalab handout DIR.")
			}
			c, err := openCourse(cmd)
			if err != nil {
				return err
			}
			if err := fromSource(c, "a handout"); err != nil {
				return err
			}
			if browser {
				return handOutSite(cmd, c, args[0])
			}
			if err := handout.Outside(c, args[0]); err != nil {
				return notHandedOut(err)
			}
			if _, err := parcel.ReadRecord(args[0]); err == nil {
				return renewHandout(cmd, c, args[0])
			}
			err = handout.Write(cmd.Context(), c, args[0])
			if err != nil {
				return notHandedOut(err)
			}
			fmt.Fprintf(cmd.OutOrStdout(), "The course without its solutions is in %s: %d exercises, as skeletons.\n"+
				"Its README.md tells students how to begin.\n", filepath.ToSlash(course.Relative(args[0])), len(c.Exercises))
			return nil
		},
	}
	cmd.Flags().BoolVar(&browser, "browser", false, "write a web site that runs in a browser instead of a folder with "+
		"the course")
	return cmd
}

// renewHandout brings an earlier handout to what it would be now.
func renewHandout(cmd *cobra.Command, c *course.Course, dir string) error {
	there := *c
	var err error
	if there.Root, err = filepath.Abs(dir); err != nil {
		return err
	}
	p, err := handout.Of(cmd.Context(), c)
	if err != nil {
		return notHandedOut(err)
	}
	was, err := recordToUpdate(&there, p)
	if err != nil {
		return err
	}
	plan, err := renew.Make(there.Root, was, p)
	if err != nil {
		return &exitError{exitEnvironment, fmt.Sprintf("the handout could not be read: %v. Nothing was changed.", err)}
	}
	if len(plan.Set.Write)+len(plan.Set.Delete) == 0 {
		screenOf(cmd.OutOrStdout()).say(fmt.Sprintf("%s is this course's handout already.", dir))
		return nil
	}
	return renewCourse(cmd, &there, plan)
}

// fromSource refuses what is made of cudalab's own sources in a course without them.
func fromSource(c *course.Course, what string) error {
	if _, err := os.Stat(filepath.Join(c.Root, "cmd", "cudalab")); err == nil {
		return nil
	}
	return usage("%s is made of cudalab's own sources, and this course has what checks are built from alone: take "+
		"a copy of cudalab's repository.", what)
}

// notHandedOut is why a handout could not be written.
func notHandedOut(err error) error {
	var refused *handout.UsageError
	var environment *compile.EnvironmentError
	switch {
	case errors.As(err, &refused):
		return usage("%s", refused.Message)
	case errors.As(err, &environment):
		return &exitError{exitEnvironment, environment.Error()}
	}
	return &exitError{exitEnvironment, fmt.Sprintf("the handout could not be written: %v.", err)}
}

// handOutSite writes the site of a handout: of a course that has no solutions, so that its site has none either.
func handOutSite(cmd *cobra.Command, c *course.Course, dir string) error {
	temp, err := os.MkdirTemp("", "cudalab-handout-")
	if err != nil {
		return notHandedOut(err)
	}
	defer os.RemoveAll(temp)
	root := filepath.Join(temp, "course")
	if err := handout.Write(cmd.Context(), c, root); err != nil {
		return notHandedOut(err)
	}
	d := cmd.Context().Value(definition{}).(course.Definition)
	d.Texts = os.DirFS(filepath.Join(root, "lessons")) // its own, in which nothing leads to the solutions
	without, err := d.Open(root)
	if err != nil {
		return notHandedOut(err)
	}
	return writeSite(cmd, without, dir)
}

// noSolutions refuses, in a handout, what takes the solution of an exercise; what is that, in words.
func noSolutions(c *course.Course, e course.Exercise, what string) error {
	if e.HasSolution(c.Root) {
		return nil
	}
	return usage("this copy of the course is a handout: the solutions are not part of it, and %s. `cudalab check %s` "+
		"works without them.", what, e.Name)
}
