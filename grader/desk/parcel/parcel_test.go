package parcel_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/grader/desk/parcel"
)

func small() *parcel.Parcel {
	return &parcel.Parcel{
		Release: parcel.Release{Module: "cudalab", Version: "1.2.3", Commit: "abc",
			Exercises: []parcel.Exercise{{Name: "slab", Package: "slab", Formerly: []string{"slabs"}}}},
		Files: map[string][]byte{
			"go.mod":                 []byte("module cudalab\n"),
			"exercises/slab/slab.go": []byte("package slab\n"),
			"solutions/slab/slab.go": []byte("package slab // solved\n"),
			"lessons/slab.md":        {},
		},
	}
}

func TestArchivesAreReadAgain(t *testing.T) {
	p := small()
	own, solutions, err := p.Archives()
	require.NoError(t, err)
	again, err := parcel.Read(own, solutions)
	require.NoError(t, err)
	require.Equal(t, p, again)

	without, err := parcel.Read(own, nil)
	require.NoError(t, err)
	require.NotContains(t, without.Files, "solutions/slab/slab.go")
	require.Len(t, without.Files, len(p.Files)-1)

	same, _, err := small().Archives()
	require.NoError(t, err)
	require.Equal(t, own, same, "the same course is the same archive")
	for at := range own {
		damaged := append([]byte(nil), own...)
		damaged[at] ^= 0x55
		if _, err := parcel.Read(damaged, nil); err != nil { // a byte of a date, say, is missed by nobody
			require.Contains(t, err.Error(), "the course in this program is damaged")
		}
	}
	_, err = parcel.Read(own[:len(own)/2], nil)
	require.ErrorContains(t, err, "the course in this program is damaged")
}

func TestAProgramWithoutACourseSaysSo(t *testing.T) {
	_, err := parcel.Own()
	require.ErrorIs(t, err, parcel.ErrNone)
}

func TestUnpack(t *testing.T) {
	p := small()
	for name, dir := range map[string]string{
		"new":                     filepath.Join(t.TempDir(), "deeper", "course"),
		"empty":                   t.TempDir(),
		"with a hidden file":      folder(t, ".DS_Store"),
		"with a file of another":  folder(t, "notes.txt"),
		"with a hidden folder":    folder(t, ".git/config"),
		"with blanks in its name": filepath.Join(t.TempDir(), "my course"),
	} {
		t.Run(name, func(t *testing.T) {
			before := names(t, dir)
			found, err := p.Unpack(t.Context(), dir)
			require.NoError(t, err)
			require.False(t, found)
			for file, want := range p.Files {
				got, err := os.ReadFile(filepath.Join(dir, file))
				require.NoError(t, err)
				require.Equal(t, string(want), string(got))
			}
			r, err := parcel.ReadRecord(dir)
			require.NoError(t, err)
			require.Equal(t, p.Record(), r)
			require.Equal(t, map[string]string{"exercises/slab/slab.go": "package slab\n"}, r.Skeletons)
			require.Len(t, names(t, dir), len(before)+len(p.Files)+1, "nothing else is left there")
		})
	}
}

func TestUnpackOverwritesNothing(t *testing.T) {
	for _, there := range []string{"go.mod", "exercises/mine.go", "lessons", ".cudalab/progress.json"} {
		dir := folder(t, there)
		before := names(t, dir)
		_, err := small().Unpack(t.Context(), dir)
		var taken *parcel.Taken
		require.ErrorAs(t, err, &taken, there)
		require.Equal(t, before, names(t, dir))
	}
	file := filepath.Join(folder(t, "file"), "file")
	for _, dir := range []string{file, filepath.Join(file, "below")} {
		_, err := small().Unpack(t.Context(), dir)
		require.Error(t, err)
	}
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, "mine", string(text))
}

// Whoever was stopped while the course got its names has left a part of it, and maybe the rest; whoever was stopped
// before has left a folder beside the course's.
func TestUnpackGoesOnWithWhatWasLeft(t *testing.T) {
	p := small()
	whole := filepath.Join(t.TempDir(), "whole")
	_, err := p.Unpack(t.Context(), whole)
	require.NoError(t, err)
	for _, left := range [][]string{{"exercises"}, {".cudalab", "exercises"}, {".cudalab", "exercises", "lessons"}, nil} {
		dir := t.TempDir()
		for _, name := range left {
			require.NoError(t, os.CopyFS(filepath.Join(dir, name), os.DirFS(filepath.Join(whole, name))))
		}
		require.Equal(t, left, p.Begun(dir))
		require.NoError(t, os.MkdirAll(filepath.Join(dir, ".cudalab-init-1", "exercises"), 0o755))
		found, err := p.Unpack(t.Context(), dir)
		require.NoError(t, err)
		require.True(t, found)
		require.Equal(t, names(t, whole), names(t, dir))
		require.Empty(t, p.Begun(dir), "a whole course is none that was begun")
	}
	for what, change := range map[string]func(dir string) error{
		"a file of another": func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "exercises", "mine.go"), nil, 0o644)
		},
		"a change": func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "exercises", "slab", "slab.go"), []byte("package mine\n"), 0o644)
		},
		"a file that is gone": func(dir string) error {
			return os.Remove(filepath.Join(dir, "exercises", "slab", "slab.go"))
		},
	} {
		dir := t.TempDir()
		require.NoError(t, os.CopyFS(filepath.Join(dir, "exercises"), os.DirFS(filepath.Join(whole, "exercises"))))
		require.NoError(t, change(dir))
		before := names(t, dir)
		_, err := p.Unpack(t.Context(), dir)
		require.ErrorAs(t, err, new(*parcel.Taken), what)
		require.Equal(t, before, names(t, dir), what)
	}
}

func TestNewer(t *testing.T) {
	newer := func(a, b string) bool { return parcel.Release{Version: a}.Newer(parcel.Release{Version: b}) }
	require.True(t, newer("1.10.0", "1.9.9"))
	require.True(t, newer("v2.0.0", "1.99.99"))
	require.False(t, newer("1.2.3", "1.2.3"))
	require.False(t, newer("1.2.3", "1.3.0"))
	require.False(t, newer("", "1.0.0"))
	require.False(t, newer("2.0.0", "whatever"))
}

// folder is one with a file in it.
func folder(t *testing.T, file string) string {
	dir := t.TempDir()
	at := filepath.Join(dir, filepath.FromSlash(file))
	require.NoError(t, os.MkdirAll(filepath.Dir(at), 0o755))
	require.NoError(t, os.WriteFile(at, []byte("mine"), 0o644))
	return dir
}

// names are the files below a folder.
func names(t *testing.T, dir string) (all []string) {
	_ = fs.WalkDir(os.DirFS(dir), ".", func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			all = append(all, path)
		}
		return nil
	})
	return all
}
