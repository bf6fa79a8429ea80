package gaps_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/grader/suite/gaps"
)

func TestFind(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
		return path
	}
	b := write("b.go", `package x

import "cudalab/exercises/contract"

func f() error {
	// TODO(1b): launch process over
	// all elements. One thread each.
	return contract.TODO("1b")
}

func g() error {
	if true {
		return contract.TODO("1b")
	}
	return other.TODO(name)
}
`)
	a := write("a.go", `package x

import "cudalab/exercises/contract"

func h() error { return contract.TODO("1a") }
`)
	write("broken.go", `package x func`)
	write("a_test.go", `package x

func t() error { return contract.TODO("9z") }
`)
	write("notes.txt", `contract.TODO("8y")`)

	found, err := gaps.Find(dir)
	require.NoError(t, err)
	require.Equal(t, []gaps.Gap{
		{ID: "1a", File: a, Line: 5},
		{ID: "1b", File: b, Line: 8, Text: "launch process over all elements"},
	}, found)
}

func TestFindNoFolder(t *testing.T) {
	_, err := gaps.Find(filepath.Join(t.TempDir(), "nowhere"))
	require.ErrorIs(t, err, os.ErrNotExist)
}
