package check

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/grader/suite/verdict"
)

// older is hand-ins of an exercise that were whole while it asked for its first function alone.
type older struct {
	added  string // how the first of the new functions begins in the solution
	check  string // the one that asks for them
	score  float64
	filled string               // what is said of the gaps
	says   map[string][2]string // by names: what else is in the file, and what is said
}

var olderOnes = map[string]older{
	"asyncpipeline": {"\n// Sums does", "whole", 85,
		"5 of 8 gaps filled. 7 checks of 8 could be tried by now, and found nothing wrong.",
		map[string][2]string{
			"as it was": {"", "Sums is not in the files, so it counts as TODO(2a)."},
			"with a number of its own": {"\nfunc number(s string) int { return len(s) }\n\nvar _ = number\n",
				"Sums is not in the files, so it counts as TODO(2a)."},
			"with a Sums of its own": {
				"\nfunc Sums(at []cuda.DevicePtr, n int) []uint64 { return make([]uint64, n*len(at)) }\n",
				"Sums should be declared as: func Sums(n int, batches []contract.Batch) (sums []uint64, err " +
					"error), but is not, so it counts as TODO(2a)."},
		}},
	"poolconfig": {"\n// Keep calls", "current", 90,
		"8 of 10 gaps filled. 9 checks of 10 could be tried by now, and found nothing wrong.",
		map[string][2]string{
			"as it was": {"", "Keep is not in the files, so it counts as TODO(2a). Lend is not in the files, so it counts " +
				"as TODO(2b)."},
			"with a Keep of its own": {"\nfunc Keep(bytes uint64) uint64 { return bytes }\n",
				"Keep should be declared as: func Keep(device int, threshold uint64, work func() error) (s contract.Sample, " +
					"err error), but is not, so it counts as TODO(2a). Lend is not in the files, so it counts as TODO(2b)."},
		}},
}

// TestAFileFromBeforeAFunctionWasAdded checks such a hand-in: it keeps all points but those for what is new, and is
// told why.
func TestAFileFromBeforeAFunctionWasAdded(t *testing.T) {
	h := solutions(t, 2)
	for i, e := range h.Exercises {
		o := olderOnes[e.Package]
		file := filepath.Join(h.dir, e.Package, e.Package+".go")
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		before, _, found := strings.Cut(string(text), o.added)
		require.True(t, found)
		for name, c := range o.says {
			t.Run(e.Package+" "+name, func(t *testing.T) {
				require.NoError(t, os.WriteFile(file, []byte(before+c[0]), 0o600))
				q := h.request()
				q.NoTiming, q.Code = false, Submitted(h.dir, h.Exercises[i:i+1])
				all, err := Submission(context.Background(), q)
				require.NoError(t, err)
				r := all[0].Report
				require.Equal(t, o.filled+" "+c[1], r.Message)
				require.True(t, r.Unfinished())
				require.InDelta(t, o.score, r.Score, 0)
				require.Contains(t, r.Next, "write TODO(2a)")
				for _, check := range r.Checks {
					require.Equal(t, check.ID != o.check, check.Status == verdict.Passed, check.ID)
				}
			})
		}
	}
}

// TestAFileFromBeforeATypeWasAdded is the same where what was added is a type, with its methods.
func TestAFileFromBeforeATypeWasAdded(t *testing.T) {
	h := solutions(t, 3)
	h.Exercises = h.Exercises[2:]
	file := filepath.Join(h.dir, "crossstreamevents", "crossstreamevents.go")
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	before, buffer, found := strings.Cut(string(text), "\n// Buffer is")
	require.True(t, found)
	withoutClose, _, found := strings.Cut(buffer, "\n// Close frees")
	require.True(t, found)
	const (
		nothing = "Buffer, with NewBuffer and its methods, is not in the files, so it counts as TODO(3a)."
		maker   = "NewBuffer, which makes the Buffer, is not in the files, so it counts as TODO(3a)."
	)
	for name, c := range map[string]struct {
		own    string
		filled int
		says   string
		next   string
	}{
		"as it was":                {"", 9, nothing, "3a"},
		"with a Buffer of its own": {"\ntype Buffer []byte\n\nfunc (b Buffer) Use(n int) {}\n", 9, maker, "3a"},
		"with all but Close": {"\n// Buffer is" + withoutClose, 11,
			"The method Close of Buffer is not in the files, so it counts as TODO(3c).", "3c"},
	} {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, os.WriteFile(file, []byte(before+c.own), 0o600))
			q := h.request()
			q.NoTiming = false
			all, err := Submission(context.Background(), q)
			require.NoError(t, err)
			r := all[0].Report
			require.Contains(t, r.Message, fmt.Sprintf("%d of 12 gaps filled. 8 checks of 9 could be tried by now, and found "+
				"nothing wrong. %s", c.filled, c.says))
			require.True(t, r.Unfinished())
			require.InDelta(t, 90, r.Score, 0)
			require.Contains(t, r.Next, "write TODO("+c.next+")")
			for _, check := range r.Checks {
				require.Equal(t, check.ID != "buffer", check.Status == verdict.Passed, check.ID)
			}
		})
	}
}
