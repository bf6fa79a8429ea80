package browsertest

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Tab is a page that is open in a headless Chromium.
type Tab struct {
	t       *testing.T
	page    *Page
	address string
}

// Open opens a page in a window of so many pixels. The test is skipped where there is no Chromium.
func Open(t *testing.T, text []byte, width, height int) *Tab {
	t.Helper()
	browser(t)
	file := filepath.Join(t.TempDir(), "page.html")
	require.NoError(t, os.WriteFile(file, text, 0o644))
	page, err := Start(Options{Profile: Profile(t),
		Flags: []string{"--hide-scrollbars", fmt.Sprintf("--window-size=%d,%d", width, height)}})
	require.NoError(t, err)
	late := time.AfterFunc(longest, page.kill)
	t.Cleanup(func() {
		late.Stop()
		page.kill()
		page.Close()
	})
	u := url.URL{Scheme: "file", Path: filepath.ToSlash(file)}
	require.NoError(t, page.Go(u.String()))
	return &Tab{t, page, u.String()}
}

// Eval is what an expression of JavaScript comes to on the page, as text.
func (tab *Tab) Eval(expression string) string {
	tab.t.Helper()
	var value any
	require.NoError(tab.t, tab.page.Eval(expression, &value), expression)
	return fmt.Sprint(value)
}

// Press presses a key on the keyboard and lets it go: "ArrowRight", "Home", "Tab", "Enter".
func (tab *Tab) Press(key string) {
	tab.t.Helper()
	require.NoError(tab.t, tab.page.press(key))
}

// Still has the page take its reader for one who wants nothing to move.
func (tab *Tab) Still() {
	tab.t.Helper()
	require.NoError(tab.t, tab.page.call("Emulation.setEmulatedMedia",
		map[string]any{"features": []map[string]string{{"name": "prefers-reduced-motion", "value": "reduce"}}}, nil))
}
