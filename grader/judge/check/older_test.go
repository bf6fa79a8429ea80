package check

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/grader/suite/verdict"
)

// TestAFileFromBeforeAFunctionWasAdded checks a hand-in that was whole while the exercise asked for its first function
// alone: it keeps all points but those of the new one's check, and is told why in one line.
func TestAFileFromBeforeAFunctionWasAdded(t *testing.T) {
	h := solutions(t, 1)
	file := filepath.Join(h.dir, "asyncpipeline", "asyncpipeline.go")
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	before, _, found := strings.Cut(string(text), "\n// Sums does")
	require.True(t, found)
	const declared = "Sums should be declared as: func Sums(n int, batches []contract.Batch) (sums []uint64, err " +
		"error), but is not, so it counts as TODO(2a)."
	for name, c := range map[string]struct{ own, says string }{
		"as it was": {"", "Sums is not in the files, so it counts as TODO(2a)."},
		"with a number of its own": {"\nfunc number(s string) int { return len(s) }\n\nvar _ = number\n",
			"Sums is not in the files, so it counts as TODO(2a)."},
		"with a Sums of its own": {"\nfunc Sums(at []cuda.DevicePtr, n int) []uint64 { return make([]uint64, n*len(at)) }\n",
			declared},
	} {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, os.WriteFile(file, []byte(before+c.own), 0o600))
			q := h.request()
			q.NoTiming = false
			all, err := Submission(context.Background(), q)
			require.NoError(t, err)
			r := all[0].Report
			require.Equal(t, "5 of 8 gaps filled. 7 checks of 8 could be tried by now, and found nothing wrong. "+c.says,
				r.Message)
			require.True(t, r.Unfinished())
			require.InDelta(t, 85, r.Score, 0)
			require.Contains(t, r.Next, "write TODO(2a)")
			for _, check := range r.Checks {
				require.Equal(t, check.ID != "whole", check.Status == verdict.Passed, check.ID)
			}
		})
	}
}
