package browsertest

import (
	"bytes"
	"context"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// browser is a Chromium, and what it is to be started with. The test is skipped where there is none.
func browser(t *testing.T) (path string, args []string) {
	t.Helper()
	path, args, err := find()
	if err != nil {
		t.Skip("There is no Chromium in the PATH to open the page in.")
	}
	return path, append(args, "--hide-scrollbars")
}

// Profile is a folder for a browser's profile, until the test's end. Browsers still write to it while they end, so it
// is removed as soon as that can be done, or left where it cannot.
func Profile(t testing.TB) string {
	dir, err := os.MkdirTemp("", "cudalab-browser-")
	require.NoError(t, err)
	t.Cleanup(func() {
		for range 40 {
			if os.RemoveAll(dir) == nil {
				return
			}
			time.Sleep(50 * time.Millisecond)
		}
	})
	return dir
}

// Run runs a headless Chromium on a page and returns what it prints. The test is skipped where there is none.
func Run(t *testing.T, text []byte, more ...string) []byte {
	t.Helper()
	path, args := browser(t)
	file := filepath.Join(t.TempDir(), "page.html")
	require.NoError(t, os.WriteFile(file, text, 0o644))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	args = append(append(args, "--user-data-dir="+Profile(t)), more...)
	u := url.URL{Scheme: "file", Path: filepath.ToSlash(file)}
	var stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, path, append(args, u.String())...)
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	require.NoErrorf(t, err, "%s", stderr.Bytes())
	return out
}
