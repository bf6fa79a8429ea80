package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"cudalab/grader/desk/markdown"
	"cudalab/grader/desk/progress"
	"cudalab/grader/suite/verdict"
	"cudalab/grader/suites/course"
)

func newLesson() *cobra.Command {
	traps := false
	cmd := &cobra.Command{
		Use:   "lesson [NAME]",
		Short: "Read the chapter of an exercise",
		Long: `Lesson shows an exercise's chapter, on a terminal laid out to its width and in the pager that PAGER names, else in less.
Anywhere else it writes the chapter's Markdown. Without a name it is the chapter of the exercise that you are at. The traps
are left out until you have begun, since most are found by trying: --traps shows them all the same.`,
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
			return screenOf(cmd.OutOrStdout()).lesson(cmd.Context(), c.Root, e, traps)
		},
	}
	cmd.Flags().BoolVar(&traps, "traps", false, "show the traps as well, whether you have begun or not")
	return cmd
}

// lesson shows the chapter of an exercise, on a terminal with the traps where they were asked for or the exercise was
// begun.
func (s screen) lesson(ctx context.Context, root string, e course.Exercise, traps bool) error {
	chapter, err := e.Chapter()
	if err != nil {
		return err
	}
	if s.width > 0 {
		last := progress.Load(root)[e.Name]
		begun := last.Checked() && last.Status != verdict.NotStarted
		chapter = markdown.Unfold(chapter, traps || begun,
			fmt.Sprintf("They come here once you have written a first part and checked it. `cudalab lesson %s --traps` shows "+
				"them now.", e.Name))
	}
	return s.pages(ctx, chapter)
}
