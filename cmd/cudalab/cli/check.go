package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"cudalab/grader/desk/cause"
	"cudalab/grader/judge/check"
	"cudalab/grader/judge/compile"
	"cudalab/grader/judge/run"
	"cudalab/grader/suite/verdict"
	"cudalab/grader/suites/course"
)

// checkFlags are what `check` can be told.
type checkFlags struct {
	all      bool
	solution bool
	dir      string
	device   string
	profile  string
	format   string
	json     bool
	terms    string
	html     string
	trace    string
	seed     uint64
	noTiming bool
	why      bool
}

func newCheck() *cobra.Command {
	var f checkFlags
	cmd := &cobra.Command{
		Use:   "check [NAME]...",
		Short: "Check exercises and say what is wrong, where and why",
		Long: `Check builds each exercise, runs its suite on the device and reports what it found. Without a name it is for the exercise
that you are at; its number in ` + "`cudalab list`" + ` is a name too.

--format says how the reports are written: text, for people, is the default. json is one JSON document for each exercise, and
--json is short for it. line is what compilers write, FILE:LINE:COLUMN: SEVERITY: TEXT [RULE], which editors and CI can read;
a pass without remarks writes nothing. sarif is one log of all exercises in SARIF 2.1.0, for code scanning.

--as cuda says everything in the terms of CUDA C++, as its manual and C++ programs have them: cudaMallocAsync(&p, size, stream)
for cuda.MallocAsync(size, stream). Your own lines stay as they are.

--html writes the report as one HTML file that needs nothing else: the findings beside your source, and pictures of what
your streams and memory did, with the faults marked in them. With several exercises each gets a file of its own:
FILE page.html becomes page-slab.html and so on.

--trace writes every CUDA call and what the device did for it in the Chrome trace event format, for
https://ui.perfetto.dev: each case is a process, the host and each stream a thread of it. A call's arguments name its
stream, event and allocation (numbered from 1 in each case), what it touched, the answer, and the source lines it came
from, innermost first.

For either the suite runs your code once more, with an event before and after each operation to learn its times.
Nothing is judged by that run.

On a terminal check goes on behind a verdict, for ten seconds at most, and looks for the line where one change is
enough, if that is not the line that the report begins with. --why has it look elsewhere too, and every format then has
the line; JSON calls it "likely". The exit status is the verdict's either way. cudalab why tells more.`,
		Example: `  cudalab check async-pipeline
  cudalab check async-pipeline --device sim --seed 42
  cudalab check --all --format sarif >cudalab.sarif`,
		ValidArgsFunction: exerciseNames,
		RunE:              f.check,
	}
	flags := cmd.Flags()
	flags.BoolVar(&f.all, "all", false, "check every exercise of the course")
	flags.BoolVar(&f.solution, "solution", false, "check the reference solution instead of your code")
	flags.StringVar(&f.dir, "dir", "", "check the code in the folder `DIR` instead of the exercise's own")
	flags.StringVar(&f.device, "device", "auto", "`KIND` is gpu, sim, or auto: the GPU where there is one, else the "+
		"simulator")
	profileFlag(cmd, &f.profile)
	formatFlags(cmd, &f.format, &f.json)
	termsFlag(cmd, &f.terms)
	flags.StringVar(&f.html, "html", "", "write the report with pictures of streams and memory to `FILE`")
	flags.StringVar(&f.trace, "trace", "", "write all calls and device work to `FILE`, for Perfetto")
	flags.Uint64Var(&f.seed, "seed", 0, "draw the workloads from seed `N`, 1 or more; default: the seed that failed "+
		"last, else a fresh one")
	flags.BoolVar(&f.noTiming, "no-timing", false, "leave out the checks of speed")
	flags.BoolVar(&f.why, "why", false, "look for the line where one change is enough, on a terminal or not")
	cobra.CheckErr(cmd.RegisterFlagCompletionFunc("device", devices))
	return cmd
}

func (f *checkFlags) check(cmd *cobra.Command, names []string) error {
	c, err := openCourse(cmd)
	if err != nil {
		return err
	}
	if err := f.validate(cmd, names); err != nil {
		return err
	}
	if err := validTerms(f.terms); err != nil {
		return err
	}
	if f.format, err = chosenFormat(cmd, f.format, f.json); err != nil {
		return err
	}
	exercises, err := chosen(c, names, f.all)
	if err != nil {
		return err
	}
	if f.solution {
		if err := noSolutions(c, exercises[0], "there is none to check"); err != nil {
			return err
		}
	}
	p, err := simulated(c, f.device, f.profile)
	if err != nil {
		return err
	}
	pictures, err := openPictures(f.html, f.trace, exercises)
	if err != nil {
		return err
	}
	out := reportWriters[f.format](cmd.OutOrStdout())
	worst := exitPassed
	for i, e := range exercises {
		q := check.Request{
			Course: compile.Course{Root: c.Root, Preparing: preparing(cmd, f.format != textFormat)},
			Options: run.Options{Device: f.device, Profile: p, Seed: f.seed, NoTiming: f.noTiming, Given: f.html != "",
				Pictures: pictures.wanted()},
			Code: f.code(c, e),
		}
		r := inTerms(f.terms, checked(cmd.Context(), q))
		if cmd.Context().Err() != nil {
			break
		}
		s := screenOf(cmd.OutOrStdout())
		behind := f.format == textFormat && s.width > 0 && len(exercises) == 1 && os.Getenv("CI") == ""
		if f.why && !behind {
			r.Report.Likely = cause.Likely(cmd.Context(), q, r, true)
		}
		if err := out.add(r, mainFile(c, q.Code[0])); err != nil {
			return err
		}
		if behind { // the verdict first
			r.Report.Likely = cause.Likely(cmd.Context(), q, r, f.why)
		}
		if f.format == textFormat {
			tellLikely(s, r.Report, f.why)
		}
		if fault := (*check.Panic)(nil); errors.As(r.Err, &fault) {
			fmt.Fprintf(cmd.ErrOrStderr(), "cudalab: %v\n\n%s", fault, fault.Stack)
		}
		if err := pictures.add(i, e.Title, r); err != nil {
			return err
		}
		worst = max(worst, exitStatus(r))
	}
	if err := errors.Join(out.close(), pictures.close()); err != nil {
		return err
	}
	if worst != exitPassed {
		return &exitError{status: worst}
	}
	return nil
}

func (f *checkFlags) validate(cmd *cobra.Command, names []string) error {
	switch {
	case f.all && len(names) > 0:
		return usage("--all checks every exercise: leave out either --all or the names.")
	case f.dir != "" && f.solution:
		return usage("--dir and --solution both say which code to check: leave one out.")
	case f.dir != "" && len(names) != 1:
		return usage("--dir is the folder of one exercise: name one with it.")
	case cmd.Flags().Changed("seed") && (f.seed == 0 || f.seed > check.MaxSeed):
		return usage("a seed is a number from 1 to %d.", uint64(check.MaxSeed))
	}
	if err := validDevice(f.device); err != nil || f.dir == "" {
		return err
	}
	if err := course.Exists(f.dir); err != nil {
		return usage("%v. --dir names the folder with the exercise's .go files.", err)
	}
	return nil
}

// code is what the flags say of which code of an exercise is meant.
func (f *checkFlags) code(c *course.Course, e course.Exercise) []check.Code {
	if f.solution {
		return []check.Code{{Exercise: e, Dir: course.Relative(filepath.Join(c.Root, e.SolutionFolder()))}}
	}
	return []check.Code{{Exercise: e, Dir: f.dir}}
}

// chosen are the exercises that were named, all of them, or the one that the student is at.
func chosen(c *course.Course, names []string, all bool) ([]course.Exercise, error) {
	if all {
		return c.Exercises, nil
	}
	if len(names) == 0 {
		e, err := findOrCurrent(c, nil)
		return []course.Exercise{e}, err
	}
	var found []course.Exercise
	for _, name := range names {
		e, err := find(c, name)
		if err != nil {
			return nil, err
		}
		found = append(found, e)
	}
	return found, nil
}

// preparing tells people on standard error why their first check on a machine takes long; programs wait in silence.
func preparing(cmd *cobra.Command, silent bool) func() {
	if silent {
		return nil
	}
	return func() { screenOf(cmd.ErrOrStderr()).say(compile.Preparing()) }
}

// exitStatus is what a script learns of a result.
func exitStatus(r check.Result) int {
	var environment *compile.EnvironmentError
	var missing *run.NoDevice
	var busy *run.Busy
	switch {
	case r.Report.Status == verdict.Passed:
		return exitPassed
	case r.Report.Status != verdict.Errored:
		return exitFailed
	case errors.As(r.Err, &environment), errors.As(r.Err, &missing), errors.As(r.Err, &busy):
		return exitEnvironment
	}
	return exitFault
}
