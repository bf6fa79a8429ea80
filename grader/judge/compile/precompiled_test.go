package compile

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func precompiled(t testing.TB, q asked) *Precompiled {
	t.Helper()
	p, err := Precompile(context.Background(), q.Course, q.Exercises...)
	require.NoError(t, err)
	return p
}

func TestPrecompiledNeedsNoGoBuild(t *testing.T) {
	root, exercises := six(t)
	q := asked{Course{Root: root}, exercises}
	q.Precompiled = precompiled(t, q)
	q.GoTool = filepath.Join(t.TempDir(), "no-go")
	require.Equal(t, []string{"e1", "e2", "e3", "e4", "e5", "e6"}, said(t, together(t, q)))
	q.Exercises = exercises[3:5]
	require.Equal(t, []string{"e4", "e5"}, said(t, together(t, q)), "some of the exercises")

	q.Precompiled = nil
	_, err := q.build(context.Background())
	require.Error(t, err, "without, go build is what builds")
}

// Who goes on using what was precompiled while the course may change asks whether it has. What the students write is no
// part of it.
func TestPrecompiledIsFreshUntilTheCourseChanges(t *testing.T) {
	root, exercises := six(t)
	p := precompiled(t, asked{Course{Root: root}, exercises})
	require.NotEmpty(t, p.folders)
	require.True(t, p.Fresh())
	change(t, exercises[0], "package e1\n\nfunc Answer() string { return `another` }\n")
	require.NoError(t, os.WriteFile(filepath.Join(root, "exercises", "e1", "e1.go"), []byte("package e1\n"), 0o600))
	test := filepath.Join(p.folders[0], "more_test.go")
	require.NoError(t, os.WriteFile(test, []byte("package more\n"), 0o600))
	require.True(t, p.Fresh())
	require.NoError(t, os.Remove(test))
	more := filepath.Join(p.folders[0], "more.go")
	require.NoError(t, os.WriteFile(more, []byte("package more\n"), 0o600))
	require.False(t, p.Fresh())
	require.NoError(t, os.Remove(more))
	require.True(t, p.Fresh())
	require.NoError(t, os.Chtimes(filepath.Join(root, "go.mod"), time.Now(), time.Now().Add(time.Second)))
	require.False(t, p.Fresh())
	_, err := Precompile(context.Background(), Course{Root: root}, exercises...)
	require.ErrorContains(t, err, "changed while it was compiled")
}

// A program that was made without go build names its files and lines as one that go build has made.
func TestPrecompiledNamesTheSameLines(t *testing.T) {
	root, exercises := six(t)
	change(t, exercises[1], "package e2\n\nfunc Answer() string {\n\treturn deeper()\n}\n")
	deeper := "package e2\n\nimport \"container/ring\"\n\nfunc deeper() string {\n\tring.New(1).Do(func(any) { " +
		"panic(`on purpose`) })\n\treturn ``\n}\n"
	require.NoError(t, os.WriteFile(filepath.Join(exercises[1].Dir, "and so on.go"), []byte(deeper), 0o600))
	q := asked{Course{Root: root}, exercises}
	frames := func() (lines []string) {
		r := together(t, q)
		text, err := exec.Command(r.Binary).CombinedOutput()
		require.Error(t, err)
		for _, m := range regexp.MustCompile(`(?m)^\t(\S.*\.go:\d+)`).FindAllStringSubmatch(string(text), -1) {
			lines = append(lines, m[1])
		}
		return lines
	}
	want := frames()
	require.Contains(t, want, "cudalab/exercises/e2/and so on.go:6")
	require.Contains(t, want, "cudalab/exercises/e2/e2.go:4")
	q.Precompiled = precompiled(t, q)
	q.GoTool = filepath.Join(t.TempDir(), "no-go")
	require.Equal(t, want, frames())
}

// What was compiled can be deleted at any time, with `go clean -cache`.
func TestPrecompiledAndGone(t *testing.T) {
	root, exercises := six(t)
	q := asked{Course{Root: root}, exercises}
	q.Precompiled = precompiled(t, q)
	q.Precompiled.archives = strings.ReplaceAll(q.Precompiled.archives, "=", "="+t.TempDir())
	require.Equal(t, []string{"e1", "e2", "e3", "e4", "e5", "e6"}, said(t, together(t, q)))
}

// A linker that is stopped leaves a part of a program, which go build would not replace.
func TestPrecompiledAndTheLinkerIsStopped(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the linker in its place is a script")
	}
	root, exercises := six(t)
	q := asked{Course{Root: root}, exercises}
	q.Precompiled = precompiled(t, q)
	tools := t.TempDir()
	require.NoError(t, os.Symlink(filepath.Join(q.Precompiled.tools, "compile"), filepath.Join(tools, "compile")))
	require.NoError(t, os.WriteFile(filepath.Join(tools, "link"), []byte("#!/bin/sh\necho a part >$2\nexit 1\n"), 0o700))
	q.Precompiled.tools = tools
	require.Equal(t, []string{"e1", "e2", "e3", "e4", "e5", "e6"}, said(t, together(t, q)))
}

func TestPrecompileWhereGoBuildFails(t *testing.T) {
	root, exercises := six(t)
	require.NoError(t, os.WriteFile(filepath.Join(root, "grader", "judge", "runner", "broken.go"),
		[]byte("package runner\n\nvar x = y\n"), 0o600))
	_, err := Precompile(context.Background(), Course{Root: root}, exercises...)
	require.ErrorContains(t, err, "go list")
}
