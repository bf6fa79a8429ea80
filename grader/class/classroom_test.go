package class

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/grader/proof/corpus"
)

var students = flag.Int("students", 12, "how `many` students there are in BenchmarkClass")

// classroom has n students hand in programs of the corpora for these exercises, in all forms in turn; it returns their
// IDs. All their code is new to the compiler and the linker, as every student's is, unless it is that of another class
// with this name. The programs are spread over the students, so that a few of them have some of every kind.
func classroom(t testing.TB, dir, name string, n int, packages ...string) (ids []string) {
	t.Helper()
	forms := []func(t testing.TB, path string, files map[string]string){handFolder, handZip, handTar, handWrapped,
		handClone}
	programs := map[string][]corpus.Program{}
	for _, pkg := range packages {
		all, err := corpus.Programs("../..", pkg)
		require.NoError(t, err)
		programs[pkg] = all
	}
	for i := range n {
		id := fmt.Sprintf("%s-%03d", []string{"ann", "leo", "zoe"}[i%3], i)
		files := map[string]string{}
		for j, pkg := range packages {
			all := programs[pkg]
			files[pkg+"/"+pkg+".go"] = fmt.Sprintf("%s\nvar handedIn = \"by %s in %s\"\n", all[(i*len(all)/n+j*i)%len(all)].Text,
				id, name)
		}
		forms[i%len(forms)](t, filepath.Join(dir, id), files)
		ids = append(ids, id)
	}
	return ids
}

func handFolder(t testing.TB, path string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		file := filepath.Join(path, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
	}
}

func handZip(t testing.TB, path string, files map[string]string) {
	t.Helper()
	archive(t, path+".zip", files)
}

// handWrapped puts a folder around what is in the archive, and the course's folder, as a student does who packs it all.
func handWrapped(t testing.TB, path string, files map[string]string) {
	t.Helper()
	wrapped := map[string]string{}
	for name, text := range files {
		wrapped["cudalab/exercises/"+name] = text
	}
	archive(t, path+".zip", wrapped)
}

// handClone is a repository in which somebody has worked.
func handClone(t testing.TB, path string, files map[string]string) {
	t.Helper()
	clone := map[string]string{".git/HEAD": "ref: refs/heads/main\n", "README.md": "My exercises.\n"}
	for name, text := range files {
		clone["exercises/"+name] = text
	}
	handFolder(t, path, clone)
}

func handTar(t testing.TB, path string, files map[string]string) {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		require.NoError(t, w.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(files[name]))}))
		_, err := w.Write([]byte(files[name]))
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	require.NoError(t, z.Close())
	require.NoError(t, os.WriteFile(path+".tar.gz", b.Bytes(), 0o644))
}
