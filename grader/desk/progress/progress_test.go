package progress_test

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cudalab/grader/desk/progress"
	"cudalab/grader/suite/verdict"
)

func record(t *testing.T, root string, r verdict.Report) {
	require.NoError(t, progress.Record(context.Background(), root, r))
}

func TestAFailingSeedIsKeptUntilItPasses(t *testing.T) {
	root := t.TempDir()
	require.Empty(t, progress.Load(root))
	for _, step := range []struct {
		status verdict.Status
		seed   uint64
		want   uint64
	}{
		{verdict.NotStarted, 5, 0},
		{verdict.Failed, 6, 6},
		{verdict.BuildFailed, 7, 6},
		{verdict.Refused, 8, 6},
		{verdict.Crashed, 9, 9},
		{verdict.Timeout, 10, 10},
		{verdict.Passed, 10, 0},
	} {
		record(t, root, verdict.Report{Exercise: "slab", Status: step.status, Seed: step.seed, Score: 3, MaxScore: 4,
			Device: verdict.Device{Kind: "sim"}})
		e := progress.Load(root)["slab"]
		require.Equal(t, step.want, e.FailingSeed, step.status)
		require.Equal(t, step.status, e.Status)
		require.Equal(t, 3.0, e.Score)
		require.Equal(t, "sim", e.Device)
		require.False(t, e.When.IsZero())
	}
}

// remembered makes a course's root with a progress file.
func remembered(t *testing.T, text string) (root string) {
	root = t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(root, ".cudalab"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(root, ".cudalab", "progress.json"), []byte(text), 0o644))
	return root
}

func TestDamageIsSpokenOfOnce(t *testing.T) {
	require.Empty(t, progress.Repair(t.TempDir()), "a file that is not there is none that is damaged")
	require.Empty(t, progress.Repair(remembered(t, "{}")))

	root := remembered(t, `{"slab": 3}`)
	require.Contains(t, progress.Repair(root), "progress.damaged.json")
	require.Empty(t, progress.Repair(root))
	kept, err := os.ReadFile(filepath.Join(root, ".cudalab", "progress.damaged.json"))
	require.NoError(t, err)
	require.Equal(t, `{"slab": 3}`, string(kept))
}

func TestFilesOfTheFirstVersionAreRead(t *testing.T) {
	root := remembered(t, `{"slab": {"status": "failed", "score": 45, "max_score": 100, "device": "gpu",
		"failing_seed": 42, "when": "2026-07-01T12:00:00Z"}}`)
	when := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	require.Equal(t, progress.Entry{Status: verdict.Failed, Score: 45, MaxScore: 100, Device: "gpu", FailingSeed: 42,
		When: when,
		Best: &progress.Best{Score: 45, MaxScore: 100, Device: "gpu", When: when}}, progress.Load(root)["slab"])
}

func TestHintsOutliveChecksButNotAReset(t *testing.T) {
	root := t.TempDir()
	ctx := context.Background()
	require.NoError(t, progress.Hinted(ctx, root, "slab", "1a", 2))
	require.NoError(t, progress.Hinted(ctx, root, "slab", "1b", 1))
	require.NoError(t, progress.Hinted(ctx, root, "slab", "1a", 1))
	require.False(t, progress.Load(root)["slab"].Checked())
	record(t, root, verdict.Report{Exercise: "slab", Status: verdict.Failed})
	require.Equal(t, map[string]int{"1a": 2, "1b": 1}, progress.Load(root)["slab"].Hints)
	require.NoError(t, progress.Forget(ctx, root, "slab"))
	require.NotContains(t, progress.Load(root), "slab")
}

func TestErrorsAreKeptEachOnce(t *testing.T) {
	root := t.TempDir()
	leak := verdict.Finding{Rule: "leak", Severity: verdict.Error, File: "exercises/slab/slab.go", Line: 7}
	record(t, root, verdict.Report{Exercise: "slab", Status: verdict.Failed, Checks: []verdict.Check{
		{Findings: []verdict.Finding{leak, {Rule: "needless-wait", Severity: verdict.Remark}}},
		{Findings: []verdict.Finding{leak, {Rule: "too-slow", Severity: verdict.Error}}},
	}})
	require.Equal(t, []progress.Finding{{Rule: "leak", File: "slab.go", Line: 7}, {Rule: "too-slow"}},
		progress.Load(root)["slab"].Findings)
	record(t, root, verdict.Report{Exercise: "slab", Status: verdict.Passed})
	require.Empty(t, progress.Load(root)["slab"].Findings)
}

func TestAPassIsNotForgotten(t *testing.T) {
	root := t.TempDir()
	record(t, root, verdict.Report{Exercise: "slab", Status: verdict.Passed})
	first := progress.Load(root)["slab"].FirstPassed
	require.False(t, first.IsZero())
	record(t, root, verdict.Report{Exercise: "slab", Status: verdict.Failed})
	require.True(t, progress.Load(root)["slab"].FirstPassed.Equal(first))
}

func TestTheBestIsKept(t *testing.T) {
	root := t.TempDir()
	check := func(status verdict.Status, score float64) progress.Entry {
		record(t, root, verdict.Report{Exercise: "slab", Status: status, Score: score, MaxScore: 100,
			Device: verdict.Device{Kind: "sim"}})
		return progress.Load(root)["slab"]
	}
	require.Nil(t, check(verdict.BuildFailed, 0).Best)
	first := check(verdict.Failed, 70)
	require.Equal(t, progress.Best{Score: 70, MaxScore: 100, Device: "sim", When: first.When}, *first.Best)
	require.Equal(t, first.Best, check(verdict.Failed, 70).Best, "the first of several")
	require.Equal(t, first.Best, check(verdict.Crashed, 0).Best)
	passed := check(verdict.Passed, 100)
	require.Equal(t, 100.0, passed.Best.Score)
	require.Equal(t, passed.Best, check(verdict.Failed, 80).Best)

	require.NoError(t, progress.Forget(context.Background(), root, "slab"))
	left := progress.Load(root)["slab"]
	require.False(t, left.Checked())
	require.Equal(t, passed.Best, left.Best)
	require.Equal(t, passed.FirstPassed, left.FirstPassed)
}

func TestTheBestOfFilesThatHaveNone(t *testing.T) {
	for text, want := range map[string]float64{
		`{"slab": {"status": "failed", "score": 45, "max_score": 100}}`:                                                     45,
		`{"slab": {"status": "failed", "score": 45, "max_score": 100, "first_passed": "2026-07-01T12:00:00Z"}}`:             100,
		`{"slab": {"status": "failed", "score": 45, "max_score": 100, "best": {"score": 60, "max_score": 100}}}`:            60,
		`{"slab": {"status": "failed", "score": 65, "max_score": 100, "best": {"score": 60, "max_score": 100}}}`:            65,
		`{"slab": {"status": "failed", "score": 45, "max_score": 100, "hints": {"1a": 1}, "when": "2026-07-01T12:00:00Z"}}`: 45,
	} {
		root := remembered(t, text)
		require.Equal(t, want, progress.Load(root)["slab"].Best.Score, text)
		record(t, root, verdict.Report{Exercise: "slab", Status: verdict.Failed, Score: 5, MaxScore: 100})
		require.Equal(t, want, progress.Load(root)["slab"].Best.Score, text)
	}
}

func TestCurrent(t *testing.T) {
	names := []string{"slab", "buddy", "vmm-arena"}
	at := func(minute int, status verdict.Status) progress.Entry {
		return progress.Entry{Status: status, When: time.Date(2026, 7, 1, 12, minute, 0, 0, time.UTC)}
	}
	for _, c := range []struct {
		p    progress.Progress
		want string
	}{
		{nil, "slab"},
		{progress.Progress{"slab": at(1, verdict.Passed)}, "buddy"},
		{progress.Progress{"slab": at(1, verdict.NotStarted), "buddy": at(2, verdict.NotStarted)}, "slab"},
		{progress.Progress{"slab": at(1, verdict.Failed), "buddy": at(2, verdict.Failed)}, "buddy"},
		{progress.Progress{"slab": at(3, verdict.BuildFailed), "buddy": at(2, verdict.Failed)}, "slab"},
		{progress.Progress{"buddy": {Hints: map[string]int{"1a": 1}}}, "buddy"},
		{progress.Progress{"slab": {Best: &progress.Best{Score: 100, MaxScore: 100}}}, "slab"},
		{progress.Progress{"slab": at(1, verdict.Passed), "buddy": at(2, verdict.Passed), "vmm-arena": at(3, verdict.Passed)},
			"vmm-arena"},
	} {
		require.Equal(t, c.want, c.p.Current(names), "%v", c.p)
	}
	require.Empty(t, progress.Progress{}.Current(nil))
}

func TestADamagedFileIsStartedAnew(t *testing.T) {
	for _, text := range []string{"", "{", "null", "[]", `{"slab": 3}`} {
		root := remembered(t, text)
		require.Empty(t, progress.Load(root), text)
		record(t, root, verdict.Report{Exercise: "buddy", Status: verdict.Passed})
		require.Len(t, progress.Load(root), 1, text)
	}
}

func TestChecksThatEndAtOnceLoseNothing(t *testing.T) {
	root := t.TempDir()
	var all sync.WaitGroup
	names := []string{"a", "b", "c", "d", "e", "f", "g", "h"}
	for _, name := range names {
		all.Go(func() {
			require.NoError(t, progress.Record(context.Background(), root, verdict.Report{Exercise: name,
				Status: verdict.Passed}))
		})
	}
	all.Wait()
	require.Len(t, progress.Load(root), len(names))
	left, err := os.ReadDir(filepath.Join(root, ".cudalab"))
	require.NoError(t, err)
	require.Len(t, left, 2, "only the file and its lock")
}

func TestNoPlaceToWrite(t *testing.T) {
	root := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(root, ".cudalab"), nil, 0o644))
	require.Error(t, progress.Record(context.Background(), root, verdict.Report{Exercise: "slab"}))
	require.Empty(t, progress.Load(root))
}

func TestAskedGoesAStepFurtherForTheSameCode(t *testing.T) {
	root, ctx := t.TempDir(), context.Background()
	asked := func(code string, most int) int {
		steps, err := progress.Asked(ctx, root, "slab", code, most)
		require.NoError(t, err)
		return steps
	}
	for _, want := range []int{1, 2, 3, 3, 3} { // the change itself comes to nobody who has not changed anything
		require.Equal(t, want, asked("a", 4))
	}
	for _, want := range []int{1, 2, 3, 4, 4} {
		require.Equal(t, want, asked("b", 4))
	}
	require.Equal(t, 1, asked("c", 2))
	require.Equal(t, 2, asked("c", 2))
	require.Equal(t, 2, asked("c", 2))

	require.NoError(t, progress.Record(ctx, root, verdict.Report{Exercise: "slab", Status: verdict.Failed}))
	require.Equal(t, 3, asked("c", 4), "a failure leaves what was told")
	require.NoError(t, progress.Record(ctx, root, verdict.Report{Exercise: "slab", Status: verdict.Passed}))
	require.Equal(t, 1, asked("c", 4), "after a pass it begins again")
}

func TestAnExerciseWithAnotherName(t *testing.T) {
	root, ctx := t.TempDir(), context.Background()
	record(t, root, verdict.Report{Exercise: "slab", Status: verdict.Passed, Score: 100, MaxScore: 100})
	require.NoError(t, progress.Rename(ctx, root, "slab", "size-classes"))
	p := progress.Load(root)
	require.NotContains(t, p, "slab")
	require.Equal(t, verdict.Passed, p["size-classes"].Status)

	record(t, root, verdict.Report{Exercise: "slab", Status: verdict.Failed})
	require.NoError(t, progress.Rename(ctx, root, "slab", "size-classes"))
	require.Equal(t, verdict.Passed, progress.Load(root)["size-classes"].Status, "what is there stays")
}

func TestJoinKeepsTheBetter(t *testing.T) {
	root, ctx := t.TempDir(), context.Background()
	record(t, root, verdict.Report{Exercise: "slab", Status: verdict.Failed, Score: 60, MaxScore: 100})
	elsewhere, ok := progress.Parse([]byte(`{"slab": {"status": "failed", "score": 20, "max_score": 100},
		"buddy": {"status": "passed", "score": 100, "max_score": 100}, "ring": {"status": "passed"}}`))
	require.True(t, ok)
	require.NoError(t, progress.Join(ctx, root, elsewhere, []string{"slab", "buddy"}))
	p := progress.Load(root)
	require.Equal(t, 20.0, p["slab"].Score)
	require.Equal(t, 60.0, p["slab"].Best.Score)
	require.Equal(t, 100.0, p["buddy"].Score)
	require.NotContains(t, p, "ring", "whose code did not come")
}
