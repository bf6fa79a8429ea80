package site_test

import (
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var bundled = flag.Bool("bundled", false, "bundle the editor anew from npm's packages, which are downloaded, and "+
	"compare")

func TestTheEditorIsWhatItsPackagesAreBundledTo(t *testing.T) {
	if !*bundled {
		t.Skip("the editor's packages are downloaded from npm with -bundled alone")
	}
	out := t.TempDir()
	said, err := exec.Command("codemirror/build.sh", out).CombinedOutput()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.ExitCode() == 3 {
		t.Skip(strings.TrimSpace(string(said)))
	}
	require.NoError(t, err, "%s", said)
	for _, name := range []string{"codemirror.js", "LICENSES.txt"} {
		committed, err := os.ReadFile(filepath.Join("codemirror", name))
		require.NoError(t, err)
		built, err := os.ReadFile(filepath.Join(out, name))
		require.NoError(t, err)
		require.True(t, string(committed) == string(built),
			"%s is not what its packages are bundled to: run grader/browser/site/codemirror/build.sh", name)
	}
}
