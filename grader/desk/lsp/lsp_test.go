package lsp

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cudalab/grader/suite/verdict"
	"cudalab/grader/suites/course"
)

// client is the other end of a server. What it is sent waits in got.
type client struct {
	t    *testing.T
	root string
	in   *io.PipeWriter
	got  chan map[string]any
	end  chan error

	checks chan checkCall
	pages  chan string
}

// checkCall is a check that the server has begun: the test says what it comes to.
type checkCall struct {
	ctx      context.Context
	exercise string
	answer   chan verdict.Report
}

const slab = "exercises/slab/slab.go"

// serve starts a server for a course with nothing but its exercises' folders.
func serve(t *testing.T) *client {
	t.Helper()
	c := &client{t: t, root: t.TempDir(), got: make(chan map[string]any, 100), end: make(chan error, 1),
		checks: make(chan checkCall, 10), pages: make(chan string, 10)}
	c.write("go.mod", "module cudalab\n")
	c.write(slab, "package slab\n\nfunc New() error {\n\tx := \"𝄞\"; return nil\n}\n")
	c.write("exercises/ring/ring.go", "package ring\n")
	c.write("exercises/contract/contract.go", "package contract\n")
	serverIn, in := io.Pipe()
	out, serverOut := io.Pipe()
	c.in = in
	go func() {
		err := Run(t.Context(), serverIn, serverOut, Options{Open: course.Open, Check: c.check,
			Picture: func(ctx context.Context, _ *course.Course, e course.Exercise, r verdict.Report) (string, error) {
				if r.Seed == 13 {
					<-ctx.Done()
				}
				return filepath.Join(c.root, fmt.Sprintf("%s-%d.html", e.Name, r.Seed)), nil
			},
			Why: func(_ context.Context, _ *course.Course, e course.Exercise) (string, error) {
				return "One change in line 4 of " + e.Name + ".", nil
			}})
		serverOut.Close()
		c.end <- err
	}()
	go func() {
		for f := newFrames(out); ; {
			content, err := f.next()
			if err != nil {
				close(c.got)
				return
			}
			var m map[string]any
			if json.Unmarshal(content, &m) == nil {
				c.got <- m
			}
		}
	}()
	return c
}

func (c *client) check(ctx context.Context, _ *course.Course, e course.Exercise, preparing func()) (verdict.Report,
	bool) {
	preparing()
	call := checkCall{ctx, e.Name, make(chan verdict.Report)}
	c.checks <- call
	select {
	case r := <-call.answer:
		return r, r.Status == verdict.Passed && r.Seed == 7 // the one that the code failed on
	case <-ctx.Done():
		return verdict.Report{Status: verdict.Errored, Message: "stopped"}, false
	}
}

func (c *client) write(file, text string) {
	path := filepath.Join(c.root, filepath.FromSlash(file))
	require.NoError(c.t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(c.t, os.WriteFile(path, []byte(text), 0o644))
}

func (c *client) uri(file string) string {
	return uriOf(filepath.Join(c.root, filepath.FromSlash(file)))
}

// raw sends the content of a message as it is.
func (c *client) raw(content string) {
	c.t.Helper()
	require.NoError(c.t, writeFrame(c.in, []byte(content)))
}

// sends sends a message; an id of 0 makes it a notification.
func (c *client) sends(id int, method, params string) {
	c.t.Helper()
	params = strings.ReplaceAll(params, "SLAB", c.uri(slab))
	if id == 0 {
		c.raw(fmt.Sprintf(`{"jsonrpc":"2.0","method":%q,"params":%s}`, method, params))
		return
	}
	c.raw(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, id, method, params))
}

// next is the next message that is no entry of the log.
func (c *client) next() map[string]any {
	c.t.Helper()
	for {
		select {
		case m, open := <-c.got:
			require.True(c.t, open, "the server has ended")
			if m["method"] != "window/logMessage" {
				return m
			}
		case <-time.After(10 * time.Second):
			require.FailNow(c.t, "nothing came from the server")
		}
	}
}

// silent says that the server has nothing more to say: it answers what comes next at once.
func (c *client) silent() {
	c.t.Helper()
	c.sends(999, "cudalab/nothing", "{}")
	require.Equal(c.t, 999.0, c.next()["id"])
}

// fails awaits an error in answer to a request.
func (c *client) fails(id any, code float64) {
	c.t.Helper()
	m := c.next()
	require.Equal(c.t, id, m["id"])
	require.Contains(c.t, m, "error", "%v", m)
	require.Equal(c.t, code, m["error"].(map[string]any)["code"])
}

// begun awaits the next check.
func (c *client) begun() checkCall {
	c.t.Helper()
	select {
	case call := <-c.checks:
		return call
	case <-time.After(10 * time.Second):
		require.FailNow(c.t, "nothing is checked")
		return checkCall{}
	}
}

const able = `{"processId":null,"capabilities":{"window":{"showDocument":{"support":true}},"textDocument":{"hover":{"contentFormat":["markdown"]},` +
	`"codeAction":{"codeActionLiteralSupport":{}},"publishDiagnostics":{"relatedInformation":true}}}}`

func (c *client) initialize(params string) {
	c.t.Helper()
	c.sends(1, "initialize", params)
	m := c.next()
	require.Equal(c.t, "utf-16", m["result"].(map[string]any)["capabilities"].(map[string]any)["positionEncoding"])
	c.sends(0, "initialized", "{}")
}

// ends awaits the server's end.
func (c *client) ends() error {
	c.t.Helper()
	select {
	case err := <-c.end:
		return err
	case <-time.After(10 * time.Second):
		require.FailNow(c.t, "the server goes on")
		return nil
	}
}

func TestLifecycle(t *testing.T) {
	c := serve(t)
	c.sends(5, "textDocument/hover", "{}")
	c.fails(5.0, codeServerNotInitialized)
	c.sends(0, "textDocument/didOpen", `{"textDocument":{"uri":"SLAB"}}`) // dropped
	c.initialize(able)
	c.sends(2, "initialize", able)
	c.fails(2.0, codeInvalidRequest)
	c.sends(3, "textDocument/definition", "{}")
	c.fails(3.0, codeMethodNotFound)
	c.sends(0, "$/unheard", "{}")
	c.sends(0, "textDocument/willSave", "{}")
	c.sends(4, "textDocument/hover", `{"position":"here"}`)
	c.fails(4.0, codeInvalidParams)
	c.raw(`{"jsonrpc":"2.0","id":`)
	c.fails(nil, codeParseError)
	c.raw(`[{"jsonrpc":"2.0","id":1,"method":"shutdown"}]`)
	c.fails(nil, codeInvalidRequest)
	c.raw(`{"id":1,"method":"shutdown"}`)
	c.fails(nil, codeInvalidRequest)
	c.raw(`{"jsonrpc":"2.0","id":{"a":1},"method":"shutdown"}`)
	c.fails(nil, codeInvalidRequest)
	c.raw(`{"jsonrpc":"2.0"}`)
	c.fails(nil, codeInvalidRequest)
	c.raw(`{"jsonrpc":"2.0","id":4711,"result":null}`) // to a request that was never sent
	c.raw(`{"jsonrpc":"2.0","id":"a","method":"nothing"}`)
	c.fails("a", codeMethodNotFound)
	c.sends(6, "shutdown", "null")
	m := c.next()
	require.Contains(t, m, "result")
	require.Nil(t, m["result"])
	c.sends(7, "textDocument/hover", "{}")
	c.fails(7.0, codeInvalidRequest)
	c.sends(8, "shutdown", "null")
	c.fails(8.0, codeInvalidRequest)
	c.sends(0, "exit", "null")
	require.NoError(t, c.ends())
	require.Empty(t, c.checks)
}

func TestAnEndWithoutLeave(t *testing.T) {
	for name, leave := range map[string]func(c *client){
		"exit before initialize": func(c *client) { c.sends(0, "exit", "null") },
		"exit without shutdown":  func(c *client) { c.initialize(able); c.sends(0, "exit", "null") },
		"the input ends":         func(c *client) { c.initialize(able); c.in.Close() },
		"the input never was":    func(c *client) { c.in.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			c := serve(t)
			leave(c)
			require.ErrorIs(t, c.ends(), ErrGone)
		})
	}
	t.Run("the input ends behind shutdown", func(t *testing.T) {
		c := serve(t)
		c.initialize(able)
		c.sends(2, "shutdown", "null")
		c.in.Close()
		require.NoError(t, c.ends())
	})
	t.Run("garbage", func(t *testing.T) {
		c := serve(t)
		c.initialize(able)
		_, err := io.WriteString(c.in, "GET / HTTP/1.1\r\n")
		require.NoError(t, err)
		var framing *FramingError
		require.ErrorAs(t, c.ends(), &framing)
	})
	t.Run("the client's process ends", func(t *testing.T) {
		program, err := os.Executable()
		require.NoError(t, err)
		other := exec.Command(program, "-test.run", "^$")
		require.NoError(t, other.Run())
		c := serve(t)
		c.initialize(strings.Replace(able, "null", fmt.Sprint(other.Process.Pid), 1))
		require.ErrorIs(t, c.ends(), ErrGone)
	})
}

// Whatever goes on, the end comes, and what was begun is ended with it.
func TestTheEndStopsACheck(t *testing.T) {
	c := serve(t)
	c.initialize(able)
	c.sends(0, "textDocument/didSave", `{"textDocument":{"uri":"SLAB"}}`)
	running := c.begun()
	c.in.Close()
	require.ErrorIs(t, c.ends(), ErrGone)
	require.Error(t, running.ctx.Err())
}
