package compile

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// memories are the files that Recall has left in a cache folder.
func memories(t *testing.T, cache string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(cache, "cudalab", "*", "packages-*[0-9a-f]"))
	require.NoError(t, err)
	return files
}

func recall(t *testing.T, q asked) *Precompiled {
	t.Helper()
	p, err := Recall(context.Background(), q.Course, q.Exercises...)
	require.NoError(t, err)
	return p
}

// caches gives the test a cache folder of its own for what cudalab keeps, and Go the one that it has.
func caches(t *testing.T) (folder string) {
	t.Helper()
	old, err := os.UserCacheDir()
	require.NoError(t, err)
	if os.Getenv("GOCACHE") == "" {
		t.Setenv("GOCACHE", filepath.Join(old, "go-build"))
	}
	folder = t.TempDir()
	t.Setenv("XDG_CACHE_HOME", folder)
	t.Setenv("LocalAppData", folder)
	t.Setenv("HOME", folder)
	folder, err = os.UserCacheDir()
	require.NoError(t, err)
	return folder
}

func TestRecallAsksOnce(t *testing.T) {
	root, exercises := six(t)
	folder := caches(t)
	q := asked{Course{Root: root}, exercises}
	first := recall(t, q)
	require.Len(t, memories(t, folder), 1)
	require.Empty(t, must(filepath.Glob(filepath.Join(folder, "cudalab", "*", "new-*"))), "nothing half written stays")

	// What is remembered is used: a mark in it comes back.
	memory := memories(t, folder)[0]
	text := string(must(os.ReadFile(memory)))
	require.NoError(t, os.WriteFile(memory, []byte(strings.Replace(text, `"Lang":"`, `"Lang":"marked-`, 1)), 0o600))
	require.Equal(t, "marked-"+first.lang, recall(t, q).lang)

	q.Exercises = exercises[:1]
	require.Equal(t, first.lang, recall(t, q).lang, "no other lesson's checks are compiled before it is begun")
	require.Len(t, memories(t, folder), 2)
	require.NotContains(t, recall(t, q).archives, "grader/suites/"+exercises[1].Package)
}

// Whatever may have changed since has Recall ask anew.
func TestRecallAsksAnew(t *testing.T) {
	root, exercises := six(t)
	folder := caches(t)
	q := asked{Course{Root: root}, exercises}
	p := recall(t, q)
	memory := memories(t, folder)[0]
	original := must(os.ReadFile(memory))
	mark := []byte(strings.Replace(string(original), `"Lang":"`, `"Lang":"marked-`, 1))
	for name, change := range map[string]func(){
		"a file of the course's": func() {
			file := filepath.Join(p.folders[0], "more.go")
			require.NoError(t, os.WriteFile(file, []byte("package more\n"), 0o600))
			t.Cleanup(func() { os.Remove(file) })
		},
		"a memory that is cut off": func() { require.NoError(t, os.WriteFile(memory, mark[:len(mark)/2], 0o600)) },
		"an empty memory":          func() { require.NoError(t, os.WriteFile(memory, nil, 0o600)) },
		"another course's memory": func() {
			require.NoError(t, os.WriteFile(memory, []byte(strings.Replace(string(mark), `"Root":"`, `"Root":"/other`, 1)),
				0o600))
		},
		"a package that is gone": func() {
			require.NoError(t, os.WriteFile(memory, []byte(strings.Replace(string(mark), `packagefile fmt=`,
				`packagefile fmt=/gone`, 1)), 0o600))
		},
		"a package that builds found broken": func() { remember(memory, p.root).forget() },
	} {
		require.NoError(t, os.WriteFile(memory, mark, 0o600))
		require.Equal(t, "marked-"+p.lang, recall(t, q).lang, "before %s", name)
		change()
		again, err := Recall(context.Background(), q.Course, q.Exercises...)
		if name == "a file of the course's" { // which go build has words for
			require.Error(t, err)
			require.NoError(t, os.Remove(filepath.Join(p.folders[0], "more.go")))
			continue
		}
		require.NoError(t, err, name)
		require.Equal(t, p.lang, again.lang, name)
	}
	setting := os.Getenv("GOAMD64")
	require.NoError(t, os.WriteFile(memory, mark, 0o600))
	t.Setenv("GOAMD64", "v2")
	require.Equal(t, p.lang, recall(t, q).lang, "other settings of Go's")
	t.Setenv("GOAMD64", setting)
}

// What compiles with what was remembered, and does not any more, go build builds; the next check asks anew.
func TestRecallIsForgottenWhereItIsWrong(t *testing.T) {
	root, exercises := six(t)
	folder := caches(t)
	q := asked{Course{Root: root}, exercises}
	q.Precompiled = recall(t, q)
	q.Precompiled.tools = t.TempDir() // as where Go was put elsewhere
	require.Equal(t, []string{"e1", "e2", "e3", "e4", "e5", "e6"}, said(t, together(t, q)))
	require.Empty(t, memories(t, folder))
}

// Without a place to keep anything it would have to be looked up each time, which takes longer than go build does.
func TestRecallWithoutACacheFolder(t *testing.T) {
	root, _ := six(t)
	folder := caches(t)
	require.NoError(t, os.WriteFile(filepath.Join(folder, "cudalab"), nil, 0o600)) // a file in the folder's place
	_, err := Recall(context.Background(), Course{Root: root})
	require.Error(t, err)
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
