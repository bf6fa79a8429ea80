package cli

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"cudalab/grader/desk/progress"
	"cudalab/grader/judge/check"
	"cudalab/grader/judge/compile"
	"cudalab/grader/judge/run"
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

// exerciseOf is the course, and the exercise that a command is for.
func exerciseOf(cmd *cobra.Command, args []string) (*course.Course, course.Exercise, error) {
	c, err := openCourse(cmd)
	if err != nil {
		return nil, course.Exercise{}, err
	}
	e, err := findOrCurrent(c, args)
	return c, e, err
}

// current is the name of the exercise that the student is at.
func current(c *course.Course, p progress.Progress) string {
	var names []string
	for _, e := range c.Exercises {
		names = append(names, e.Name)
	}
	return p.Current(names)
}

// ownCode asks for a check of the exercise's own folder, without pictures.
func ownCode(c *course.Course, e course.Exercise, o run.Options) check.Request {
	return check.Request{Course: compile.Course{Root: c.Root}, Options: o, Code: []check.Code{{Exercise: e}}}
}

// checked is a check that begins with the workloads on which the student's code failed the last time, unless a seed
// says otherwise, and whose verdict is remembered. Of code from elsewhere nothing is known, and nothing is remembered.
func checked(ctx context.Context, q check.Request) check.Result {
	if q.Code[0].Dir != "" {
		return withVersion(check.Exercise(ctx, q))
	}
	if q.Seed == 0 {
		q.Seed = failingSeed(q.Root, q.Code[0].Exercise)
		q.Replayed = q.Seed != 0
	}
	r := check.Exercise(ctx, q)
	if r.Err == nil {
		// Where nothing can be written nothing is remembered, which spoils no check.
		_ = progress.Record(ctx, q.Root, r.Report)
	}
	return withVersion(r)
}

func withVersion(r check.Result) check.Result {
	r.Report.Cudalab = version()
	return r
}

// failingSeed is the one that the student's code failed on when it was last checked; 0 where it did not.
func failingSeed(root string, e course.Exercise) uint64 {
	return progress.Load(root)[e.Name].FailingSeed
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
