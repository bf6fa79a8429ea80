package cli

import (
	"github.com/spf13/cobra"
)

func newLesson() *cobra.Command {
	return &cobra.Command{
		Use:   "lesson [NAME]",
		Short: "Read the chapter of an exercise",
		Long: `Lesson shows an exercise's chapter, on a terminal laid out to its width and in the pager that PAGER names, else in less.
Anywhere else it writes the chapter's Markdown. Without a name it is the chapter of the exercise that you are at.`,
		Example: `  cudalab lesson
  cudalab lesson slab >slab.md`,
		Args:              oneExercise,
		ValidArgsFunction: exerciseName,
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := openCourse(cmd)
			if err != nil {
				return err
			}
			e, err := findOrCurrent(c, args)
			if err != nil {
				return err
			}
			chapter, err := e.Chapter()
			if err != nil {
				return err
			}
			return screenOf(cmd.OutOrStdout()).pages(cmd.Context(), chapter)
		},
	}
}
