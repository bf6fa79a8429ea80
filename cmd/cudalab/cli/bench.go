package cli

import (
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"cudalab/grader/judge/check"
	"cudalab/grader/judge/compile"
	"cudalab/grader/judge/run"
	"cudalab/grader/report"
	"cudalab/grader/report/chart"
	"cudalab/grader/suite/verdict"
	"cudalab/grader/suites/course"
)

// benchFlags are what `bench` can be told.
type benchFlags struct {
	solution bool
	dir      string
	device   string
	profile  string
	json     bool
	svg      string
}

func newBench() *cobra.Command {
	var f benchFlags
	cmd := &cobra.Command{
		Use:   "bench [NAME...]",
		Short: "Measure your code beside the solution, the baseline and CUDA's own calls",
		Long: `Bench measures your code, the solution and what the lesson argues against side by side, and prints the medians with
their 99 % intervals. Without a name it measures every exercise. Contenders take turns in random order, with everything
warmed up before. Code that does not pass its checks is left out, with a sentence that says so, and the exit status is 1.

Allocators are compared with cuda.MallocAsync and cuda.Malloc: with one size, with random sizes and many blocks out, with
two streams in turns, from empty to all blocks handed out, and by the bytes that they keep on the host for a block. The
lessons on streams are compared in the workload that their checks time.

Without a GPU the figures are of the simulated device: CUDA calls take the time that they take on the GPU that it is like,
an NVIDIA H200 unless there is a profile of another, and what makes none is timed by the CPU time of this machine.

--json writes the figures of each exercise as one JSON document, one after another.

--svg draws them as bars on a logarithmic axis, in one file that needs nothing else. With several exercises each gets
a file of its own: FILE bench.svg becomes bench-slab.svg and so on.`,
		Example: `  cudalab bench slab
  cudalab bench slab buddy --svg bench.svg
  cudalab bench --solution --json`,
		ValidArgsFunction: exerciseNames,
		RunE:              func(cmd *cobra.Command, args []string) error { return runBench(cmd, args, f) },
	}
	flags := cmd.Flags()
	flags.BoolVar(&f.solution, "solution", false, "measure without your code")
	flags.StringVar(&f.dir, "dir", "", "measure the code in the folder `DIR` instead of the exercise's own")
	flags.StringVar(&f.device, "device", "auto", "`KIND` is gpu, sim, or auto: the GPU where there is one, else the "+
		"simulator")
	profileFlag(cmd, &f.profile)
	flags.BoolVar(&f.json, "json", false, "write the figures as JSON")
	flags.StringVar(&f.svg, "svg", "", "draw the figures to `FILE`")
	cobra.CheckErr(cmd.RegisterFlagCompletionFunc("device", devices))
	return cmd
}

func runBench(cmd *cobra.Command, names []string, f benchFlags) error {
	c, err := openCourse(cmd)
	if err != nil {
		return err
	}
	if err := f.validate(names); err != nil {
		return err
	}
	exercises, err := chosen(c, names, len(names) == 0)
	if err != nil {
		return err
	}
	if err := noSolutions(c, exercises[0], "there is none to measure beside your code"); err != nil {
		return err
	}
	p, err := simulated(c, f.device, f.profile)
	if err != nil {
		return err
	}
	charts, err := openCharts(f.svg, exercises)
	if err != nil {
		return err
	}
	worst := exitPassed
	for i, e := range exercises {
		if i > 0 && !f.json {
			fmt.Fprintln(cmd.OutOrStdout())
		}
		q := check.Request{
			Course:  compile.Course{Root: c.Root, Preparing: preparing(cmd, f.json)},
			Options: run.Options{Device: f.device, Profile: p},
			Code:    []check.Code{{Exercise: e, Dir: f.dir}},
		}
		if f.dir == "" {
			q.Seed = failingSeed(c.Root, e)
		}
		r := check.Bench(cmd.Context(), q, f.solution)
		if cmd.Context().Err() != nil {
			break
		}
		if err := showBench(cmd.OutOrStdout(), r.Report, f.json); err != nil {
			return err
		}
		if len(charts) > 0 {
			err := finish(charts[i], func(w io.Writer) error { return chart.Write(w, r.Report) })
			if err := unwritten("chart", err); err != nil {
				return err
			}
		}
		worst = max(worst, benchStatus(r))
	}
	if worst != exitPassed {
		return &exitError{status: worst}
	}
	return nil
}

func (f *benchFlags) validate(names []string) error {
	if f.dir != "" && f.solution {
		return usage("--dir says which code to measure and --solution that none is: leave one out.")
	}
	if f.dir != "" && len(names) != 1 {
		return usage("--dir is the folder of one exercise: name one with it.")
	}
	if err := validDevice(f.device); err != nil || f.dir == "" {
		return err
	}
	if err := course.Exists(f.dir); err != nil {
		return usage("%v. --dir names the folder with the exercise's .go files.", err)
	}
	return nil
}

// openCharts makes the files before anything is measured, so that a name that cannot be written is noticed at once.
func openCharts(name string, exercises []course.Exercise) ([]*os.File, error) {
	if name == "" {
		return nil, nil
	}
	var files []*os.File
	for _, e := range exercises {
		f, err := os.Create(pageName(name, e.Name, len(exercises)))
		if err != nil {
			return nil, unwritten("chart", err)
		}
		files = append(files, f)
	}
	return files, nil
}

func showBench(w io.Writer, r verdict.BenchReport, asJSON bool) error {
	if asJSON {
		return report.BenchJSON(w, r)
	}
	s := screenOf(w)
	return report.Bench(s, r, report.Options{Color: s.color, Width: s.width, Links: s.links, Source: sourceLine})
}

// benchStatus is what a script learns of a result.
func benchStatus(r check.BenchResult) int {
	return exitStatus(check.Result{Result: run.Result{Report: verdict.Report{Status: r.Report.Status}, Err: r.Err}})
}
