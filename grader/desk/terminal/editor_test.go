package terminal_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/grader/desk/terminal"
)

func TestEveryEditorIsToldTheLine(t *testing.T) {
	for command, want := range map[string]string{
		"vim":                       "vim +12 a.go",
		"nano -l":                   "nano -l +12 a.go",
		"code":                      "code -g a.go:12",
		"code --wait":               "code -g a.go:12",
		"/usr/bin/hx":               "/usr/bin/hx a.go:12",
		"goland":                    "goland --line 12 a.go",
		"kate":                      "kate -l 12 a.go",
		"my-editor --new":           "my-editor --new a.go",
		"my-editor {file} -@{line}": "my-editor a.go -@12",
		"vim {file}":                "vim a.go",
	} {
		e, ok := terminal.Chosen(command)
		require.True(t, ok)
		require.Equal(t, want, strings.Join(e.Command("a.go", 12).Args, " "), command)
	}
}

func TestOnlyEditorsWithoutAWindowNeedTheTerminal(t *testing.T) {
	for command, windowed := range map[string]bool{"code --wait": true, "vim": false, "my-editor": false} {
		e, _ := terminal.Chosen(command)
		require.Equal(t, windowed, e.Windowed(), command)
	}
}

func TestWhereTheEditorComesFrom(t *testing.T) {
	chosen := func(command string) string {
		e, ok := terminal.Chosen(command)
		if !ok {
			return ""
		}
		return e.Name()
	}
	t.Setenv("VISUAL", "")
	t.Setenv("EDITOR", "")
	t.Setenv("TERM_PROGRAM", "")
	require.Empty(t, chosen(""))
	t.Setenv("TERM_PROGRAM", "vscode")
	require.Equal(t, "code", chosen(""))
	t.Setenv("EDITOR", "nano")
	require.Equal(t, "nano", chosen(""))
	t.Setenv("VISUAL", "vim -f")
	require.Equal(t, "vim", chosen(""))
	require.Equal(t, "hx", chosen("hx"))
}

func TestAPathWithBlanksIsOneProgram(t *testing.T) {
	program := filepath.Join(t.TempDir(), "my editor")
	require.NoError(t, os.WriteFile(program, []byte("#!/bin/sh\n"), 0o755))
	e, ok := terminal.Chosen(program)
	require.True(t, ok)
	require.Equal(t, []string{program, "a.go"}, e.Command("a.go", 1).Args)
}
