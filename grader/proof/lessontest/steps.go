package lessontest

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/grader/proof/corpus"
	"cudalab/grader/proof/sample"
	"cudalab/grader/suite/verdict"
)

// goesGapByGap holds the check to what a student sees who fills one gap after the other: who has been right so far is
// told nothing is wrong, how far that is and what comes next; a mistake in the last gap that was filled is found on its
// line, with the gaps behind it still open.
func (b bench) goesGapByGap(t *testing.T) {
	steps, err := corpus.Steps(b.Root, b.exercise.Package)
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("there is no gaps.diff yet: see corpus.Step")
	}
	require.NoError(t, err)
	runs := sample.Of(b.exercise.Name+" gaps", len(steps), 1)
	for i, s := range steps {
		if !runs(i) {
			continue
		}
		soFar, wrong := fmt.Sprintf("%d of %d gaps filled", i+1, len(steps)), "but not all of it is right."
		if s.Next != "" {
			t.Run(s.Right.String(), func(t *testing.T) {
				judge := b.enter(t, s.Right)
				t.Parallel()
				r := judge(t).report
				requireNothingWrong(t, r)
				require.False(t, slices.ContainsFunc(r.Checks, func(ch verdict.Check) bool { return len(ch.Findings) > 0 }),
					describe(r))
				require.Contains(t, r.Message, soFar)
				require.NotContains(t, r.Message, wrong)
				require.Contains(t, r.Next, "write TODO("+s.Next+") in ")
			})
		}
		t.Run(s.Wrong.String(), func(t *testing.T) {
			judge := b.enter(t, s.Wrong)
			t.Parallel()
			r := judge(t).report
			if s.Unseen != "" {
				requireNothingWrong(t, r)
				require.NotContains(t, r.Message, wrong, "it is seen: say what is wanted, and not why it cannot be seen")
				return
			}
			require.Empty(t, s.Wrong.Expect().Missing(r), describe(r))
			if s.Remark != "" {
				requireNothingWrong(t, r)
				require.Contains(t, r.Message, soFar)
				return
			}
			require.False(t, r.Unfinished(), describe(r))
		})
	}
}

// requireNothingWrong sees to it that a report has no error.
func requireNothingWrong(t *testing.T, r verdict.Report) {
	t.Helper()
	for _, ch := range r.Checks {
		require.NotEqual(t, verdict.Failed, ch.Status, describe(r))
		require.False(t, verdict.HasError(ch.Findings), describe(r))
	}
}
