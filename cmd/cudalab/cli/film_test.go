package cli

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/creack/pty"
	"github.com/stretchr/testify/require"

	"cudalab/grader/proof/corpus"
)

// On a terminal a film is gone through by keys, and each frame takes the place of the one before.
func TestAFilmOnATerminal(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there is no pseudo-terminal")
	}
	root, err := filepath.Abs("../../..")
	require.NoError(t, err)
	p, err := corpus.Find(root, "asyncpipeline", "wrong/freed-on-another-stream")
	require.NoError(t, err)
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "asyncpipeline.go"), []byte(p.Text), 0o644))
	program, err := os.Executable()
	require.NoError(t, err)
	cudalab := filepath.Join(t.TempDir(), "cudalab") // testscript's TestMain goes by the name that it is called by
	require.NoError(t, os.Symlink(program, cudalab))
	cmd := exec.Command(cudalab, "prove", "async-pipeline", "--dir", dir, "--device", "sim", "--film")
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "NO_COLOR=", "TERM=xterm", "GOCACHE="+goCaches(t)[0])
	terminal, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 50, Cols: 90})
	require.NoError(t, err)
	t.Cleanup(func() { terminal.Close() })

	var shown strings.Builder
	sees := func(what string) {
		t.Helper()
		buffer := make([]byte, 4096)
		for !strings.Contains(shown.String(), what) {
			n, err := terminal.Read(buffer)
			shown.Write(buffer[:n])
			require.NoError(t, err, "%q was not shown, but %s", what, shown.String())
		}
		_, after, _ := strings.Cut(shown.String(), what)
		shown.Reset()
		shown.WriteString(after)
	}
	press := func(keys string) {
		t.Helper()
		_, err := io.WriteString(terminal, keys)
		require.NoError(t, err)
	}
	sees("0 of 4   → next   ← back   q quit")
	press("\x1b[C")
	sees("\x1b[J") // what was there is gone
	sees("Step 1 is MallocAsync")
	sees("1 of 4")
	press(" ")
	sees("2 of 4")
	press("\x1b[D")
	sees("1 of 4")
	press("\x1b[C\x1b[C\x1b[C\x1b[C")
	sees("Here it goes wrong.")
	sees("4 of 4")
	press("q")
	require.Error(t, cmd.Wait())
	require.Equal(t, exitFailed, cmd.ProcessState.ExitCode())
}
