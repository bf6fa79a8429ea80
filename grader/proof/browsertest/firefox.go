package browsertest

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Firefox is a window of a headless Firefox, which takes orders on a port of this machine (Marionette, what geckodriver
// speaks to it).
type Firefox struct {
	t     *testing.T
	conn  net.Conn
	in    *bufio.Reader
	calls int
}

// quiet are settings with which Firefox fetches nothing of its own, and listens on a port that the system chooses.
const quiet = `user_pref("marionette.port", 0);
user_pref("datareporting.policy.dataSubmissionEnabled", false);
user_pref("toolkit.telemetry.enabled", false);
user_pref("app.update.disabledForTesting", true);
user_pref("browser.safebrowsing.update.enabled", false);
user_pref("services.settings.server", "data:,#remote-settings-dummy/v1");
user_pref("network.captive-portal-service.enabled", false);
user_pref("network.connectivity-service.enabled", false);
user_pref("extensions.systemAddon.update.enabled", false);
`

// OpenFirefox opens a window. The test is skipped where there is no Firefox.
func OpenFirefox(t *testing.T) *Firefox {
	t.Helper()
	path := found(t, "firefox-esr", "firefox")
	dir := Profile(t)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "user.js"), []byte(quiet), 0o600))
	cmd := exec.Command(path, "--headless", "--marionette", "--no-remote", "--profile", dir, "--width", "1400", "--height",
		"900")
	cmd.Env = append(os.Environ(), "HOME="+dir, "MOZ_HEADLESS=1") // it keeps more than its profile
	start(t, cmd)
	f := &Firefox{t: t}
	port := filepath.Join(dir, "MarionetteActivePort")
	require.Eventually(t, func() bool {
		text, err := os.ReadFile(port)
		if err != nil || len(text) == 0 {
			return false
		}
		f.conn, err = net.Dial("tcp", "127.0.0.1:"+strings.TrimSpace(string(text)))
		return err == nil
	}, time.Minute, 100*time.Millisecond, "Firefox says at which port it takes orders")
	t.Cleanup(func() { _ = f.conn.Close() })
	f.in = bufio.NewReader(f.conn)
	f.read() // it introduces itself
	f.call("WebDriver:NewSession", map[string]any{}, nil)
	f.call("WebDriver:SetTimeouts", map[string]any{"script": 120_000, "pageLoad": 60_000}, nil)
	return f
}

// read is the next message: its length, a colon, JSON.
func (f *Firefox) read() []byte {
	f.t.Helper()
	length, err := f.in.ReadString(':')
	require.NoError(f.t, err, "Firefox is gone")
	n, err := strconv.Atoi(strings.TrimSuffix(length, ":"))
	require.NoError(f.t, err)
	text := make([]byte, n)
	_, err = io.ReadFull(f.in, text)
	require.NoError(f.t, err)
	return text
}

// call has Firefox do something, and waits until it has.
func (f *Firefox) call(command string, params map[string]any, answer any) {
	f.t.Helper()
	f.calls++
	text, err := json.Marshal([]any{0, f.calls, command, params})
	require.NoError(f.t, err)
	_, err = fmt.Fprintf(f.conn, "%d:%s", len(text), text)
	require.NoError(f.t, err)
	var kind, id int
	var failure *struct{ Error, Message string }
	var result json.RawMessage
	require.NoError(f.t, json.Unmarshal(f.read(), &[]any{&kind, &id, &failure, &result}))
	if failure != nil {
		require.Fail(f.t, failure.Error+": "+failure.Message, "%s %v", command, params)
	}
	if answer != nil {
		require.NoError(f.t, json.Unmarshal(result, answer))
	}
}

// Go is as in Window.
func (f *Firefox) Go(address string) {
	f.t.Helper()
	f.call("WebDriver:Navigate", map[string]any{"url": address}, nil)
}

// Reload is as in Window. WebDriver's own Refresh passes by the page's service worker, which a student's does not.
func (f *Firefox) Reload() {
	f.t.Helper()
	f.Eval(`(setTimeout(() => location.reload(), 100), "soon")`)
	time.Sleep(2 * time.Second) // a question to a page that is going is an error
}

// Eval is as in Window.
func (f *Firefox) Eval(expression string) string {
	f.t.Helper()
	var answer struct{ Value any }
	f.call("WebDriver:ExecuteScript", map[string]any{"script": "return (async () => (" + expression + "))().then(String)",
		"args": []any{}}, &answer)
	return fmt.Sprint(answer.Value)
}

// firefoxKeys are the characters by which keys are named that write nothing.
var firefoxKeys = map[string]string{"Alt": "\uE00A", "Control": "\uE009", "Shift": "\uE008", "Tab": "\uE004",
	"Enter":  "\uE007",
	"Escape": "\uE00C", "End": "\uE010", "Home": "\uE011", "ArrowLeft": "\uE012", "ArrowUp": "\uE013",
	"ArrowRight": "\uE014",
	"ArrowDown":  "\uE015", "Delete": "\uE017", "F8": "\uE038"}

// Type is as in Window.
func (f *Firefox) Type(text string) {
	f.t.Helper()
	var actions []map[string]string
	for _, r := range strings.ReplaceAll(text, "\n", firefoxKeys["Enter"]) {
		actions = append(actions, map[string]string{"type": "keyDown", "value": string(r)}, map[string]string{"type": "keyUp",
			"value": string(r)})
	}
	f.act(actions)
}

// Press is as in Window.
func (f *Firefox) Press(keys ...string) {
	f.t.Helper()
	var down, up []map[string]string
	for _, k := range keys {
		value, named := firefoxKeys[k]
		if !named {
			require.Len(f.t, k, 1, "a key that has no name here")
			value = k
		}
		down = append(down, map[string]string{"type": "keyDown", "value": value})
		up = append([]map[string]string{{"type": "keyUp", "value": value}}, up...)
	}
	f.act(append(down, up...))
}

func (f *Firefox) act(actions []map[string]string) {
	f.t.Helper()
	f.call("WebDriver:PerformActions", map[string]any{"actions": []map[string]any{{"type": "key", "id": "keyboard",
		"actions": actions}}}, nil)
}
