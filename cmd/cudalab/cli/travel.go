package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"cudalab/grader/desk/progress"
	"cudalab/grader/desk/travel"
	"cudalab/grader/suites/course"
)

// workFile is what a student's work is called, here and in the browser's edition.
const workFile = "cudalab-work.zip"

func newExport() *cobra.Command {
	return &cobra.Command{
		Use:   "export [FILE]",
		Short: "Write your code and progress as one file, to go on elsewhere",
		Long: `Export writes all exercises that you have begun, and how far you are, as one zip archive, by default
` + workFile + ` in the working directory. cudalab import takes it on another machine, the course in a browser does by
its menu, and cudalab grade as a submission. A file that is there already is not overwritten.`,
		Example: `  cudalab export
  cudalab export /media/stick/work.zip`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usage("name one file at most: cudalab export FILE.")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := openCourse(cmd)
			if err != nil {
				return err
			}
			to := workFile
			if len(args) == 1 {
				to = args[0]
			}
			work, exercises, err := travel.Of(c)
			if err != nil {
				return &exitError{exitEnvironment, fmt.Sprintf("your work cannot be read: %v.", err)}
			}
			if len(exercises) == 0 {
				return usage("you have not begun an exercise yet: there is nothing to export.")
			}
			text, err := work.Zip()
			if err != nil {
				return err
			}
			if err := writeNew(to, text); err != nil {
				return err
			}
			screenOf(cmd.OutOrStdout()).say(fmt.Sprintf("Your code of %s, and how far you are, is in %s. `cudalab import` "+
				"takes it into a course elsewhere.", joined(exercises), filepath.ToSlash(to)))
			return nil
		},
	}
}

// writeNew writes a file that is not there yet.
func writeNew(file string, text []byte) error {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return usage("%s is there already, and nothing is overwritten: name another file.", file)
	}
	if err != nil {
		return &exitError{exitEnvironment, fmt.Sprintf("%s cannot be written: %v.", file, plainly(err))}
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Close()); err != nil {
		os.Remove(file)
		return &exitError{exitEnvironment, fmt.Sprintf("%s cannot be written: %v. It was deleted again.", file, plainly(err))}
	}
	return nil
}

// joined are words with commas and an and.
func joined(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " and " + words[len(words)-1]
}

func newImport() *cobra.Command {
	yes := false
	cmd := &cobra.Command{
		Use:   "import FILE|DIR",
		Short: "Take in what export has written, or what is in another course",
		Long: `Import takes the exercises in a zip from cudalab export or from the course in a browser, or those in the
folder of another course, into yours, with how far you were there. What was begun from an older skeleton goes on in this
one, gap by gap. Where you have other code here it asks first, unless --yes says that you mean it. A copy of what is
replaced is kept under .cudalab/backup.`,
		Example: `  cudalab import cudalab-work.zip
  cudalab import ../old-course`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usage("name the file or folder, and one only: cudalab import " + workFile + ".")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := openCourse(cmd)
			if err != nil {
				return err
			}
			work, err := travel.Read(args[0])
			var damaged *travel.Damaged
			switch {
			case errors.As(err, &damaged):
				return usage("%v Nothing was changed.", damaged)
			case err != nil:
				return usage("%s cannot be read: %v.", args[0], plainly(err))
			}
			a, err := work.Into(c)
			if err != nil {
				return &exitError{exitEnvironment, fmt.Sprintf("your exercises cannot be read: %v. Nothing was changed.", err)}
			}
			if len(a.Exercises) == 0 {
				return usage("there is no exercise in %s: no .go file of a package such as %s.", args[0], c.Exercises[0].Package)
			}
			if len(a.Replaced) > 0 && !yes {
				question := fmt.Sprintf("Put what comes in in the place of your code of %s? A copy is kept.", joined(a.Replaced))
				yes, err = confirm(cmd, question, false)
				if errors.Is(err, errNobodyToAsk) {
					return usage("you have other code of %s here, and there is no terminal to ask on: say that you mean it with "+
						"--yes. A copy is kept.", joined(a.Replaced))
				}
				if err != nil || !yes {
					return err
				}
			}
			return takeIn(cmd, c, a)
		},
	}
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	return cmd
}

// takeIn makes what an arrival comes to.
func takeIn(cmd *cobra.Command, c *course.Course, a *travel.Arrival) error {
	backup, aside, err := apply(cmd.Context(), c.Root, a.Set, "import")
	if err != nil {
		return err
	}
	for file, at := range a.Written {
		_ = os.Chtimes(filepath.Join(c.Root, filepath.FromSlash(file)), at, at) // else it seems edited since it was checked
	}
	out := screenOf(cmd.OutOrStdout())
	if err := progress.Join(cmd.Context(), c.Root, a.Progress, a.Exercises); err != nil {
		out.say(fmt.Sprintf("How far you were could not be taken along: %v.", err))
	}
	out.say(fmt.Sprintf("Taken in: %s.", joined(a.Exercises)))
	for _, p := range a.Apart {
		out.point("%s and %s stand side by side, for yours was begun from another skeleton: %s.", p.File, p.Beside, p.Why)
	}
	out.aside(aside)
	if backup != "" {
		out.say("What was there before is kept in " + filepath.ToSlash(course.Relative(backup)) + ".")
	}
	return compiles(cmd, c, slices.DeleteFunc(slices.Clone(c.Exercises), func(e course.Exercise) bool {
		return !slices.Contains(a.Exercises, e.Name)
	}))
}
