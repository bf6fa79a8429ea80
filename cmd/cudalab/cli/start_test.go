package cli

import (
	"os"
	"os/exec"
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestTheHeapIsSetBeforeItIsUsed: other packages make megabytes of tables when they begin. Go begins with whatever comes first by the
// names of packages.
func TestTheHeapIsSetBeforeItIsUsed(t *testing.T) {
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	text, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", text)
	var begun []string
	for _, m := range regexp.MustCompile(`(?m)^init (\S+) `).FindAllSubmatch(text, -1) {
		begun = append(begun, string(m[1]))
	}
	heap, styles := slices.Index(begun, "cudalab/grader/machine/heap"), slices.Index(begun, "github.com/alecthomas/chroma/v2/styles")
	require.NotEqual(t, -1, heap)
	require.Greater(t, styles, heap)
}
