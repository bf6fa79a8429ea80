package cli

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"cudalab/grader/desk/cause"
	"cudalab/grader/judge/check"
	"cudalab/grader/judge/run"
	"cudalab/grader/suite/verdict"
)

func newWhy() *cobra.Command {
	var device string
	cmd := &cobra.Command{
		Use:   "why [NAME]",
		Short: "Look for the one change with which a failed check passes, and tell it step by step",
		Long: `Why tries changes of your code, some hundred of them: those that the solution has otherwise first, where
there is one, and then small slips. Where the check that fails passes with one of them, and with none elsewhere, that is
where the cause is. It takes some seconds.

It tells that in steps, one more each time that you ask about the same code: the line; what to ask yourself about it;
the first point of a run at which your code and the changed code part; and the change itself. That last one comes only
when you have changed your code since why told you something, and ask again. Where it finds nothing it says nothing of
your code: the cause may be in two places, or a change that it does not try. Without a name it is for the exercise that
you are at.`,
		Example: `  cudalab why
  cudalab why slab`,
		Args:              oneExercise,
		ValidArgsFunction: exerciseName,
		RunE:              func(cmd *cobra.Command, args []string) error { return runWhy(cmd, args, device) },
	}
	cmd.Flags().StringVar(&device, "device", "auto",
		"`KIND` is gpu, sim, or auto: the GPU where there is one, else the simulator")
	cobra.CheckErr(cmd.RegisterFlagCompletionFunc("device", devices))
	return cmd
}

func runWhy(cmd *cobra.Command, args []string, device string) error {
	c, e, err := exerciseOf(cmd, args)
	if err != nil {
		return err
	}
	p, err := simulated(c, device, "")
	if err != nil {
		return err
	}
	q := ownCode(c, e, run.Options{Device: device, Profile: p})
	q.Preparing = preparing(cmd, false)
	answer, err := cause.Ask(cmd.Context(), q, checked)
	if text, unasked := cause.IsUnasked(err); unasked {
		return usage("%s", text)
	}
	if err != nil {
		return err // of one that was stopped main says so
	}
	s := screenOf(cmd.OutOrStdout())
	fmt.Fprint(s, answer.Text(s.wrap))
	return faulty(answer.Result)
}

// faulty ends a command as a check with that result does where it is the machine that is at fault.
func faulty(r check.Result) error {
	if n := exitStatus(r); n == exitEnvironment || n == exitFault {
		return &exitError{status: n}
	}
	return nil
}

// tellLikely tells the first step behind a report: whoever has not asked has no need of it where the report begins with
// that line.
func tellLikely(s screen, r verdict.Report, asked bool) {
	if r.Likely != nil && (asked || !begins(r)) {
		fmt.Fprintln(s)
		s.say(r.Likely.Where + " `cudalab why " + r.Exercise + "` goes on from there.")
	}
}

// begins reports whether a report's first error stands in the likely line.
func begins(r verdict.Report) bool {
	for _, c := range r.Checks {
		for _, f := range c.Findings {
			if f.Severity == verdict.Error {
				return f.Line == r.Likely.Line && filepath.Base(f.File) == filepath.Base(r.Likely.File)
			}
		}
	}
	return false
}
