package class

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cudalab/grader/suite"
	"cudalab/grader/suite/verdict"
)

func grade(t *testing.T, o Options) *Class {
	t.Helper()
	c, err := Grade(context.Background(), o)
	require.NoError(t, err)
	return c
}

// TestWhatComesOfSubmissions grades a class with one worker and with two: each gets what is theirs, whatever their
// neighbours hand in, and the results are the same bytes.
func TestWhatComesOfSubmissions(t *testing.T) {
	dir := large(t)
	one := graded(t, dir, "async-pipeline", "slab")
	one.Jobs = 1
	two := graded(t, dir, "async-pipeline", "slab")
	two.Jobs = 2
	other := make(chan error)
	go func() {
		_, err := Grade(context.Background(), two)
		other <- err
	}()
	c := grade(t, one)
	require.NoError(t, <-other)
	require.Equal(t, uint64(42), c.Seed)
	require.Equal(t, "sim", c.Device.Kind)
	require.NotEmpty(t, c.Versions.Course)
	require.Contains(t, c.Versions.Go, "go1.")
	got := map[string][]verdict.Status{}
	for _, s := range c.Students {
		require.Equal(t, map[bool]Status{true: Unread, false: Graded}[s.ID == "kim"], s.Status, "%s: %s", s.ID, s.Problem)
		require.Equal(t, 200.0, s.MaxScore, s.ID)
		sum := 0.0
		for _, r := range s.Exercises {
			got[s.ID] = append(got[s.ID], r.Status)
			sum += r.Score
		}
		require.Equal(t, sum, s.Score, s.ID)
	}
	require.Equal(t, map[string][]verdict.Status{
		"ada": {verdict.Passed, verdict.Passed},
		"bob": {verdict.Failed, verdict.Failed},
		"cem": {verdict.Passed, verdict.BuildFailed},
		"dan": {verdict.NotStarted, verdict.Refused},
		"eve": {verdict.NotStarted, verdict.NotStarted},
		"fay": {verdict.Timeout, verdict.Passed},
		"gil": {verdict.NotStarted, verdict.NotStarted},
		"hal": {verdict.Crashed, verdict.Passed},
		"ida": {verdict.NotStarted, verdict.Passed},
		"jon": {verdict.Failed, verdict.NotStarted},
		"kim": {verdict.Unread, verdict.Unread},
		"lea": {verdict.Passed, verdict.Passed},
	}, got)
	for _, s := range c.Students {
		for _, r := range s.Exercises {
			for _, ch := range r.Checks {
				for _, f := range ch.Findings {
					require.False(t, filepath.IsAbs(f.File), "%s: %s", s.ID, f.File)
					require.False(t, f.Follows != nil && filepath.IsAbs(f.Follows.File), "%s: %v", s.ID, f.Follows)
				}
			}
		}
	}

	require.Equal(t, promised(t, one.Results), promised(t, two.Results))
}

func TestInterruptedAndGoneOnWith(t *testing.T) {
	dir := small(t)
	whole := graded(t, dir, "slab")
	grade(t, whole)

	o := graded(t, dir, "slab")
	o.Jobs = 1
	ctx, cancel := context.WithCancel(context.Background())
	o.Progress = func(p Progress) {
		require.Equal(t, 5, p.Total)
		if p.Done == 2 {
			cancel()
		}
	}
	c, err := Grade(ctx, o)
	require.ErrorIs(t, err, context.Canceled)
	require.GreaterOrEqual(t, len(c.Students), 2)
	require.Less(t, len(c.Students), 5)

	o.Resume, o.Seed = true, 0
	before := len(c.Students)
	o.Progress = func(p Progress) { require.Equal(t, 5-before, p.Total, "what is finished is not done again") }
	grade(t, o)
	require.Equal(t, promised(t, whole.Results), promised(t, o.Results))
}

// TestFaultsOfOurs lets cudalab fail by itself: whoever is met gets no grade, not a zero, once it has been tried again,
// and gets one when the class is gone on with.
func TestFaultsOfOurs(t *testing.T) {
	o := graded(t, small(t), "slab")
	var mu sync.Mutex
	attempts := map[string]int{}
	o.fault = func(id string, attempt int, _ string) error {
		mu.Lock()
		defer mu.Unlock()
		attempts[id]++
		switch {
		case id == "ada" && attempt < 3:
			return errors.New("the sandbox could not be made")
		case id == "bob":
			return errors.New("the GPU is lost")
		case id == "eve":
			panic("a slip of ours")
		}
		return nil
	}
	var last Progress
	o.Progress = func(p Progress) { last = p }
	c := grade(t, o)
	require.Equal(t, map[string]int{"ada": 3, "bob": 3, "cem": 1, "dan": 1, "eve": 3}, attempts)
	require.Equal(t, 2, last.Errors)
	by := func(id string) Student {
		return c.Students[slices.IndexFunc(c.Students, func(s Student) bool { return s.ID == id })]
	}
	require.Equal(t, 100.0, by("ada").Score)
	require.Equal(t, Errored, by("bob").Status)
	require.Equal(t, "Not graded, by no fault of the submission's: the GPU is lost.", by("bob").Problem)
	require.Empty(t, by("bob").Exercises)
	require.Equal(t, Errored, by("eve").Status)
	require.Contains(t, by("eve").Problem, "a slip of ours")

	o.Resume, o.fault = true, nil
	o.Progress = func(p Progress) { require.Equal(t, 2, p.Total) }
	c = grade(t, o)
	require.Equal(t, Graded, by("bob").Status)
	require.Equal(t, Graded, by("eve").Status)
	whole := graded(t, o.Submissions, "slab")
	grade(t, whole)
	require.Equal(t, promised(t, whole.Results), promised(t, o.Results))
}

// A fault of ours in one exercise leaves the others their grades.
func TestAFaultOfOursInOneExercise(t *testing.T) {
	dir := t.TempDir()
	handIn(t, dir, "ada/asyncpipeline/asyncpipeline.go", program(t, "solutions/asyncpipeline/asyncpipeline.go"))
	handIn(t, dir, "ada/slab/slab.go", program(t, "solutions/slab/slab.go"))
	handIn(t, dir, "bob/asyncpipeline/asyncpipeline.go", program(t, "exercises/asyncpipeline/asyncpipeline.go"))
	o := graded(t, dir, "async-pipeline", "slab")
	broken := *o.Exercises[1].Suite
	broken.Checks = slices.Clone(broken.Checks)
	judge := broken.Checks[1].Judge
	broken.Checks[1].Judge = func(e *suite.Evidence) suite.Answer {
		if e.Seed == o.Seed { // the solutions are checked under another one
			panic("a slip of ours")
		}
		return judge(e)
	}
	o.Exercises[1].Suite = &broken
	c := grade(t, o)
	ada, bob := c.Students[0], c.Students[1]
	require.Equal(t, Graded, bob.Status, "there was nothing to judge")
	require.Equal(t, Errored, ada.Status, "there is no total")
	require.Contains(t, ada.Problem, "a slip of ours")
	r, decided := ada.Report(0)
	require.True(t, decided)
	require.Equal(t, verdict.Passed, r.Status)
	require.Equal(t, 100.0, r.Score)
	r, decided = ada.Report(1)
	require.False(t, decided)
	require.Contains(t, r.Message, "a slip of ours")
}

func TestOneStudentAgain(t *testing.T) {
	o := graded(t, small(t), "slab")
	grade(t, o)
	handIn(t, o.Submissions, "bob/slab/slab.go", program(t, "solutions/slab/slab.go"))
	handIn(t, o.Submissions, "cem/slab/slab.go", program(t, "solutions/slab/slab.go"))
	o.Seed, o.Only = 0, []string{"bob"}
	o.Progress = func(p Progress) { require.Equal(t, 1, p.Total) }
	c := grade(t, o)
	require.Len(t, c.Students, 5)
	require.Equal(t, 100.0, c.Students[1].Score)
	require.Zero(t, c.Students[2].Score)

	o.fault = func(string, int, string) error { return errors.New("the GPU is lost") }
	c = grade(t, o)
	require.Equal(t, 100.0, c.Students[1].Score, "a grade is not lost to a failure of ours")
	o.fault = nil

	o.Only = []string{"bo"}
	_, err := Grade(context.Background(), o)
	require.ErrorContains(t, err, `There is no submission of "bo"`)
	require.ErrorContains(t, err, "Did you mean bob?")

	o.Only, o.Resume = nil, true
	var said []string
	o.Say = func(sentence string) { said = append(said, sentence) }
	c = grade(t, o)
	require.Contains(t, said, "Changed since they were graded, and graded again: cem.")
	require.Equal(t, 100.0, c.Students[2].Score)
}

func TestTimeForASubmission(t *testing.T) {
	dir := t.TempDir()
	handIn(t, dir, "ada/slab/slab.go", program(t, "solutions/slab/slab.go"))
	o := graded(t, dir, "slab")
	o.Timeout = time.Millisecond
	c := grade(t, o)
	require.Equal(t, Graded, c.Students[0].Status)
	require.Equal(t, verdict.Timeout, c.Students[0].Exercises[0].Status)
	require.Equal(t, 100.0, c.Students[0].MaxScore)
}

func TestRefusals(t *testing.T) {
	o := graded(t, small(t), "slab")
	o.Only = []string{"eve"}
	grade(t, o)
	o.Only = nil
	refuses := func(o Options, says string) {
		t.Helper()
		before := promised(t, o.Results)
		_, err := Grade(context.Background(), o)
		var asked *UsageError
		require.ErrorAs(t, err, &asked)
		require.Regexp(t, says, asked.Message)
		require.Equal(t, before, promised(t, o.Results))
	}
	refuses(o, `holds results already: go on with them with --resume`)

	again := o
	again.Resume = true
	other := again
	other.Seed = 43
	refuses(other, `they were drawn from seed 42, not from 43`)
	other = again
	other.Exercises = graded(t, "", "buddy").Exercises
	refuses(other, `they are of other exercises, or of other weights: slab, not buddy`)
	other = again
	other.Shard = Shard{1, 2}
	refuses(other, `they are all of the class, not shard 1/2`)

	held, err := openFolder(o.Results, true)
	require.NoError(t, err)
	refuses(again, `Another cudalab is grading into`)
	held.close()

	strange := o
	strange.Results = t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(strange.Results, "thesis.txt"), nil, 0o644))
	refuses(strange, `holds no results of cudalab's, but thesis\.txt`)

	within := o
	within.Results = filepath.Join(o.Submissions, "results")
	_, err = Grade(context.Background(), within)
	require.ErrorContains(t, err, "lies within the submissions")

	shard := o
	shard.Results, shard.Seed, shard.Shard = filepath.Join(t.TempDir(), "new"), 0, Shard{1, 2}
	_, err = Grade(context.Background(), shard)
	require.ErrorContains(t, err, "give each the same --seed")
}

func TestShardsMergeToTheWhole(t *testing.T) {
	dir := small(t)
	whole := graded(t, dir, "slab")
	grade(t, whole)
	var parts []string
	students := 0
	for i := range 2 {
		o := graded(t, dir, "slab")
		o.Shard = Shard{i + 1, 2}
		students += len(grade(t, o).Students)
		parts = append(parts, o.Results)
	}
	require.Equal(t, 5, students)

	merged := filepath.Join(t.TempDir(), "merged")
	var said []string
	say := Options{Say: func(sentence string) { said = append(said, sentence) }}
	_, err := Merge(parts, merged, say)
	require.NoError(t, err)
	require.Empty(t, said)
	require.Equal(t, promised(t, whole.Results), promised(t, merged))
	require.FileExists(t, filepath.Join(merged, timingsDir, "ada.json"))

	_, err = Merge(parts[1:], filepath.Join(t.TempDir(), "half"), say)
	require.NoError(t, err)
	require.Equal(t, []string{"The results of shard 1/2 are not among them."}, said)

	other := graded(t, dir, "slab")
	other.Seed, other.Only = 43, []string{"dan"}
	grade(t, other)
	_, err = Merge([]string{parts[0], other.Results}, filepath.Join(t.TempDir(), "other"), say)
	require.ErrorContains(t, err, "do not belong together")

	handIn(t, dir, "dan/slab/slab.go", program(t, "solutions/slab/slab.go"))
	changed := graded(t, dir, "slab")
	changed.Only = []string{"dan"}
	grade(t, changed)
	_, err = Merge([]string{whole.Results, changed.Results}, filepath.Join(t.TempDir(), "conflict"), say)
	require.ErrorContains(t, err, "dan has different results in")
}

func TestDryRunWritesNothing(t *testing.T) {
	o := graded(t, small(t), "slab")
	handIn(t, o.Submissions, "zoe.zip", "no archive")
	p, err := DryRun(context.Background(), o)
	require.NoError(t, err)
	require.Len(t, p.Submissions, 6)
	require.Equal(t, []string{"slab"}, p.Submissions[0].Packages)
	require.NotEmpty(t, p.Submissions[5].Problem)
	require.Positive(t, p.Estimate)
	require.Equal(t, "sim", p.Device.Kind)
	require.NoDirExists(t, o.Results)
}

func TestWritersGetTheClass(t *testing.T) {
	o := graded(t, small(t), "slab")
	o.Only = []string{"eve"}
	o.Writers = []Writer{func(dir string, c *Class) error {
		return WriteFile(filepath.Join(dir, "ids.txt"), fmt.Appendf(nil, "%d %s", len(c.Students), c.Students[0].ID))
	}}
	grade(t, o)
	require.Equal(t, "1 eve", promised(t, o.Results)["ids.txt"])
}
