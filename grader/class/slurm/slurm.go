// Package slurm has a class graded on a Slurm cluster: a job array grades a part of it in each task, and a job that
// waits for them all puts the results together.
//
// A part keeps its results in a folder of its own and always goes on with what is there. So it does not matter how
// often Slurm begins a task anew, because its node went down or somebody more important came: what comes out is the
// same.
package slurm

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
)

// Job is a class to be graded in parts.
type Job struct {
	// Grade is the command that grades a part, but for which part it is and where its results go; Merge the one that puts
	// results together, but for their folders. Both are the program's path and its arguments, as every node finds them.
	Grade, Merge []string
	Results      string // the folder for the results of all; an absolute path
	Parts        int    // how many tasks there are
	Seed         uint64 // draws the workloads of all parts
	// What each task asks Slurm for; zero values leave it to the cluster.
	Partition   string
	GPUsPerTask int
	CPUsPerTask int
	Options     []string // further options of sbatch's, "--account=cs", for every job
}

// UsageError is a reason not to submit that lies in what was asked for.
type UsageError struct {
	Message string // what is wrong and what to do, in sentences
}

func (e *UsageError) Error() string { return e.Message }

func usagef(format string, a ...any) error { return &UsageError{fmt.Sprintf(format, a...)} }

// Folder is where all that the job needs lies beside its results: a folder with the results of each part, the scripts,
// and what the tasks said.
func Folder(results string) string { return results + ".parts" }

// The files in it. A part's results are in a folder with its number.
const (
	planFile    = "plan.json"
	gradeScript = "grade.sh"
	mergeScript = "merge.sh"
	mergeLog    = "merge.log" // what the merge said
)

// plan is what all parts must have in common, also when they are gone on with.
type plan struct {
	Parts int    `json:"parts"`
	Seed  uint64 `json:"seed"`
}

// Resume fills in what an earlier run for these results has settled, the seed and the number of parts; zero values in
// the job mean those. There may be none.
func (j *Job) Resume() error {
	text, err := os.ReadFile(filepath.Join(Folder(j.Results), planFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var was plan
	if err == nil {
		err = json.Unmarshal(text, &was)
	}
	if err == nil && (was.Parts < 1 || was.Seed == 0) {
		err = fmt.Errorf("%s says neither how many parts there are nor the seed", planFile)
	}
	if err != nil {
		return usagef("What is known of the earlier run cannot be read: %v.", err)
	}
	if j.Parts != 0 && j.Parts != was.Parts || j.Seed != 0 && j.Seed != was.Seed {
		return usagef("The results in %s cannot be gone on with: they are in %d parts with seed %d. Leave out --shards and "+
			"--seed, or name another folder with -o.", j.Results, was.Parts, was.Seed)
	}
	j.Parts, j.Seed = was.Parts, was.Seed
	return nil
}

// prepare makes the folder and writes what the job consists of into it.
func (j *Job) prepare(resume bool) error {
	dir := Folder(j.Results)
	if !resume {
		for _, d := range []string{dir, j.Results} {
			if entries, err := os.ReadDir(d); err == nil && len(entries) > 0 {
				return usagef("%s is not empty: go on with what is there with --resume, or name another folder with -o.", d)
			}
		}
	}
	if err := os.MkdirAll(dir, 0o700); err != nil { // grades are not for everyone to read
		return usagef("The folder for the parts cannot be made: %v.", err)
	}
	text, err := json.Marshal(plan{j.Parts, j.Seed})
	if err != nil {
		return err
	}
	err = errors.Join(
		os.WriteFile(filepath.Join(dir, planFile), append(text, '\n'), 0o600),
		os.WriteFile(filepath.Join(dir, gradeScript), []byte(j.gradeText()), 0o700),
		os.WriteFile(filepath.Join(dir, mergeScript), []byte(j.mergeText()), 0o700),
	)
	for i := range j.Parts {
		// What says that a part is done says so of the run before.
		if removed := os.Remove(filepath.Join(dir, doneFile(strconv.Itoa(i+1)))); !errors.Is(removed, fs.ErrNotExist) {
			err = errors.Join(err, removed)
		}
	}
	return err
}

// doneFile is made once a part is done.
func doneFile(part string) string { return part + ".done" }
