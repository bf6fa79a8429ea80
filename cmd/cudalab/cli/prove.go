package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"cudalab/grader/judge/check"
	"cudalab/grader/judge/compile"
	"cudalab/grader/judge/prove"
	"cudalab/grader/judge/run"
	"cudalab/grader/report"
	"cudalab/grader/suite/verdict"
)

func newProve() *cobra.Command {
	var f checkFlags
	var film bool
	cmd := &cobra.Command{
		Use:   "prove [NAME]",
		Short: "Show that no order goes wrong that CUDA may choose, or one that does",
		Long: `Prove runs the exercise's cases, without timing, and looks at what CUDA could have done instead. The streams of a program
leave CUDA a choice: what is not in order may come in any order. Prove says how many orders there are. If each of
them gives the same results it says why; if one does not it shows it, step by step, and what is wrong in it.

A program that ran well has run well in one order. This is about the others. Prove ends with the status that
cudalab check --no-timing ends with. Without a name it is about the exercise that
you are at.`,
		Example: `  cudalab prove cross-stream-events
  cudalab prove cross-stream-events --dir ~/mine
  cudalab prove cross-stream-events --film
  cudalab prove async-pipeline --solution`,
		Args:              oneExercise,
		ValidArgsFunction: exerciseName,
		RunE:              func(cmd *cobra.Command, args []string) error { return runProve(cmd, args, f, film) },
	}
	flags := cmd.Flags()
	flags.BoolVar(&f.solution, "solution", false, "the reference solution instead of your code")
	flags.StringVar(&f.dir, "dir", "", "the code in the folder `DIR` instead of the exercise's own")
	flags.StringVar(&f.device, "device", "auto", "`KIND` is gpu, sim, or auto: the GPU where there is one, else the "+
		"simulator")
	flags.Uint64Var(&f.seed, "seed", 0, "draw the workloads from seed `N`, 1 or more; default: a fresh one")
	flags.BoolVar(&film, "film", false, "show the first order that goes wrong frame by frame: the arrow keys go back and "+
		"forth, q ends it")
	cobra.CheckErr(cmd.RegisterFlagCompletionFunc("device", devices))
	return cmd
}

func runProve(cmd *cobra.Command, args []string, f checkFlags, film bool) error {
	c, err := openCourse(cmd)
	if err != nil {
		return err
	}
	if err := f.validate(cmd, args); err != nil {
		return err
	}
	e, err := findOrCurrent(c, args)
	if err != nil {
		return err
	}
	if f.solution {
		if err := noSolutions(c, e, "there is none to prove"); err != nil {
			return err
		}
	}
	r := check.Exercise(cmd.Context(), check.Request{
		Course:  compile.Course{Root: c.Root, Preparing: preparing(cmd, false)},
		Options: run.Options{Device: f.device, Seed: f.seed, NoTiming: true, Given: true},
		Code:    f.code(c, e),
	})
	if cmd.Context().Err() != nil {
		return &exitError{status: exitFault}
	}
	var proof *prove.Proof
	if r.Place != nil && !slices.Contains([]verdict.Status{verdict.Errored, verdict.NotStarted}, r.Report.Status) {
		proof = prove.Of(r)
	}
	if ran := r.Report.Status == verdict.Passed || r.Report.Status == verdict.Failed; proof == nil || !ran &&
		len(proof.Faults) == 0 {
		// Nothing came to its end: what is in the way comes first.
		if err := show(cmd.OutOrStdout(), r.Report); err != nil {
			return err
		}
		return &exitError{status: exitStatus(r)}
	}
	s := screenOf(cmd.OutOrStdout())
	o := report.Options{Color: s.color, Width: s.width, Links: s.links, Source: sourceLine}
	if film && len(proof.Faults) > 0 {
		if err := showFilm(cmd, s, &proof.Faults[0], o); err != nil {
			return err
		}
		return &exitError{status: exitStatus(r)}
	}
	var b strings.Builder
	if err := report.Orders(&b, proof, o); err != nil {
		return err
	}
	if _, err := s.Write([]byte(b.String())); err != nil {
		return err
	}
	if len(proof.Differs) > 0 {
		return &exitError{status: exitFault}
	}
	if status := exitStatus(r); status != exitPassed {
		return &exitError{status: status}
	}
	return nil
}
