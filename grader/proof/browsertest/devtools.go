package browsertest

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"
)

// ErrNone is the error where there is no Chromium.
var ErrNone = errors.New("there is no Chromium in the PATH")

// find is a Chromium's program, or ErrNone, and the flags that it is started with for nobody to see.
func find() (path string, flags []string, err error) {
	flags = []string{"--headless", "--disable-gpu", "--no-first-run"}
	if os.Geteuid() == 0 {
		flags = append(flags, "--no-sandbox") // Chromium refuses to be root with it
	}
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chrome", "headless_shell",
		"chrome-headless-shell"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, flags, nil
		}
	}
	return "", nil, ErrNone
}

// Options say how Chromium is started.
type Options struct {
	Profile string   // the folder for its profile
	Flags   []string // further ones of Chromium's
	Before  []string // the command that starts it, if any: "taskset", "-c", "0"
	// Hear is told of the page's events, once their domain is enabled; nil: nobody is.
	Hear func(method string, params json.RawMessage)
}

// Page is a page in a Chromium of its own, which is asked and operated through a pipe, by the Chrome DevTools protocol
// (https://chromedevtools.github.io/devtools-protocol).
type Page struct {
	cmd     *exec.Cmd
	out     io.WriteCloser
	in      io.ReadCloser
	answers *bufio.Reader
	session string
	calls   int
	hear    func(method string, params json.RawMessage)
}

// Start starts Chromium with an empty page, which is the caller's, to close.
func Start(o Options) (*Page, error) {
	path, flags, err := find()
	if err != nil {
		return nil, err
	}
	theirs, out, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	in, answers, err := os.Pipe()
	if err != nil {
		theirs.Close()
		out.Close()
		return nil, err
	}
	args := append(append(append([]string{}, o.Before...), path), flags...)
	args = append(append(args, "--user-data-dir="+o.Profile, "--remote-debugging-pipe"), o.Flags...)
	p := &Page{cmd: exec.Command(args[0], args[1:]...), out: out, in: in, answers: bufio.NewReaderSize(in, 1<<20),
		hear: o.Hear}
	p.cmd.ExtraFiles = []*os.File{theirs, answers} // Chromium reads from 3 and writes to 4
	err = p.cmd.Start()
	theirs.Close()
	answers.Close()
	if err != nil {
		out.Close()
		in.Close()
		return nil, err
	}
	if err := p.attach(); err != nil {
		p.Close()
		return nil, err
	}
	return p, nil
}

func (p *Page) attach() error {
	var target struct{ TargetID string }
	if err := p.call("Target.createTarget", map[string]any{"url": "about:blank"}, &target); err != nil {
		return err
	}
	var attached struct{ SessionID string }
	if err := p.call("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true},
		&attached); err != nil {
		return err
	}
	p.session = attached.SessionID
	return nil
}

// patience is how long Chromium has for its end.
const patience = 5 * time.Second

// Close ends Chromium, which writes first what it wants to keep in its profile.
func (p *Page) Close() {
	_ = p.call("Browser.close", nil, nil)
	late := time.AfterFunc(patience, p.kill)
	_ = p.cmd.Wait()
	late.Stop()
	p.out.Close()
	p.in.Close()
}

// kill ends Chromium from another goroutine: what is asked of it then is answered with an error.
func (p *Page) kill() { _ = p.cmd.Process.Kill() }

// Process is the number of Chromium's first process.
func (p *Page) Process() int { return p.cmd.Process.Pid }

// call has Chromium do something, and waits until it has. The answer, if wanted, is read into answer as from JSON.
func (p *Page) call(method string, params map[string]any, answer any) error {
	p.calls++
	if params == nil {
		params = map[string]any{}
	}
	request := map[string]any{"id": p.calls, "method": method, "params": params}
	if p.session != "" {
		request["sessionId"] = p.session
	}
	text, err := json.Marshal(request)
	if err != nil {
		return err
	}
	if _, err := p.out.Write(append(text, 0)); err != nil {
		return fmt.Errorf("chromium is gone: %w", err)
	}
	for {
		text, err := p.answers.ReadBytes(0)
		if err != nil {
			return fmt.Errorf("chromium is gone: %w", err)
		}
		var m struct {
			ID     int
			Method string
			Params json.RawMessage
			Error  *struct{ Message string }
			Result json.RawMessage
		}
		if err := json.Unmarshal(text[:len(text)-1], &m); err != nil {
			return err
		}
		switch {
		case m.ID != p.calls:
			if p.hear != nil {
				p.hear(m.Method, m.Params)
			}
			continue
		case m.Error != nil:
			return fmt.Errorf("%s: %s", method, m.Error.Message)
		case answer == nil:
			return nil
		}
		return json.Unmarshal(m.Result, answer)
	}
}

// Go opens an address, and returns when the page is loaded.
func (p *Page) Go(address string) error {
	if err := p.call("Page.navigate", map[string]any{"url": address}, nil); err != nil {
		return err
	}
	return p.loaded()
}

// loaded waits until a page is loaded.
func (p *Page) loaded() error {
	for loaded := false; !loaded; time.Sleep(10 * time.Millisecond) {
		if err := p.Eval(`location.href != "about:blank" && document.readyState == "complete"`, &loaded); err != nil {
			return err
		}
	}
	return nil
}

// Eval reads what an expression of JavaScript comes to on the page into value, as from JSON; nil: it is not wanted. A
// promise is waited for.
func (p *Page) Eval(expression string, value any) error {
	var answer struct {
		Result           struct{ Value json.RawMessage }
		ExceptionDetails *struct {
			Text      string
			Exception struct{ Description string }
		}
	}
	if err := p.call("Runtime.evaluate", map[string]any{"expression": expression, "returnByValue": true,
		"awaitPromise": true, "userGesture": true}, &answer); err != nil {
		return err
	}
	if x := answer.ExceptionDetails; x != nil {
		return fmt.Errorf("%s %s", x.Text, x.Exception.Description)
	}
	if value == nil || answer.Result.Value == nil {
		return nil
	}
	return json.Unmarshal(answer.Result.Value, value)
}

// keys are the codes of keys that write nothing, and of letters that are pressed with others.
var keys = map[string]int{"Tab": 9, "Enter": 13, "Escape": 27, " ": 32, "End": 35, "Home": 36, "ArrowLeft": 37,
	"ArrowUp": 38, "ArrowRight": 39,
	"ArrowDown": 40, "Delete": 46, "a": 65, "g": 71, "h": 72, "l": 76, "m": 77, "F8": 119}

// press presses a key, the last of those named, and lets it go, with those held that are named before: "Alt",
// "Control", "Shift".
func (p *Page) press(names ...string) error {
	held := map[string]int{"Alt": 1, "Control": 2, "Shift": 8}
	modifiers := 0
	for _, name := range names[:len(names)-1] {
		if held[name] == 0 {
			return fmt.Errorf("no key %q can be held", name)
		}
		modifiers |= held[name]
	}
	key := names[len(names)-1]
	code, known := keys[key]
	if !known {
		return fmt.Errorf("there is no key %q", key)
	}
	event := map[string]any{"type": "rawKeyDown", "key": key, "code": key, "windowsVirtualKeyCode": code,
		"modifiers": modifiers}
	if key == "Enter" && modifiers == 0 {
		event["type"], event["text"] = "keyDown", "\r"
	}
	if err := p.call("Input.dispatchKeyEvent", event, nil); err != nil {
		return err
	}
	event["type"] = "keyUp"
	delete(event, "text")
	return p.call("Input.dispatchKeyEvent", event, nil)
}
