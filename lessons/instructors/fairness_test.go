package instructors_test

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/grader/proof/corpus"
	courses "cudalab/grader/suites/course"
)

// TestFairnessShowsWhatWasFound holds the chapter's tables to what the grader's own tests have recorded: what became of all
// lessons' programs on each device, and the mutants' scores.
func TestFairnessShowsWhatWasFound(t *testing.T) {
	chapter, err := os.ReadFile("fairness.md")
	require.NoError(t, err)
	shows := func(table, of string) {
		require.Contains(t, string(chapter), "```text\n"+strings.TrimSpace(table)+"\n```\n", "the chapter is to show the table of %s", of)
	}
	c, err := courses.Open(course)
	require.NoError(t, err)
	for _, device := range []string{"sim", "gpu"} {
		var matrices []string
		for _, e := range c.Exercises {
			text, err := os.ReadFile(corpus.MatrixFile(course, e.Package, device))
			if errors.Is(err, fs.ErrNotExist) && device == "gpu" {
				continue // not yet measured
			}
			require.NoError(t, err)
			matrices = append(matrices, string(text))
		}
		sum, err := corpus.Sum(matrices...)
		require.NoError(t, err)
		shows(sum, "all programs on "+device+": make matrix prints it")
	}
	const scores = "grader/proof/mutants/testdata/scores"
	table := ""
	for _, e := range c.Exercises {
		text, err := os.ReadFile(filepath.Join(course, filepath.FromSlash(scores), e.Name+".txt"))
		if errors.Is(err, fs.ErrNotExist) {
			continue // its mutants have not all been checked yet
		}
		require.NoError(t, err)
		lines := strings.SplitAfterN(string(text), "\n", 3)
		if table == "" {
			table = lines[0]
		}
		table += lines[1]
	}
	shows(table, scores)
}

// TestFairnessShowsOtherOrders holds the table of counterexamples to what the lessons' tests have recorded.
func TestFairnessShowsOtherOrders(t *testing.T) {
	c, err := courses.Open(course)
	require.NoError(t, err)
	sums := map[string][]int{}
	cases, several := 0, 0
	for _, e := range c.Exercises {
		text, err := os.ReadFile(filepath.Join(course, "grader", "suites", e.Package, "testdata", "orders.txt"))
		require.NoError(t, err)
		for _, line := range strings.Split(string(text), "\n")[1:] {
			words := strings.Fields(line)
			var faults, shown, short, longest int
			if k := len(words) - 4; k > 0 {
				if n, _ := fmt.Sscan(strings.Join(words[k:], " "), &faults, &shown, &short, &longest); n == 4 {
					rule := strings.Join(words[:k], " ")
					if sums[rule] == nil {
						sums[rule] = make([]int, 4)
					}
					for k, n := range []int{faults, shown, short} {
						sums[rule][k] += n
					}
					sums[rule][3] = max(sums[rule][3], longest)
				}
			}
			var all, some int
			if n, _ := fmt.Sscanf(line, "cases of right programs: %d, of which %d", &all, &some); n == 2 {
				cases, several = cases+all, several+some
			}
		}
	}
	require.Positive(t, several)
	var b strings.Builder
	b.WriteString("| rule | faults | shown by an order | in at most 8 steps | the longest |\n|---|--:|--:|--:|--:|\n")
	for _, rule := range slices.Sorted(maps.Keys(sums)) {
		n := sums[rule]
		fmt.Fprintf(&b, "| `%s` | %d | %d | %d | %d |\n", rule, n[0], n[1], n[2], n[3])
	}
	fmt.Fprintf(&b, "\nThe right programs were run in %d cases without a fault, of which %d leave CUDA a choice.\n", cases, several)
	chapter, err := os.ReadFile("fairness.md")
	require.NoError(t, err)
	_, rest, _ := strings.Cut(string(chapter), "<!-- orders -->\n")
	is, _, _ := strings.Cut(rest, "<!-- end -->")
	require.Equal(t, b.String(), is)
}
