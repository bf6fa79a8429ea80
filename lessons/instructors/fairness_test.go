package instructors_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestFairnessShowsWhatWasFound holds the chapter's tables to what the grader's own tests have recorded, each file's first.
func TestFairnessShowsWhatWasFound(t *testing.T) {
	chapter, err := os.ReadFile("fairness.md")
	require.NoError(t, err)
	for _, recorded := range []string{
		"grader/check/testdata/matrix/sim.txt",
		"grader/check/testdata/matrix/gpu.txt",
		"grader/mutants/testdata/scores.txt",
	} {
		text, err := os.ReadFile(filepath.Join(course, filepath.FromSlash(recorded)))
		require.NoError(t, err)
		table, _, _ := strings.Cut(string(text), "\n\n")
		require.Contains(t, string(chapter), "```text\n"+table+"\n```\n", "the chapter is to show the first table of %s", recorded)
	}
}
