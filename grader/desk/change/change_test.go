package change_test

import (
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cudalab/grader/desk/change"
)

// files are how many files the changes of these tests are about: a third of them new, replaced and deleted.
const files = 120

func name(i int) string { return fmt.Sprintf("folder%d/file%d.go", i%7, i) }

// old writes a tree, and is what is in it.
func old(t *testing.T) (root string, content map[string]string) {
	root, content = t.TempDir(), map[string]string{"mine.go": "mine"}
	for i := range files {
		if i%3 != 0 {
			content[name(i)] = fmt.Sprintf("old %d", i)
		}
	}
	for file, text := range content {
		at := filepath.Join(root, file)
		require.NoError(t, os.MkdirAll(filepath.Dir(at), 0o755))
		require.NoError(t, os.WriteFile(at, []byte(text), 0o644))
	}
	return root, content
}

// changes are the set, and what is in the tree with it.
func changes() (s change.Set, content map[string]string) {
	s, content = change.Set{Write: map[string][]byte{}, Keep: []string{"mine.go"}}, map[string]string{"mine.go": "mine"}
	for i := range files {
		if i%3 == 2 {
			s.Delete = append(s.Delete, name(i))
			continue
		}
		content[name(i)] = fmt.Sprintf("new %d", i)
		s.Write[name(i)] = []byte(content[name(i)])
	}
	return s, content
}

// tree is what is in a folder but for cudalab's own.
func tree(t *testing.T, root string) map[string]string {
	content := map[string]string{}
	require.NoError(t, fs.WalkDir(os.DirFS(root), ".", func(file string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || strings.HasPrefix(file, ".cudalab/") {
			return err
		}
		text, err := os.ReadFile(filepath.Join(root, file))
		content[file] = string(text)
		return err
	}))
	return content
}

func TestApply(t *testing.T) {
	root, before := old(t)
	s, after := changes()
	backup, aside, begun, err := change.Apply(context.Background(), root, s, "update", time.Now())
	require.NoError(t, err)
	require.True(t, begun)
	require.Empty(t, aside)
	require.Equal(t, after, tree(t, root))
	require.Equal(t, before, tree(t, backup), "all that was changed, and what was to be kept")
	left, err := os.ReadDir(filepath.Join(root, ".cudalab"))
	require.NoError(t, err)
	require.Len(t, left, 2, "the copies and the lock")

	resumed, _, err := change.Resume(context.Background(), root)
	require.NoError(t, err)
	require.False(t, resumed)
}

func TestWhatHasChangedInTheMeantimeIsLeft(t *testing.T) {
	root, before := old(t)
	s, _ := changes()
	s.Seen = map[string]string{name(1): "another"}
	_, _, begun, err := change.Apply(context.Background(), root, s, "update", time.Now())
	require.ErrorContains(t, err, name(1)+" has changed in the meantime")
	require.False(t, begun)
	require.Equal(t, before, tree(t, root))
	require.NoDirExists(t, filepath.Join(root, ".cudalab", "change"))
}

// TestKilledAtAnyMoment kills a process while it makes changes, and has the next command go on.
func TestKilledAtAnyMoment(t *testing.T) {
	if root := os.Getenv("CHANGE_TEST_ROOT"); root != "" {
		s, _ := changes()
		fmt.Println("now")
		_, _, _, err := change.Apply(context.Background(), root, s, "update", time.Now())
		require.NoError(t, err)
		return
	}
	r := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 0))
	_, after := changes()
	outcome := map[string]int{}
	for range 30 {
		root, before := old(t)
		cmd := exec.Command(os.Args[0], "-test.run=^TestKilledAtAnyMoment$")
		cmd.Env = append(os.Environ(), "CHANGE_TEST_ROOT="+root)
		out, err := cmd.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		_, err = out.Read(make([]byte, 1))
		require.NoError(t, err)
		within := [2]string{".cudalab/change/files", "."}[r.IntN(2)] // files are prepared there, and get their names here
		many := r.IntN(files)
		for until := time.Now().Add(10 * time.Second); written(root, within) < many && time.Now().Before(until); {
			if _, err := os.Stat(filepath.Join(root, ".cudalab", "change")); err != nil && written(root, ".") > 0 {
				break // it is done
			}
		}
		require.NoError(t, cmd.Process.Kill())
		_ = cmd.Wait()

		at := tree(t, root)
		edited := r.IntN(2) == 0 // the student goes on writing before anything of cudalab's is started
		file := name(1 + 3*r.IntN(files/3))
		if edited {
			require.NoError(t, os.WriteFile(filepath.Join(root, file), []byte("edited"), 0o644))
		}
		resumed, aside, err := change.Resume(context.Background(), root)
		require.NoError(t, err)
		now := tree(t, root)
		if edited {
			require.Equal(t, "edited", now[file])
			for _, a := range aside {
				require.Equal(t, file+".new", a)
				require.Equal(t, after[file], now[a])
				delete(now, a)
			}
			now[file] = before[file]
			if resumed || now[name(0)] != "" {
				now[file] = after[file]
			}
		}
		switch {
		case resumed:
			outcome["gone on with"]++
			require.Equal(t, after, now)
			require.NoDirExists(t, filepath.Join(root, ".cudalab", "change"))
		case at[name(0)] == "":
			outcome["not begun"]++
			require.Equal(t, before, now)
			s, _ := changes() // which does not stop the next
			_, _, _, err := change.Apply(context.Background(), root, s, "update", time.Now())
			require.NoError(t, err)
		default:
			outcome["done"]++
			require.Equal(t, after, now)
		}
	}
	t.Log(outcome)
	require.Greater(t, len(outcome), 1)
}

// written is how many files of the new ones are below a folder.
func written(root, within string) (n int) {
	for i := range files {
		if i%3 == 0 {
			if _, err := os.Stat(filepath.Join(root, within, name(i))); err == nil {
				n += 3
			}
		}
	}
	return n
}
