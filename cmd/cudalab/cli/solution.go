package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"cudalab/grader/desk/progress"
)

func newSolution() *cobra.Command {
	var giveUp bool
	cmd := &cobra.Command{
		Use:   "solution [NAME]",
		Short: "Show the solution of an exercise that you have passed, and why it is written so",
		Long: `Solution shows the reference solution of an exercise and why it is written as it is. It is for after you have passed;
--give-up shows it before. Without a name it is the solution of the exercise that you are at.`,
		Example: `  cudalab solution async-pipeline
  cudalab solution async-pipeline --give-up`,
		Args:              oneExercise,
		ValidArgsFunction: exerciseName,
		RunE: func(cmd *cobra.Command, args []string) error {
			c, e, err := exerciseOf(cmd, args)
			if err != nil {
				return err
			}
			if err := noSolutions(c, e, "your instructor decides when you see one"); err != nil {
				return err
			}
			if progress.Load(c.Root)[e.Name].FirstPassed.IsZero() {
				if !giveUp {
					return usage("you have not passed %s yet. `cudalab hint %[1]s` helps, and `cudalab solution %[1]s --give-up` "+
						"shows the solution all the same.", e.Name)
				}
				yes, err := confirm(cmd, fmt.Sprintf("You learn more from one more hint. Show the solution of %s?", e.Name), true)
				if err != nil || !yes {
					return err
				}
			}
			text, err := e.Solved(c.Root)
			if err != nil {
				return usage("the solution of %s cannot be read: %v.", e.Name, err)
			}
			return screenOf(cmd.OutOrStdout()).pages(cmd.Context(), text)
		},
	}
	cmd.Flags().BoolVar(&giveUp, "give-up", false, "show it although you have not passed")
	return cmd
}
