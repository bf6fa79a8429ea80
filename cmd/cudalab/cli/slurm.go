package cli

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"

	"github.com/spf13/cobra"

	"cudalab/grader/class"
	"cudalab/grader/class/slurm"
	"cudalab/grader/judge/check"
	"cudalab/grader/suites/course"
)

// slurmFlags are what `grade --slurm` can be told besides.
type slurmFlags struct {
	use       bool
	shards    int
	partition string
	gpus      int
	cpus      int
	options   []string
	noWait    bool
}

// defaultShards is how many parts a class is graded in where nobody says.
const defaultShards = 4

func (s *slurmFlags) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.BoolVar(&s.use, "slurm", false, "grade on a Slurm cluster: submit a job array and put the results together")
	flags.IntVar(&s.shards, "shards", 0, fmt.Sprintf("with --slurm: grade in `N` parts, a task for each; default: %d",
		defaultShards))
	flags.StringVar(&s.partition, "partition", "", "with --slurm: the cluster's partition `NAME`")
	flags.IntVar(&s.gpus, "gpus-per-task", 0, "with --slurm: `N` GPUs for each part")
	flags.IntVar(&s.cpus, "cpus-per-task", 0, "with --slurm: `N` CPUs for each part, which then grades as many "+
		"submissions at one time")
	flags.StringArrayVar(&s.options, "sbatch", nil, "with --slurm: a further `OPTION` for sbatch, such as --account=cs; "+
		"may be given again")
	flags.BoolVar(&s.noWait, "no-wait", false, "with --slurm: submit and end, without waiting for the results")
}

// withSlurm are the flags that only --slurm has a meaning for, and againstSlurm those that it has none for.
var (
	withSlurm    = []string{"shards", "partition", "gpus-per-task", "cpus-per-task", "sbatch", "no-wait"}
	againstSlurm = []string{"shard", "student", "dry-run", "gpus"}
)

// validate refuses flags that do not go together.
func (s *slurmFlags) validate(cmd *cobra.Command) error {
	names, problem := withSlurm, "is for --slurm: give that as well, or leave it out."
	if s.use {
		names, problem = againstSlurm, "does not go with --slurm, which grades the whole class in parts: leave one of "+
			"them out."
	}
	for _, name := range names {
		if cmd.Flags().Changed(name) {
			return usage("--%s %s", name, problem)
		}
	}
	for _, name := range []string{"shards", "gpus-per-task", "cpus-per-task"} {
		if n, err := cmd.Flags().GetInt(name); err != nil || cmd.Flags().Changed(name) && n < 1 {
			return usage("--%s is a number from 1 on.", name)
		}
	}
	return nil
}

// gradeOnSlurm has the class graded on a cluster. What the flags say has been checked.
func (f *gradeFlags) gradeOnSlurm(cmd *cobra.Command, c *course.Course, o class.Options) error {
	job, err := f.slurmJob(c, o)
	if err != nil {
		return err
	}
	if f.resume {
		if err := job.Resume(); err != nil {
			return slurmError(err)
		}
	}
	job.Parts, job.Seed = cmp.Or(job.Parts, defaultShards), cmp.Or(job.Seed, 1+rand.Uint64N(check.MaxSeed))
	s, err := slurm.Submit(cmd.Context(), *job, f.resume, !f.slurm.noWait)
	if err != nil {
		return slurmError(err)
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "The seed is %d. Slurm has the parts as job %s, and as job %s what puts their results "+
		"together; their files are in %s.\n", job.Seed, s.Array, s.Merge, slurm.Folder(f.results))
	if f.slurm.noWait {
		return nil
	}
	status, err := s.Wait(cmd.Context(), func(p slurm.Progress) {
		fmt.Fprintf(cmd.ErrOrStderr(), "%d submissions graded; %d of %d parts are running, %d are waiting\n", p.Graded,
			p.Running, job.Parts, p.Waiting)
	}, cmd.OutOrStdout())
	if err != nil || status == exitPassed {
		return err
	}
	return &exitError{status: status}
}

// slurmJob is what the flags say, in paths that every node of the cluster finds.
func (f *gradeFlags) slurmJob(c *course.Course, o class.Options) (*slurm.Job, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	submissions, err := filepath.Abs(o.Submissions)
	if err == nil {
		_, err = os.Stat(submissions)
	}
	if err != nil {
		return nil, usage("the submissions cannot be read: %v.", err)
	}
	results, err := filepath.Abs(f.results)
	if err != nil {
		return nil, err
	}
	if below, err := filepath.Rel(submissions, results); err == nil && filepath.IsLocal(below) {
		return nil, usage("the folder for the results, %s, lies within the submissions and would be taken for one: name "+
			"another with -o.", f.results)
	}
	grade := []string{program, "grade", submissions, "--root", c.Root, "--timeout", f.timeout.String()}
	device := f.device
	if device == "auto" && f.slurm.gpus > 0 {
		device = "gpu" // a node whose GPU is broken must say so, not grade on the simulator
	}
	grade = append(grade, "--device", device)
	if f.profile != "" {
		path, err := filepath.Abs(f.profile)
		if err != nil {
			return nil, err
		}
		grade = append(grade, "--profile", path)
	}
	if f.roster != "" {
		path, err := filepath.Abs(f.roster)
		if err != nil {
			return nil, err
		}
		grade = append(grade, "--roster", path)
	}
	for _, e := range f.exercises {
		grade = append(grade, "--exercise", e)
	}
	if jobs := cmp.Or(f.jobs, f.slurm.cpus); jobs > 0 {
		grade = append(grade, "--jobs", strconv.Itoa(jobs))
	}
	if f.insecure {
		grade = append(grade, "--insecure")
	}
	if f.why {
		grade = append(grade, "--why")
	}
	if f.html {
		grade = append(grade, "--html")
	}
	merge := []string{program, "grade", "merge"}
	if f.policy != "" { // it is the whole class's
		path, err := filepath.Abs(f.policy)
		if err != nil {
			return nil, err
		}
		merge = append(merge, "--policy", path)
	}
	for _, name := range f.formats {
		merge = append(merge, "--format", name)
	}
	return &slurm.Job{Grade: grade, Merge: merge, Results: results, Parts: f.slurm.shards, Seed: f.seed,
		Partition:   f.slurm.partition,
		GPUsPerTask: f.slurm.gpus, CPUsPerTask: f.slurm.cpus, Options: f.slurm.options}, nil
}

// slurmError gives an error of package slurm the exit status that it has.
func slurmError(err error) error {
	var asked *slurm.UsageError
	var missing *slurm.Missing
	switch {
	case errors.As(err, &asked):
		return &exitError{exitUsage, asked.Message}
	case errors.As(err, &missing):
		return &exitError{exitEnvironment, missing.Error()}
	}
	return err
}
