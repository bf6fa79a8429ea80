package cli

import (
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"cudalab/grader/desk/progress"
	"cudalab/grader/desk/restore"
	"cudalab/grader/suites/course"
)

func newReset() *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use:   "reset [NAME]",
		Short: "Take an exercise back to its skeleton, and keep what you wrote",
		Long: `Reset puts the skeleton of an exercise in the place of your code and forgets its verdict and the hints you were given.
What you wrote is kept under .cudalab/backup. It asks first, unless --yes says that you mean it. Without a name it is for the
exercise that you are at.`,
		Example: `  cudalab reset async-pipeline
  cudalab reset async-pipeline --yes`,
		Args:              oneExercise,
		ValidArgsFunction: exerciseName,
		RunE: func(cmd *cobra.Command, args []string) error {
			c, e, err := exerciseOf(cmd, args)
			if err != nil {
				return err
			}
			state, err := restore.Look(c.Root, e)
			if err != nil {
				return usage("the exercise %s cannot be read: %v.", e.Name, err)
			}
			if state == restore.Pristine {
				fmt.Fprintf(cmd.OutOrStdout(), "%s is as it was handed out; there is nothing to take back.\n", e.Name)
				return nil
			}
			if state == restore.Edited && !yes {
				question := fmt.Sprintf("Put the skeleton in the place of your code in %s? A copy is kept.",
					course.Relative(filepath.Join(c.Root, e.Folder())))
				yes, err = confirm(cmd, question, false)
				if errors.Is(err, errNobodyToAsk) {
					return usage("there is no terminal to ask on: say that you mean it with --yes.")
				}
				if err != nil || !yes {
					return err
				}
			}
			return reset(cmd, c, e)
		},
	}
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	return cmd
}

func reset(cmd *cobra.Command, c *course.Course, e course.Exercise) error {
	out := screenOf(cmd.OutOrStdout())
	backup, err := restore.Exercise(c.Root, e, time.Now())
	if backup != "" {
		out.say(fmt.Sprintf("What you wrote is kept in %s.", course.Relative(backup)))
	}
	if err != nil {
		return &exitError{exitEnvironment, fmt.Sprintf("%s could not be taken back to its skeleton: %v.", e.Name, err)}
	}
	// What cannot be written was not remembered either.
	_ = progress.Forget(cmd.Context(), c.Root, e.Name)
	out.say(fmt.Sprintf("%s is as it was handed out: begin in %s.", e.Name,
		course.Relative(filepath.Join(c.Root, e.Folder(), e.Package+".go"))))
	return nil
}
