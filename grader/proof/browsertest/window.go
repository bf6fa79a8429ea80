// Package browsertest drives real browsers, Chromium and Firefox, so that tests use a page as a student does: by its
// keyboard.
package browsertest

import (
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Window is a window of a browser, with a profile of its own that is gone after the test.
type Window interface {
	// Go opens an address, and returns when the page and its modules are loaded.
	Go(address string)
	// Eval is what an expression of JavaScript comes to on the page, as text; promises are waited for.
	Eval(expression string) string
	// Type types text on the keyboard, into what has the focus; a newline is Enter.
	Type(text string)
	// Press presses a key with those held that are named before it: "Control", "Alt", "Shift".
	Press(keys ...string)
	// Reload loads the page anew.
	Reload()
}

// Eventually waits until an expression of JavaScript comes to true.
func Eventually(t *testing.T, w Window, expression string, limit time.Duration, said ...any) {
	t.Helper()
	for end := time.Now().Add(limit); ; time.Sleep(50 * time.Millisecond) {
		got := w.Eval(expression)
		if got == "true" {
			return
		}
		if time.Now().After(end) {
			require.Fail(t, "it never came to be: "+expression+" is "+got, said...)
		}
	}
}

// longest is when a browser is ended whose test hangs.
const longest = 20 * time.Minute

// start starts a browser and has it end with the test.
func start(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	require.NoError(t, cmd.Start())
	late := time.AfterFunc(longest, func() { _ = cmd.Process.Kill() })
	t.Cleanup(func() {
		late.Stop()
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
}

// found is the first of the programs that is installed. The test is skipped where none is.
func found(t *testing.T, names ...string) string {
	t.Helper()
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skipf("There is no %s in the PATH.", names[0])
	return ""
}
