package slurm

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// submitted is a job that Slurm has taken.
type submitted struct {
	Array, Merge string // the jobs' numbers

	job  Job
	wait *exec.Cmd // ends with the merge; nil where nobody waits
}

// Missing is the error where this machine has no Slurm.
type Missing struct{ Err error }

func (e *Missing) Error() string {
	return fmt.Sprintf("Slurm's sbatch was not found (%v). Run this where you submit jobs from, usually a login node of "+
		"the cluster.", e.Err)
}

func (e *Missing) Unwrap() error { return e.Err }

// Submit writes the scripts and hands them to Slurm; with resume it goes on with the results that are there. With wait
// the caller has to call Wait. Errors are a *UsageError, a *Missing, or what sbatch says.
func Submit(ctx context.Context, j Job, resume, wait bool) (*submitted, error) {
	if _, err := exec.LookPath("sbatch"); err != nil {
		return nil, &Missing{err}
	}
	if err := j.prepare(resume); err != nil {
		return nil, err
	}
	s := &submitted{job: j}
	var err error
	if s.Array, err = s.sbatch(ctx, false, gradeScript); err != nil {
		return nil, err
	}
	// afterany: a part that failed is for the merge to tell.
	if s.Merge, err = s.sbatch(ctx, wait, "--dependency=afterany:"+s.Array, mergeScript); err != nil {
		return nil, errors.Join(err, s.cancel())
	}
	return s, nil
}

// sbatch submits a job and answers its number. With wait the command goes on until the job has ended.
func (s *submitted) sbatch(ctx context.Context, wait bool, args ...string) (number string, err error) {
	args = append([]string{"--parsable"}, args...)
	if wait {
		args = append([]string{"--wait"}, args...)
	}
	cmd := exec.CommandContext(ctx, "sbatch", args...)
	cmd.Dir = Folder(s.job.Results)
	var complaint bytes.Buffer
	cmd.Stderr = &complaint
	said, err := cmd.StdoutPipe()
	if err != nil {
		return "", err
	}
	if err := cmd.Start(); err != nil {
		return "", &Missing{err}
	}
	line, err := bufio.NewReader(said).ReadString('\n')
	number, taken := jobNumber(line)
	if err == nil && taken && wait {
		s.wait = cmd
		return number, nil
	}
	if ended := cmd.Wait(); ended != nil || !taken {
		return "", usagef("Slurm did not take the job: %s", strings.TrimSpace(line+complaint.String()))
	}
	return number, nil
}

// jobNumber is the job's number in what sbatch --parsable prints: "12", or "12;cluster".
func jobNumber(said string) (number string, ok bool) {
	number, _, _ = strings.Cut(strings.TrimSpace(said), ";")
	_, err := strconv.ParseUint(number, 10, 32) // slurm_job_id is one of 32 bits
	return number, err == nil
}

// cancel takes the jobs back.
func (s *submitted) cancel() error {
	numbers := []string{s.Array}
	if s.Merge != "" {
		numbers = append(numbers, s.Merge)
	}
	said, err := exec.Command("scancel", numbers...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("the jobs %s could not be cancelled: %w: %s", strings.Join(numbers, " and "), err, said)
	}
	return nil
}

// Progress is how far the parts have come.
type Progress struct {
	Graded           int // submissions
	Running, Waiting int // parts
}

// lookEvery is how often Wait looks how far the parts have come.
const lookEvery = 10 * time.Second

// Wait waits until the results are put together, and tells progress now and then. It answers the exit status of the
// merge and copies what that said to out. Where the context is done first it takes the jobs back.
func (s *submitted) Wait(ctx context.Context, progress func(Progress), out io.Writer) (status int, err error) {
	ended := make(chan error, 1)
	go func() { ended <- s.wait.Wait() }()
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for waiting := true; waiting; {
		select {
		case <-ctx.Done():
			return 0, errors.Join(ctx.Err(), s.cancel())
		case <-tick.C:
			progress(s.look(ctx))
		case err = <-ended:
			waiting = false
		}
	}
	if ctx.Err() != nil {
		return 0, errors.Join(ctx.Err(), s.cancel())
	}
	said, readErr := os.ReadFile(filepath.Join(Folder(s.job.Results), mergeLog))
	if readErr != nil {
		return 0, fmt.Errorf("the job %s that puts the results together left no word: %w", s.Merge, errors.Join(err, readErr))
	}
	if _, err := out.Write(said); err != nil {
		return 0, err
	}
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		return 0, err
	}
	return s.wait.ProcessState.ExitCode(), nil
}

// look asks Slurm for the parts and counts the results. Where Slurm does not answer it may the next time.
func (s *submitted) look(ctx context.Context) (p Progress) {
	said, _ := exec.CommandContext(ctx, "squeue", "--noheader", "--array", "--format=%t", "--jobs="+s.Array).Output()
	p.Running, p.Waiting = countStates(string(said))
	graded, _ := filepath.Glob(filepath.Join(globQuoted(Folder(s.job.Results)), "[0-9]*", "students", "*.json"))
	p.Graded = len(graded)
	return p
}

// countStates counts the compact states that squeue prints (squeue's manual, "JOB STATE CODES").
func countStates(said string) (running, waiting int) {
	for _, state := range strings.Fields(said) {
		switch state {
		case "R", "CG":
			running++
		case "PD":
			waiting++
		}
	}
	return running, waiting
}

// globQuoted is a path as part of a pattern.
func globQuoted(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}
