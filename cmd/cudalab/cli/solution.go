package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"cudalab/grader/desk/progress"
	"cudalab/grader/suites/course"
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
			c, err := openCourse(cmd)
			if err != nil {
				return err
			}
			e, err := findOrCurrent(c, args)
			if err != nil {
				return err
			}
			if err := noSolutions(c, e, "your instructor decides when you see one"); err != nil {
				return err
			}
			if progress.Load(c.Root)[e.Name].FirstPassed.IsZero() {
				if !giveUp {
					return usage("you have not passed %s yet. `cudalab hint %[1]s` helps, and `cudalab solution %[1]s --give-up` shows the "+
						"solution all the same.", e.Name)
				}
				yes, err := confirm(cmd, fmt.Sprintf("You learn more from one more hint. Show the solution of %s?", e.Name), true)
				if err != nil || !yes {
					return err
				}
			}
			text, err := solutionText(c, e)
			if err != nil {
				return err
			}
			return screenOf(cmd.OutOrStdout()).pages(cmd.Context(), text)
		},
	}
	cmd.Flags().BoolVar(&giveUp, "give-up", false, "show it although you have not passed")
	return cmd
}

// solutionText is the walk-through of a solution and its code, in Markdown.
func solutionText(c *course.Course, e course.Exercise) (string, error) {
	dir := filepath.Join(c.Root, e.SolutionFolder())
	files, err := os.ReadDir(dir)
	if err != nil {
		return "", usage("the solution of %s cannot be read: %v.", e.Name, err)
	}
	text, err := e.Walkthrough()
	if err != nil {
		text = "# " + e.Title + ": the solution\n" // the code speaks for itself
	}
	for _, f := range files {
		if filepath.Ext(f.Name()) != ".go" || strings.HasSuffix(f.Name(), "_test.go") {
			continue
		}
		code, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil {
			return "", usage("the solution of %s cannot be read: %v.", e.Name, err)
		}
		text += fmt.Sprintf("\n## %s\n\n```go\n%s```\n", filepath.ToSlash(filepath.Join(e.SolutionFolder(), f.Name())), code)
	}
	return text, nil
}
