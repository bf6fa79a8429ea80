package lsp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/grader/suite/verdict"
	"cudalab/grader/suites/course"
)

// FuzzMessages gives a server any message between initialize and shutdown: both are answered, and so is that if it asks
// for it, and all that the server writes is JSON.
func FuzzMessages(f *testing.F) {
	for _, m := range []string{`{"jsonrpc":"2.0","id":2,"method":"textDocument/hover","params":{"textDocument":{"uri":"file:///a.go"},"position":{"line":-1}}}`,
		`{"jsonrpc":"2.0","id":null,"method":"textDocument/codeAction","params":null}`, `{"jsonrpc":"2.0","method":"textDocument/didChange","params":{"contentChanges":[{}]}}`,
		`{"jsonrpc":"2.0","id":"x","method":"workspace/executeCommand","params":{"command":"cudalab.hint","arguments":[{}]}}`,
		`{"jsonrpc":"2.0","id":1,"result":{}}`, `{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":[]}}`, `[]`, `{`, `"`, "\xff"} {
		f.Add([]byte(m))
	}
	f.Fuzz(func(t *testing.T, message []byte) {
		var m struct{ Method string }
		if json.Unmarshal(message, &m) == nil && m.Method == "exit" || m.Method == "shutdown" || bytes.Contains(message, []byte("rocess")) {
			return
		}
		var in, out bytes.Buffer
		for _, content := range []string{`{"jsonrpc":"2.0","id":"first","method":"initialize","params":{}}`, string(message),
			`{"jsonrpc":"2.0","id":"last","method":"shutdown"}`, `{"jsonrpc":"2.0","method":"exit"}`} {
			require.NoError(t, writeFrame(&in, []byte(content)))
		}
		err := Run(context.Background(), &in, &out, Options{Open: func(string) (*course.Course, error) { return nil, course.ErrOutside },
			Check: func(context.Context, *course.Course, course.Exercise, func()) (verdict.Report, bool) {
				return verdict.Report{}, false
			}})
		require.NoError(t, err)
		answered := map[string]bool{}
		for r := newFrames(&out); ; {
			content, err := r.next()
			if errors.Is(err, io.EOF) {
				break
			}
			require.NoError(t, err)
			var said incoming
			require.NoError(t, json.Unmarshal(content, &said), "%s", content)
			answered[string(said.ID)] = true
		}
		require.True(t, answered[`"first"`] && answered[`"last"`], "%v", answered)
	})
}
