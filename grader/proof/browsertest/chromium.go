package browsertest

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Chromium is a window of a headless Chromium.
type Chromium struct {
	t    *testing.T
	page *Page
	// Said are the errors that the page wrote to its console, and what it threw.
	Said []string
}

// OpenChromium opens a window. The test is skipped where there is no Chromium.
func OpenChromium(t *testing.T, more ...string) *Chromium {
	t.Helper()
	c := &Chromium{t: t}
	page, err := Start(Options{Profile: Profile(t), Flags: more, Hear: c.hear})
	if errors.Is(err, ErrNone) {
		t.Skip("There is no Chromium in the PATH.")
	}
	require.NoError(t, err)
	late := time.AfterFunc(longest, page.kill)
	t.Cleanup(func() {
		page.Close()
		late.Stop()
	})
	c.page = page
	c.call("Runtime.enable", nil, nil)
	c.call("Log.enable", nil, nil)
	return c
}

// call has Chromium do something, and waits until it has.
func (c *Chromium) call(method string, params map[string]any, answer any) {
	c.t.Helper()
	require.NoError(c.t, c.page.call(method, params, answer))
}

// hear keeps what the page complains of.
func (c *Chromium) hear(method string, params json.RawMessage) {
	var p struct {
		Entry struct {
			Level, Text, URL string
		}
		ExceptionDetails json.RawMessage
	}
	if json.Unmarshal(params, &p) != nil {
		return
	}
	switch {
	case method == "Log.entryAdded" && p.Entry.Level == "error":
		c.Said = append(c.Said, p.Entry.Text+" "+p.Entry.URL)
	case method == "Runtime.exceptionThrown":
		c.Said = append(c.Said, string(p.ExceptionDetails))
	}
}

// Go is as in Window.
func (c *Chromium) Go(address string) {
	c.t.Helper()
	require.NoError(c.t, c.page.Go(address))
}

// Reload loads the page anew.
func (c *Chromium) Reload() {
	c.t.Helper()
	c.call("Page.reload", nil, nil)
	time.Sleep(100 * time.Millisecond)
	require.NoError(c.t, c.page.loaded())
}

// Eval is as in Window.
func (c *Chromium) Eval(expression string) string {
	c.t.Helper()
	var value any
	require.NoError(c.t, c.page.Eval(expression, &value), expression)
	return fmt.Sprint(value)
}

// Type is as in Window.
func (c *Chromium) Type(text string) {
	c.t.Helper()
	for _, r := range text {
		if r == '\n' {
			c.Press("Enter")
			continue
		}
		c.call("Input.dispatchKeyEvent", map[string]any{"type": "keyDown", "text": string(r), "key": string(r)}, nil)
		c.call("Input.dispatchKeyEvent", map[string]any{"type": "keyUp", "key": string(r)}, nil)
	}
}

// Press is as in Window.
func (c *Chromium) Press(keys ...string) {
	c.t.Helper()
	require.NoError(c.t, c.page.press(keys...))
}

// Point moves the pointer to the middle of the first element that a selector finds.
func (c *Chromium) Point(selector string) {
	c.t.Helper()
	var at struct{ X, Y float64 }
	text := c.Eval(
		fmt.Sprintf(
			`(() => { const r = document.querySelector(%q).getBoundingClientRect(); return JSON.stringify({x: r.x + r.width / 2, y: r.y + r.height / 2}); })()`, selector))
	require.NoError(c.t, json.Unmarshal([]byte(text), &at))
	for _, nudge := range []float64{-2, -1, 0} {
		c.call("Input.dispatchMouseEvent", map[string]any{"type": "mouseMoved", "x": at.X + nudge, "y": at.Y}, nil)
	}
}

// Resize gives the window another size, in light or dark mode.
func (c *Chromium) Resize(width, height int, dark bool) {
	c.t.Helper()
	c.call("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": height, "deviceScaleFactor": 1,
		"mobile": false}, nil)
	scheme := map[bool]string{false: "light", true: "dark"}[dark]
	c.call("Emulation.setEmulatedMedia", map[string]any{"features": []map[string]string{{"name": "prefers-color-scheme",
		"value": scheme}}}, nil)
}

// Shot is a picture of the window, as PNG.
func (c *Chromium) Shot() []byte {
	c.t.Helper()
	picture, err := c.page.shot()
	require.NoError(c.t, err)
	return picture
}
