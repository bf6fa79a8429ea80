package cli

import (
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"cudalab/grader/desk/progress"
	"cudalab/grader/suites/course"
)

// find is the exercise of the given name.
func find(c *course.Course, name string) (course.Exercise, error) {
	e, err := c.Find(name)
	if unknown := (*course.Unknown)(nil); errors.As(err, &unknown) {
		if unknown.Nearest != "" {
			return e, usage("%v. Did you mean %s?", err, unknown.Nearest)
		}
		return e, usage("%v. %s", err, theExercises(c))
	}
	return e, err
}

// findOrCurrent is the exercise that a command was given, or, without one, the exercise that the student is at.
func findOrCurrent(c *course.Course, args []string) (course.Exercise, error) {
	if len(args) > 0 {
		return find(c, args[0])
	}
	return find(c, current(c, progress.Load(c.Root)))
}

// current is the name of the exercise that the student is at.
func current(c *course.Course, p progress.Progress) string {
	var names []string
	for _, e := range c.Exercises {
		names = append(names, e.Name)
	}
	return p.Current(names)
}

func theExercises(c *course.Course) string {
	var names []string
	for _, e := range c.Exercises {
		names = append(names, e.Name)
	}
	if len(names) == 1 {
		return "There is one: " + names[0] + "."
	}
	return "There are: " + strings.Join(names, ", ") + "."
}

// oneExercise is for commands that work on one exercise, the current one if none is named.
func oneExercise(cmd *cobra.Command, args []string) error {
	if len(args) > 1 {
		return usage("`%s` takes one exercise, but was given %q as well.", cmd.CommandPath(), args[1])
	}
	return nil
}

// exerciseName completes the one name that a command takes.
func exerciseName(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return exerciseNames(cmd, args, typed)
}

// exerciseNames completes names on the command line.
func exerciseNames(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
	c, err := locateCourse(cmd)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var names []string
	for _, e := range c.Exercises {
		names = append(names, e.Name+"\t"+e.Title)
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}
