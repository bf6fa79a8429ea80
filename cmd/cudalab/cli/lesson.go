package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"cudalab/grader/desk/markdown"
	"cudalab/grader/desk/progress"
	"cudalab/grader/judge/check"
	"cudalab/grader/suite/verdict"
	"cudalab/grader/suites/course"
)

func newLesson() *cobra.Command {
	traps, ptx := false, false
	cmd := &cobra.Command{
		Use:   "lesson [NAME]",
		Short: "Read the chapter of an exercise",
		Long: `Lesson shows an exercise's chapter, on a terminal laid out to its width and in the pager that PAGER names, else in less.
Anywhere else it writes the chapter's Markdown. Without a name it is the chapter of the exercise that you are at. The traps
are left out until you have begun, since most are found by trying: --traps shows them all the same.`,
		Example: `  cudalab lesson
  cudalab lesson slab >slab.md
  cudalab lesson device-bump --ptx`,
		Args:              oneExercise,
		ValidArgsFunction: exerciseName,
		RunE: func(cmd *cobra.Command, args []string) error {
			c, e, err := exerciseOf(cmd, args)
			if err != nil {
				return err
			}
			if ptx {
				return screenOf(cmd.OutOrStdout()).ptx(cmd.Context(), c.Root, e)
			}
			return screenOf(cmd.OutOrStdout()).lesson(cmd.Context(), c.Root, e, traps)
		},
	}
	cmd.Flags().BoolVar(&traps, "traps", false, "show the traps as well, whether you have begun or not")
	cmd.Flags().BoolVar(&ptx, "ptx", false, "show your function as the threads of a GPU carry it out, in PTX")
	return cmd
}

// ptx shows the function of the student's that is translated for the threads of a GPU, with its own lines in between.
func (s screen) ptx(ctx context.Context, root string, e course.Exercise) error {
	function := e.Suite.OnDevice
	if function == "" {
		return &exitError{exitUsage, fmt.Sprintf("no function of %s is carried out by the threads of a GPU. Alloc of "+
			"device-bump is: cudalab lesson device-bump --ptx.", e.Name)}
	}
	text, refused, err := check.Code{Exercise: e}.Explained(root)
	if err != nil {
		return &exitError{exitUsage, fmt.Sprintf("%s cannot be read: %v. `cudalab check %s` says what to mend.",
			function, err, e.Name)}
	}
	if len(refused) > 0 {
		f := refused[0]
		return &exitError{exitUsage, fmt.Sprintf("%s:%d: %s %s", f.File, f.Line, f.Message, f.Fix)}
	}
	return s.pages(ctx, "```text\n"+text+"```\n")
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
