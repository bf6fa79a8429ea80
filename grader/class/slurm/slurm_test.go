package slurm_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cudalab/grader/class/slurm"
	"cudalab/grader/proof/corpus"
)

// class is a program of cudalab's and submissions for it to grade.
type class struct {
	cudalab     string
	submissions string
	students    int
}

const seed = 42

// newClass builds cudalab and hands in programs of a corpus, right and wrong ones.
func newClass(t *testing.T) class {
	t.Helper()
	dir := t.TempDir()
	c := class{cudalab: filepath.Join(dir, "cudalab"), submissions: filepath.Join(dir, "handed in")}
	build := exec.Command("go", "build", "-o", c.cudalab, "cudalab/cmd/cudalab")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	said, err := build.CombinedOutput()
	require.NoError(t, err, "%s", said)
	programs, err := corpus.Programs(root(), "asyncpipeline")
	require.NoError(t, err)
	for i, p := range programs {
		if i%2 > 0 || p.Name == "" || strings.Contains(p.Name, "forged") {
			continue
		}
		folder := filepath.Join(c.submissions, p.Name, "asyncpipeline")
		require.NoError(t, os.MkdirAll(folder, 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(folder, "asyncpipeline.go"), []byte(p.Text), 0o644))
		c.students++
	}
	require.Greater(t, c.students, 10)
	return c
}

// command grades the class, but for where the results go.
func (c class) command() []string {
	return []string{c.cudalab, "grade", c.submissions, "--root", root(), "--device", "sim", "--exercise", "async-pipeline",
		"--jobs", "1"}
}

func root() string {
	dir, _ := filepath.Abs("../../..")
	return dir
}

// job is the class in two parts, each of which takes the one GPU of a node.
func (c class) job(results string) slurm.Job {
	return slurm.Job{Grade: c.command(), Merge: []string{c.cudalab, "grade", "merge"}, Results: results, Parts: 2,
		Seed:      seed,
		Partition: "grading", GPUsPerTask: 1, Options: []string{"--comment=a class"}}
}

// alone grades the class on this machine without Slurm.
func (c class) alone(t *testing.T) string {
	t.Helper()
	results := filepath.Join(t.TempDir(), "results")
	args := append(c.command()[1:], "-o", results, "--seed", strconv.Itoa(seed))
	said, err := exec.Command(c.cudalab, args...).CombinedOutput()
	require.NoError(t, err, "%s", said)
	return results
}

// settled are the files of a folder of results that are the same another time, by name.
func settled(t *testing.T, results string) map[string]string {
	t.Helper()
	found := map[string]string{}
	for _, pattern := range []string{"students/*", "grades.csv"} {
		files, err := filepath.Glob(filepath.Join(results, pattern))
		require.NoError(t, err)
		for _, file := range files {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			found[filepath.Base(file)] = string(text)
		}
	}
	return found
}

func TestAKilledNode(t *testing.T) {
	cluster := startCluster(t)
	class := newClass(t)
	ctx := context.Background()
	results := filepath.Join(t.TempDir(), "it's 100% done")
	s, err := slurm.Submit(ctx, class.job(results), false, true)
	require.NoError(t, err)

	// n2 loses its power when it has some results and not yet all.
	var part string
	cluster.await(t, "results on n2", func() bool {
		if part == "" {
			n, running := tasks(ctx, s.Array)["n2"]
			if !running {
				return false
			}
			part = strconv.Itoa(n)
		}
		done, err := filepath.Glob(filepath.Join(glob(slurm.Folder(results)), part, "students", "*.json"))
		require.NoError(t, err)
		return len(done) >= 2
	})
	cluster.killNode("n2")
	require.NoFileExists(t, filepath.Join(slurm.Folder(results), part+".done"), "it was killed before it was done")
	began := journal(t, results, part)

	var said bytes.Buffer
	status, err := s.Wait(ctx, func(slurm.Progress) {}, &said)
	require.NoError(t, err)
	require.Equal(t, 0, status, said.String())
	require.Contains(t, said.String(), fmt.Sprintf("%d of %[1]d submissions", class.students))
	require.Contains(t, said.String(), "Results: "+results)
	require.Truef(t, strings.HasPrefix(journal(t, results, part), began), "the part goes on with the results that it had")

	want, got := settled(t, class.alone(t)), settled(t, results)
	require.Len(t, want, class.students+1)
	require.Equal(t, want, got)
}

// journal is a part's, as far as its lines are whole.
func journal(t *testing.T, results, part string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(slurm.Folder(results), part, "journal.jsonl"))
	require.NoError(t, err)
	return string(text[:bytes.LastIndexByte(text, '\n')+1])
}

func glob(path string) string {
	return strings.NewReplacer(`[`, `\[`, `*`, `\*`, `?`, `\?`).Replace(path)
}

// TestParts is what becomes of parts that fail, and how they are gone on with. Its parts are shell scripts.
func TestParts(t *testing.T) {
	startCluster(t)
	ctx := context.Background()
	results := filepath.Join(t.TempDir(), "results")
	good := filepath.Join(t.TempDir(), "good")
	// The arguments are: --seed 7 --shard I/2 --resume -o I.
	job := slurm.Job{
		Grade: []string{"/bin/sh", "-c", `mkdir -p "$6"; echo "GPU $CUDA_VISIBLE_DEVICES, seed $1, part $3" >> "$6"/said
			[ "$6" = 1 ] || [ -e "` + good + `" ]`},
		Merge:   []string{"/bin/sh", "-c", `mkdir "$3"; cat "$0"/said "$1"/said | tee "$3"/said; exit 4`},
		Results: results, Parts: 2, Seed: 7, GPUsPerTask: 1,
	}
	run := func(resume bool) (status int, said string) {
		s, err := slurm.Submit(ctx, job, resume, true)
		require.NoError(t, err)
		var out bytes.Buffer
		status, err = s.Wait(ctx, func(slurm.Progress) {}, &out)
		require.NoError(t, err)
		return status, out.String()
	}
	status, said := run(false)
	require.Equal(t, 1, status)
	require.Regexp(t, `^Part 2 did not come to its end; .*/2\.log may say why\. Go on with --resume\.\n$`, said)
	require.NoDirExists(t, results, "a class of which a part is missing has no results")

	_, err := slurm.Submit(ctx, job, false, true)
	var refused *slurm.UsageError
	require.ErrorAs(t, err, &refused)
	require.Contains(t, refused.Message, "--resume")

	again := slurm.Job{Results: results}
	require.NoError(t, again.Resume())
	require.Equal(t, []any{2, uint64(7)}, []any{again.Parts, again.Seed})
	again = slurm.Job{Results: results, Seed: 8}
	require.ErrorAs(t, again.Resume(), &refused)
	require.Contains(t, refused.Message, "seed 7")

	require.NoError(t, os.WriteFile(good, nil, 0o644))
	for range 2 { // the second time there are results to be replaced
		status, said = run(true)
		require.Equal(t, 4, status, "that some got no grade is told")
		require.Contains(t, said, "GPU 0, seed 7, part 1/2\n")
		require.Contains(t, said, "GPU 0, seed 7, part 2/2\n")
		require.FileExists(t, filepath.Join(results, "said"))
	}
}

// TestStopped takes the jobs back when nobody waits any more.
func TestStopped(t *testing.T) {
	startCluster(t)
	results := filepath.Join(t.TempDir(), "results")
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	s, err := slurm.Submit(ctx, slurm.Job{Grade: []string{"sleep", "600"}, Merge: []string{"true"}, Results: results,
		Parts: 2, Seed: 1}, false, true)
	require.NoError(t, err)
	time.AfterFunc(time.Second, cancel)
	_, err = s.Wait(ctx, func(slurm.Progress) {}, io.Discard)
	require.ErrorIs(t, err, context.Canceled)
	said, err := exec.Command("squeue", "--noheader", "--states=PENDING,RUNNING").CombinedOutput()
	require.NoError(t, err)
	require.Empty(t, string(said))

	_, err = slurm.Submit(context.Background(), slurm.Job{Partition: "nowhere", Grade: []string{"true"},
		Merge:   []string{"true"},
		Results: results + "2", Parts: 2, Seed: 1}, false, false)
	require.ErrorContains(t, err, "nowhere")
}

func TestNoSlurm(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, err := slurm.Submit(context.Background(), slurm.Job{Results: filepath.Join(t.TempDir(), "results")}, false, false)
	var missing *slurm.Missing
	require.ErrorAs(t, err, &missing)
	require.Contains(t, err.Error(), "login node")
}
