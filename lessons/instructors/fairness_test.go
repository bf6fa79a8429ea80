package instructors_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
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
	const scores = "grader/proof/mutants/testdata/scores.txt"
	text, err := os.ReadFile(filepath.Join(course, filepath.FromSlash(scores)))
	require.NoError(t, err)
	table, _, _ := strings.Cut(string(text), "\n\n")
	shows(table, scores)
}
