package cli

import (
	"context"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"cudalab/grader/desk/cause"
	"cudalab/grader/desk/terminal"
	"cudalab/grader/judge/check"
	"cudalab/grader/judge/run"
	"cudalab/grader/suites/course"
)

func newWatch() *cobra.Command {
	var w watching
	cmd := &cobra.Command{
		Use:   "watch [NAME]",
		Short: "Check an exercise whenever you save it, and go on to the next when it passes",
		Long: `Watch checks an exercise whenever one of its files is saved, and goes on to the next exercise when it passes. Without a
name it begins where you left off. Keys give hints, the lesson and your editor; ? lists them. Where there is no terminal,
each key is a line.

With --format line the reports are what compilers write, FILE:LINE:COLUMN: SEVERITY: TEXT [RULE], with the verdict in a line
of its own behind: for editors that read the output of a task.

The key o opens the line of the first error in the editor that --edit-cmd, VISUAL or EDITOR names. --edit-cmd may say where
file and line go: --edit-cmd 'my-editor {file} -line {line}'.`,
		Example: `  cudalab watch
  cudalab watch pool-config --device sim --edit-cmd 'code'`,
		Args:              oneExercise,
		ValidArgsFunction: exerciseName,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := validDevice(w.device); err != nil {
				return err
			}
			if err := validFormat(w.format, watchFormats); err != nil {
				return err
			}
			if err := validTerms(w.terms); err != nil {
				return err
			}
			c, e, err := exerciseOf(cmd, args)
			if err != nil {
				return err
			}
			return w.onTerminal(cmd, c, e)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&w.device, "device", "auto", "`KIND` is gpu, sim, or auto: the GPU where there is one, else the "+
		"simulator")
	flags.BoolVar(&w.poll, "poll", false, "look for saves from time to time instead of being told of them by the system")
	flags.StringVar(&w.editor, "edit-cmd", "", "open files with the editor `COMMAND`; default: VISUAL, else EDITOR")
	flags.StringVar(&w.format, "format", textFormat, "write reports as `FORMAT`: "+strings.Join(watchFormats, " or "))
	cobra.CheckErr(cmd.RegisterFlagCompletionFunc("format", names(watchFormats)))
	termsFlag(cmd, &w.terms)
	cobra.CheckErr(cmd.RegisterFlagCompletionFunc("device", devices))
	return cmd
}

// onTerminal watches with the keys of this terminal, and leaves it as it was.
func (w *watching) onTerminal(cmd *cobra.Command, c *course.Course, e course.Exercise) error {
	p, err := simulated(c, w.device, "")
	if err != nil {
		return err
	}
	keyboard, err := terminal.OpenKeyboard(os.Stdin)
	if err != nil {
		return &exitError{exitEnvironment, "the terminal does not hand on single keys: " + err.Error() + "."}
	}
	defer keyboard.Close()
	w.screen = screenOf(cmd.OutOrStdout())
	w.screen.Writer = keyboard.Output(w.screen.Writer)
	w.stdout = cmd.OutOrStdout()
	w.course, w.keyboard = c, keyboard
	ctx, end := context.WithCancel(cmd.Context())
	defer end()
	request := func(e course.Exercise) check.Request {
		return ownCode(c, e, run.Options{Device: w.device, Profile: p})
	}
	w.check = func(checking context.Context, e course.Exercise) check.Result {
		q := request(e)
		q.Preparing = w.preparing
		return inTerms(w.terms, checked(checking, q))
	}
	w.ask = func(ctx context.Context, e course.Exercise) (cause.Answer, error) {
		return cause.Ask(ctx, request(e), checked)
	}
	w.page = func(ctx context.Context, e course.Exercise, seed uint64) (string, error) {
		q := request(e)
		q.Seed = seed
		return drawPage(ctx, q, w.terms)
	}
	return w.run(ctx, e)
}
