package reporttest

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
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chrome", "headless_shell", "chrome-headless-shell"} {
		if found, err := exec.LookPath(name); err == nil {
			path = found
			break
		}
	}
	if path == "" {
		t.Skip("There is no Chromium in the PATH to open the page in.")
	}
	args = []string{"--headless", "--disable-gpu", "--hide-scrollbars", "--no-first-run"}
	if os.Geteuid() == 0 {
		args = append(args, "--no-sandbox") // Chromium refuses to be root with it
	}
	return path, args
}

// Browser runs a headless Chromium on a page and returns what it prints. The test is skipped where there is none.
func Browser(t *testing.T, text []byte, more ...string) []byte {
	t.Helper()
	path, args := browser(t)
	dir := t.TempDir()
	file := filepath.Join(dir, "page.html")
	require.NoError(t, os.WriteFile(file, text, 0o644))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	args = append(append(args, "--user-data-dir="+filepath.Join(dir, "profile")), more...)
	u := url.URL{Scheme: "file", Path: filepath.ToSlash(file)}
	var stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, path, append(args, u.String())...)
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	require.NoErrorf(t, err, "%s", stderr.Bytes())
	return out
}
