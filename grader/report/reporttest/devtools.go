package reporttest

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Tab is a page that is open in a headless Chromium, which takes orders through a pipe (the Chrome DevTools protocol).
type Tab struct {
	t       *testing.T
	out     io.Writer
	in      *bufio.Reader
	session string
	calls   int
}

// Open opens a page in a window of so many pixels. The test is skipped where there is no Chromium.
func Open(t *testing.T, text []byte, width, height int) *Tab {
	t.Helper()
	path, args := browser(t)
	dir := t.TempDir()
	file := filepath.Join(dir, "page.html")
	require.NoError(t, os.WriteFile(file, text, 0o644))
	theirs, out, err := os.Pipe()
	require.NoError(t, err)
	in, answers, err := os.Pipe()
	require.NoError(t, err)
	args = append(args, "--user-data-dir="+filepath.Join(dir, "profile"), fmt.Sprintf("--window-size=%d,%d", width, height), "--remote-debugging-pipe")
	cmd := exec.Command(path, args...)
	cmd.ExtraFiles = []*os.File{theirs, answers} // Chromium reads from 3 and writes to 4
	require.NoError(t, cmd.Start())
	require.NoError(t, theirs.Close())
	require.NoError(t, answers.Close())
	late := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() })
	t.Cleanup(func() {
		late.Stop()
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		_, _ = out.Close(), in.Close()
	})
	tab := &Tab{t: t, out: out, in: bufio.NewReader(in)}
	u := url.URL{Scheme: "file", Path: filepath.ToSlash(file)}
	var target struct{ TargetID string }
	tab.call("Target.createTarget", map[string]any{"url": u.String()}, &target)
	var attached struct{ SessionID string }
	tab.call("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &attached)
	tab.session = attached.SessionID
	for tab.Eval(`location.href + " " + document.readyState`) != u.String()+" complete" {
		time.Sleep(10 * time.Millisecond)
	}
	return tab
}

// call has Chromium do something, and waits until it has.
func (tab *Tab) call(method string, params map[string]any, answer any) {
	tab.t.Helper()
	tab.calls++
	request := map[string]any{"id": tab.calls, "method": method, "params": params}
	if tab.session != "" {
		request["sessionId"] = tab.session
	}
	text, err := json.Marshal(request)
	require.NoError(tab.t, err)
	_, err = tab.out.Write(append(text, 0))
	require.NoError(tab.t, err)
	for {
		text, err := tab.in.ReadBytes(0)
		require.NoError(tab.t, err, "Chromium is gone")
		var m struct {
			ID     int
			Error  *struct{ Message string }
			Result json.RawMessage
		}
		require.NoError(tab.t, json.Unmarshal(text[:len(text)-1], &m))
		if m.ID != tab.calls {
			continue // an event
		}
		require.Nil(tab.t, m.Error, method)
		if answer != nil {
			require.NoError(tab.t, json.Unmarshal(m.Result, answer))
		}
		return
	}
}

// Eval is what an expression of JavaScript comes to on the page, as text.
func (tab *Tab) Eval(expression string) string {
	tab.t.Helper()
	var answer struct {
		Result           struct{ Value any }
		ExceptionDetails any
	}
	tab.call("Runtime.evaluate", map[string]any{"expression": expression, "returnByValue": true}, &answer)
	require.Nil(tab.t, answer.ExceptionDetails, expression)
	return fmt.Sprint(answer.Result.Value)
}

// Press presses a key on the keyboard and lets it go: "ArrowRight", "Home", "Tab", "Enter".
func (tab *Tab) Press(key string) {
	tab.t.Helper()
	codes := map[string]int{"Tab": 9, "Enter": 13, " ": 32, "End": 35, "Home": 36, "ArrowLeft": 37, "ArrowRight": 39}
	require.Contains(tab.t, codes, key)
	for _, kind := range []string{"rawKeyDown", "keyUp"} {
		tab.call("Input.dispatchKeyEvent", map[string]any{"type": kind, "key": key, "code": key, "windowsVirtualKeyCode": codes[key]}, nil)
	}
}

// Still has the page take its reader for one who wants nothing to move.
func (tab *Tab) Still() {
	tab.t.Helper()
	tab.call("Emulation.setEmulatedMedia", map[string]any{"features": []map[string]string{{"name": "prefers-reduced-motion", "value": "reduce"}}}, nil)
}
