package mutants_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/grader/suite/verdict"
)

// listed is what is known of a mutant that the suite lets pass.
type listed struct {
	why        string
	equivalent bool // as right as the solution; else it is wrong, and tolerated for a reason
}

// passing are the mutants of an exercise that pass as they should, or as is tolerated, by ID. A line of a list is the
// ID, a tab and the reason.
func passing(t *testing.T, exercise string) map[string]listed {
	known := map[string]listed{}
	for _, kind := range []string{equivalent, tolerated} {
		text, err := os.ReadFile(listOf(kind, exercise))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		require.NoError(t, err)
		for line := range strings.Lines(string(text)) {
			id, why, ok := strings.Cut(strings.TrimSpace(line), "\t")
			require.True(t, ok && why != "", "a line without a reason: %s", line)
			require.NotContains(t, known, id)
			known[id] = listed{why, kind == equivalent}
		}
	}
	return known
}

// The kinds of lists.
const (
	equivalent = "equivalent"
	tolerated  = "tolerated"
)

func listOf(kind, exercise string) string { return filepath.Join("testdata", kind, exercise+".txt") }

// tally is what became of a lesson's mutants.
type tally struct {
	checked, equivalent, killed int
	fails, alone                map[string]int // by check: how many mutants it fails, and how many no other one does
}

func (l *lesson) tally() tally {
	n := tally{checked: len(l.checked), fails: map[string]int{}, alone: map[string]int{}}
	for _, v := range l.checked {
		if l.passing[v.ID].equivalent {
			n.equivalent++
			continue
		}
		by := v.failed
		switch {
		case v.status == verdict.Passed:
			continue
		case v.status != verdict.Failed: // then the checks fail that could not be asked
			by = []string{string(v.status)}
		}
		n.killed++
		for _, id := range by {
			n.fails[id]++
		}
		if len(by) == 1 {
			n.alone[by[0]]++
		}
	}
	return n
}

// score is how many of a hundred mutants that are not equivalent were killed.
func (n *tally) score() float64 {
	return 100 * float64(n.killed) / float64(max(1, n.checked-n.equivalent))
}

// scores are two tables of what became of the mutants: in all, and by the lesson's checks.
func (l *lesson) scores() string {
	var b strings.Builder
	n := l.tally()
	fmt.Fprintf(&b, "%-20s %8s %10s %8s %8s %8s\n", "lesson", "mutants", "equivalent", "killed", "survive", "score")
	fmt.Fprintf(&b, "%-20s %8d %10d %8d %8d %7.1f%%\n", l.exercise.Name, n.checked, n.equivalent, n.killed,
		n.checked-n.equivalent-n.killed, n.score())
	fmt.Fprintf(&b, "\n%-20s %8s %8s\n", "killed by", "mutants", "alone")
	var by []string
	for _, q := range l.exercise.Suite.Checks {
		by = append(by, q.ID)
	}
	for _, id := range append(by, string(verdict.Crashed), string(verdict.Timeout)) {
		fmt.Fprintf(&b, "%-20s %8d %8d\n", id, n.fails[id], n.alone[id])
	}
	return b.String()
}
