package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"cudalab/grader/class"
	"cudalab/grader/class/roster"
	"cudalab/grader/judge/check"
	"cudalab/grader/judge/compile"
	"cudalab/grader/judge/run"
	"cudalab/grader/report/feedback"
	"cudalab/grader/report/pseudonyms"
	"cudalab/grader/suites/course"
)

// gradeFlags are what `grade` can be told.
type gradeFlags struct {
	results    string
	roster     string
	policy     string
	exercises  []string
	device     string
	profile    string
	gpus       string
	jobs       int
	seed       uint64
	timeout    time.Duration
	resume     bool
	students   []string
	again      []string
	shard      string
	formats    []string
	html       bool
	why        bool
	gradebook  gradebookFlags
	pseudonyms bool
	dryRun     bool
	insecure   bool
	serve      string
	slurm      slurmFlags
}

func newGrade() *cobra.Command {
	var f gradeFlags
	cmd := &cobra.Command{
		Use:   "grade SUBMISSIONS -o RESULTS",
		Short: "Grade a class: a folder or archive of submissions",
		Long: `Grade builds and checks every submission in SUBMISSIONS: a folder with a folder or archive for each student, one
archive of all, what a learning platform exports, or a single submission. --dry-run says who was found where, and what a
person has to look at. With --roster it is known who is missing.

RESULTS gets
  grades.csv            the grades, for a spreadsheet
  report.html           the class: who passed what, which mistakes were common; while grading runs it renews itself
  students/ID.json      all about one student: points, findings with their lines, messages
  timings/index.html    what was measured, and how long it took; timings/ID.json for one student
  journal.jsonl         what all of these come from, one line for each result
and with --format junit.xml, canvas.csv or moodle.csv, or a folder of the format's name with one ID.json for each student.

--html adds students/ID.html: a page to give to the student, with each finding beside its lines, and films and pictures of what
failed, which is run once more for them when all is graded. A page that is there is kept up to date without the flag.
--gradebook takes what Canvas or Moodle exported and writes what it imports. --pseudonyms adds shown/: the class's page, and with
--html the students', without anybody's name; pseudonyms.csv, beside it, tells who is who.

Whatever ends the command, --resume goes on with the journal: no finished result is lost and none is made twice. All but
the timings depends on nothing but the submissions, the seed and the device, and comes out the same another time.

Everyone's workloads are drawn from one seed. On a GPU the checks of speed have it alone, whoever else uses cudalab on
the machine, and the others share it.

A submission that cannot be graded by no fault of its own, for instance because the GPU is lost, is tried twice more and
then gets no grade rather than a zero; the exit status is 4 then, and --resume tries it again. Otherwise it is 0,
whatever the grades are.`,
		Example: `  cudalab grade submissions/ -o results
  cudalab grade submissions.zip -o results --exercise slab --exercise buddy --seed 42
  cudalab grade submissions/ -o results --html --gradebook canvas-export.csv
  cudalab grade submissions/ -o results --format gradescope --format junit
  cudalab grade submissions/ -o results --resume
  cudalab grade submissions/ -o results --student ada
  cudalab grade submissions/ -o results --slurm --shards 8 --gpus-per-task 1`,
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveDefault // submissions are files
		},
		RunE: f.grade,
	}
	flags := cmd.Flags()
	flags.StringVarP(&f.results, "output", "o", "", "the folder for the results, `RESULTS`")
	flags.StringVar(&f.roster, "roster", "", "the class's list `FILE`, comma-separated with a line of heads: name, sid, "+
		"email, login, section")
	policyFlag(cmd, &f.policy)
	flags.StringSliceVar(&f.exercises, "exercise", nil,
		"grade only the exercise `NAME`; may be given again; default: all of the course")
	flags.StringVar(&f.device, "device", "auto", "`KIND` is gpu, sim, or auto: the GPU where there is one, else the "+
		"simulator")
	profileFlag(cmd, &f.profile)
	flags.StringVar(&f.gpus, "gpus", "auto", "use the GPUs of `LIST`, such as 0,1; auto: all that there are")
	flags.IntVar(&f.jobs, "jobs", 0, "grade `N` submissions at one time; default: one for each CPU, or two for each GPU")
	flags.Uint64Var(&f.seed, "seed", 0, "draw the workloads from seed `N`, 1 or more; default: a fresh one, which is "+
		"printed")
	flags.DurationVar(&f.timeout, "timeout", class.DefaultTimeout,
		"stop a submission that takes longer than `TIME` in all")
	flags.BoolVar(&f.resume, "resume", false, "go on with the results in RESULTS")
	flags.StringSliceVar(&f.students, "student", nil, "grade only the student `ID`, also again; may be given again")
	flags.StringSliceVar(&f.again, "again", nil, "with --resume, also grade again whoever has a result like `WHAT`: "+
		"crashed, slab, or slab=timeout")
	flags.StringVar(&f.shard, "shard", "", "grade only part `I/N` of the class, such as 1/4; see `cudalab grade merge`")
	flags.StringSliceVar(&f.formats, "format", nil, "write the results as `FORMAT` as well: "+strings.Join(formatNames(),
		", "))
	flags.BoolVar(&f.html, "html", false, "write a page for each student: students/ID.html")
	flags.BoolVar(&f.why, "why", false, "look in what fails for the line where one change is enough: the results "+
		"have it, and report.html a column")
	f.gradebook.register(cmd)
	flags.BoolVar(&f.pseudonyms, "pseudonyms", false, "write shown/, whose pages have pseudonyms and no names")
	flags.BoolVar(&f.dryRun, "dry-run", false, "say what would be graded and how long that would take, and write nothing")
	flags.BoolVar(&f.insecure, "insecure", false, "grade even where this machine cannot confine the submissions' code")
	flags.StringVar(&f.serve, "serve", "", "while it runs serve report.html at `ADDRESS`, such as :8080, under a secret "+
		"path")
	cobra.CheckErr(cmd.RegisterFlagCompletionFunc("device", devices))
	cobra.CheckErr(cmd.RegisterFlagCompletionFunc("exercise", exerciseNames))
	cobra.CheckErr(cmd.RegisterFlagCompletionFunc("format", func(*cobra.Command, []string, string) ([]string,
		cobra.ShellCompDirective) {
		return formatNames(), cobra.ShellCompDirectiveNoFileComp
	}))
	f.slurm.register(cmd)
	cmd.AddCommand(newGradeMerge(), newGradeDiff(), newGradeSimilar())
	return cmd
}

func policyFlag(cmd *cobra.Command, file *string) {
	cmd.Flags().StringVar(file, "policy", "", "make the grades as `FILE` says, a grading.toml: weights, deadline, "+
		"extensions, adjustments")
}

func formatNames() []string { return slices.Sorted(maps.Keys(formats)) }

func (f *gradeFlags) grade(cmd *cobra.Command, args []string) error {
	if len(args) != 1 {
		return usage("name the folder or archive that holds the submissions, and one only: cudalab grade SUBMISSIONS -o " +
			"RESULTS.")
	}
	c, err := locateCourse(cmd)
	if err != nil {
		return err
	}
	o, err := f.options(cmd, c)
	if err != nil {
		return err
	}
	o.Submissions = args[0]
	if err := f.slurm.validate(cmd); err != nil {
		return err
	}
	if f.slurm.use {
		return f.gradeOnSlurm(cmd, c, o)
	}
	view := newProgressView(screenOf(cmd.ErrOrStderr()))
	o.Progress, o.Say = view.progress, view.say
	if f.dryRun {
		plan, err := class.DryRun(cmd.Context(), o)
		if err != nil {
			return gradeError(err)
		}
		showPlan(cmd.OutOrStdout(), plan)
		return nil
	}
	if f.serve != "" {
		stop, err := servePage(cmd, f.results, f.serve)
		if err != nil {
			return err
		}
		defer stop()
	}
	graded, err := class.Grade(cmd.Context(), o)
	view.close()
	if errors.Is(err, context.Canceled) && graded != nil {
		view.say(fmt.Sprintf("Results so far: %d; go on with --resume.", len(graded.Students)))
		return err
	}
	if err != nil {
		return gradeError(err)
	}
	for _, sentence := range f.gradebook.said(f.results) {
		view.say(sentence)
	}
	return summarise(cmd.OutOrStdout(), graded, f.results)
}

// options are what the flags say.
func (f *gradeFlags) options(cmd *cobra.Command, c *course.Course) (class.Options, error) {
	o := class.Options{Root: c.Root, Results: f.results, Device: f.device, Jobs: f.jobs, Seed: f.seed, Timeout: f.timeout,
		Insecure: f.insecure, Why: f.why, Policy: f.policy, Resume: f.resume, Only: f.students, Again: f.again,
		Exercises: c.Exercises}
	switch {
	case f.serve != "" && (f.dryRun || f.slurm.use):
		return o, usage("--serve shows a grading while this machine is at it: leave it out with --dry-run and --slurm.")
	case len(f.again) > 0 && !f.resume:
		return o, usage("--again is about results that are there: give --resume as well.")
	case f.results == "" && !f.dryRun:
		return o, usage("name the folder for the results with -o.")
	case cmd.Flags().Changed("seed") && (f.seed == 0 || f.seed > check.MaxSeed):
		return o, usage("a seed is a number from 1 to %d.", uint64(check.MaxSeed))
	case f.jobs < 0 || cmd.Flags().Changed("jobs") && f.jobs == 0:
		return o, usage("--jobs is how many submissions are graded at one time: 1 or more.")
	case f.timeout <= 0:
		return o, usage("--timeout is how long one submission may take, such as 10m: more than nothing.")
	}
	if err := validDevice(f.device); err != nil {
		return o, err
	}
	var err error
	if o.Profile, err = simulated(c, f.device, f.profile); err != nil {
		return o, err
	}
	if f.gpus != "auto" {
		if o.GPUs = class.SplitGPUs(f.gpus); len(o.GPUs) == 0 {
			return o, usage("--gpus lists the GPUs to use, such as 0,1, or is auto.")
		}
	}
	if len(f.exercises) > 0 {
		if o.Exercises, err = inOrder(c, f.exercises); err != nil {
			return o, err
		}
	}
	if o.Writers, err = writers(f.formats); err != nil {
		return o, err
	}
	gradebook, err := f.gradebook.writer()
	if err != nil {
		return o, gradeError(err)
	}
	if gradebook != nil {
		o.Writers = append(o.Writers, gradebook)
	}
	o.Pages, o.Live = []class.Page{feedback.Page(f.html)}, classPage
	if f.pseudonyms || pseudonyms.Exists(f.results) {
		key := pseudonyms.Open(f.results)
		o.Writers, o.Pages = append(o.Writers, key.Write), append(o.Pages, key.Page(f.html))
	}
	if f.shard != "" {
		if o.Shard, err = parseShard(f.shard); err != nil {
			return o, err
		}
	}
	if f.roster != "" {
		if o.Roster, err = roster.Read(f.roster); err != nil {
			return o, usage("%v", err)
		}
	}
	return o, nil
}

// inOrder are the exercises that were named, each once and in the course's order.
func inOrder(c *course.Course, names []string) ([]course.Exercise, error) {
	wanted := map[string]bool{}
	for _, name := range names {
		e, err := find(c, name)
		if err != nil {
			return nil, err
		}
		wanted[e.Name] = true
	}
	return slices.DeleteFunc(slices.Clone(c.Exercises), func(e course.Exercise) bool { return !wanted[e.Name] }), nil
}

func writers(names []string) ([]class.Writer, error) {
	all := slices.Clone(always)
	for _, name := range slices.Compact(slices.Sorted(slices.Values(names))) {
		w, ok := formats[name]
		if !ok {
			return nil, usage("there is no format %q: choose among %s.", name, strings.Join(formatNames(), ", "))
		}
		all = append(all, w)
	}
	return all, nil
}

func parseShard(text string) (class.Shard, error) {
	part, of, ok := strings.Cut(text, "/")
	i, err1 := strconv.Atoi(part)
	n, err2 := strconv.Atoi(of)
	if !ok || err1 != nil || err2 != nil || i < 1 || i > n {
		return class.Shard{}, usage("--shard is one of so many parts, the first is 1: 1/4, 2/4, 3/4 and 4/4. %q is none.",
			text)
	}
	return class.Shard{Index: i, Of: n}, nil
}

// gradeError gives an error of package class the exit status that it has.
func gradeError(err error) error {
	var asked *class.UsageError
	var environment *compile.EnvironmentError
	var missing *run.NoDevice
	switch {
	case errors.As(err, &asked):
		return &exitError{exitUsage, asked.Message}
	case errors.As(err, &environment), errors.As(err, &missing):
		return &exitError{exitEnvironment, err.Error()}
	}
	return err
}
