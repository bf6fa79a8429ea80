package instructors_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSimilarityShowsWhatWasMeasured holds the chapter's table to what the package's own test has measured.
func TestSimilarityShowsWhatWasMeasured(t *testing.T) {
	measured, err := os.ReadFile(filepath.Join(course, "grader", "class", "similar", "testdata", "measured.txt"))
	require.NoError(t, err)
	chapter, err := os.ReadFile("similarity.md")
	require.NoError(t, err)
	_, rest, _ := strings.Cut(string(chapter), "<!-- similar -->\n")
	shown, _, _ := strings.Cut(rest, "<!-- end -->")
	require.Equal(t, string(measured), shown)
}
