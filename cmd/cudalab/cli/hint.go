package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"cudalab/grader/desk/hints"
	"cudalab/grader/suites/course"
)

func newHint() *cobra.Command {
	var todo string
	var all bool
	cmd := &cobra.Command{
		Use:   "hint [NAME]",
		Short: "Give the next hint for the gap you are at, or for what the last check found",
		Long: `Hint gives one hint after another, from a nudge to nearly the code: for the first gap that is left, or, once all are
filled, for what the last check found. Without a name it is for the exercise that you are at.`,
		Example: `  cudalab hint
  cudalab hint async-pipeline --todo 1c`,
		Args:              oneExercise,
		ValidArgsFunction: exerciseName,
		RunE: func(cmd *cobra.Command, args []string) error {
			c, e, err := exerciseOf(cmd, args)
			if err != nil {
				return err
			}
			text, err := hintText(cmd, c, e, todo, all)
			unknown, nothing := (*hints.NoTODO)(nil), (*hints.Nothing)(nil)
			switch {
			case errors.As(err, &unknown):
				return usage("%v.", unknown)
			case errors.As(err, &nothing):
				text = nothing.Error() + " `cudalab hint --todo` gives the hints for a gap that you name.\n"
			case err != nil:
				return usage("there is no hint for %s: %v.", e.Name, err)
			}
			return screenOf(cmd.OutOrStdout()).markdown(text)
		},
	}
	cmd.Flags().StringVar(&todo, "todo", "", "give the next hint for the gap `ID`, 1a for example")
	cmd.Flags().BoolVar(&all, "all", false, "give every hint, for the gap of --todo or for all gaps")
	cobra.CheckErr(cmd.RegisterFlagCompletionFunc("todo", todoIDs))
	return cmd
}

// hintText is the next hint, or all of them, in Markdown.
func hintText(cmd *cobra.Command, c *course.Course, e course.Exercise, todo string, all bool) (string, error) {
	if !all {
		h, err := hints.Next(cmd.Context(), c.Root, e, todo)
		return h.Markdown(e.Name), err
	}
	chosen, err := hints.All(e, todo)
	var b strings.Builder
	for _, h := range chosen {
		for i, text := range h.Text {
			fmt.Fprintf(&b, "### Hint %d of %d for TODO(%s)\n\n%s\n\n", i+1, len(h.Text), h.TODO, text)
		}
	}
	return b.String(), err
}

// todoIDs completes --todo.
func todoIDs(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	var ids []string
	if c, err := locateCourse(cmd); err == nil {
		if e, err := findOrCurrent(c, args); err == nil {
			all, _ := hints.All(e, "") // an exercise without hints completes nothing
			for _, h := range all {
				ids = append(ids, h.TODO)
			}
		}
	}
	return ids, cobra.ShellCompDirectiveNoFileComp
}
