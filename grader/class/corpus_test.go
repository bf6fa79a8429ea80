package class

import (
	"archive/zip"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/grader/proof/corpus"
	"cudalab/grader/suites/course"
)

// openCourse is the course that these tests are in.
func openCourse(t testing.TB) *course.Course {
	t.Helper()
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	c, err := course.Open(root)
	require.NoError(t, err)
	return c
}

// graded are the options for grading submissions in tests: two exercises on the simulator.
func graded(t testing.TB, submissions string, exercises ...string) Options {
	t.Helper()
	c := openCourse(t)
	o := Options{Root: c.Root, Submissions: submissions, Results: filepath.Join(t.TempDir(), "results"), Device: "sim",
		Seed: 42,
		Say:  func(sentence string) { t.Log(sentence) }}
	for _, e := range c.Exercises {
		for _, name := range exercises {
			if e.Name == name {
				o.Exercises = append(o.Exercises, e)
			}
		}
	}
	return o
}

// program reads one of the course's own: "solutions/slab/slab.go".
func program(t testing.TB, path string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../..", filepath.FromSlash(path)))
	require.NoError(t, err)
	return string(text)
}

// ofCorpus is a program of a lesson's corpus: ofCorpus(t, "slab", "wrong/double-free").
func ofCorpus(t *testing.T, pkg, name string) string {
	t.Helper()
	p, err := corpus.Find("../..", pkg, name)
	require.NoError(t, err)
	return p.Text
}

// handIn writes a student's file: handIn(t, dir, "ada/slab/slab.go", text).
func handIn(t *testing.T, dir, path, text string) {
	t.Helper()
	path = filepath.Join(dir, filepath.FromSlash(path))
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
}

// small is a class of five that takes seconds: right, wrong, not compiling, refused and not begun.
func small(t *testing.T) (dir string) {
	dir = t.TempDir()
	right := program(t, "solutions/slab/slab.go")
	handIn(t, dir, "ada/slab/slab.go", right)
	handIn(t, dir, "bob/slab/slab.go", ofCorpus(t, "slab", "wrong/double-free"))
	handIn(t, dir, "cem/slab/slab.go", strings.Replace(right, "func New(", "func Nwe(", 1))
	handIn(t, dir, "dan/slab/slab.go", strings.Replace(right, "import (", "import (\n\t_ \"os\"", 1))
	handIn(t, dir, "eve/slab/slab.go", program(t, "lessons/slab.skeleton.go.txt"))
	return dir
}

// large is a class of twelve with all that can come of a submission.
func large(t *testing.T) (dir string) {
	dir = small(t)
	slab, pipeline := program(t, "solutions/slab/slab.go"), program(t, "solutions/asyncpipeline/asyncpipeline.go")
	handIn(t, dir, "ada/asyncpipeline/asyncpipeline.go", pipeline)
	handIn(t, dir, "bob/asyncpipeline/asyncpipeline.go", ofCorpus(t, "asyncpipeline", "wrong/leak-on-error"))
	handIn(t, dir, "cem/asyncpipeline/asyncpipeline.go", pipeline)
	handIn(t, dir, "fay/asyncpipeline/asyncpipeline.go", endlessPipeline)
	handIn(t, dir, "fay/slab/slab.go", slab)
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "gil"), 0o755)) // handed in nothing
	handIn(t, dir, "hal/asyncpipeline/asyncpipeline.go", ofCorpus(t, "asyncpipeline", "wrong/panics"))
	handIn(t, dir, "hal/slab/slab.go", slab)
	handIn(t, dir, "ida/slab/slab.go", strings.Replace(slab, ") Alloc(size int64) (cuda.DevicePtr, error) {",
		") Alloc(size int64) (cuda.DevicePtr, error) {\n\tprintln(\"to standard error\")", 1))
	handIn(t, dir, "jon/asyncpipeline/asyncpipeline.go", ofCorpus(t, "asyncpipeline", "half/reduce-next"))
	handIn(t, dir, "kim.zip", "no archive at all")
	archive(t, filepath.Join(dir, "lea.zip"), map[string]string{"lea/slab/slab.go": slab,
		"lea/asyncpipeline/asyncpipeline.go": pipeline,
		"lea/notes.txt":                      "my notes"})
	return dir
}

// endlessPipeline never returns, and prints now and then for as long as it runs: a runner that floods its pipe is one
// of the hostile programs.
const endlessPipeline = `package asyncpipeline

import (
	"fmt"

	"cudalab/exercises/contract"
	"cudalab/native/cuda"
)

func Run(streams []cuda.Stream, batches []contract.Batch) error {
	for i := len(batches); i != 0; i += 2 {
		if i%(1<<24) < 2 {
			fmt.Println("still at it", i)
		}
	}
	return nil
}
`

func archive(t testing.TB, path string, files map[string]string) {
	t.Helper()
	f, err := os.Create(path)
	require.NoError(t, err)
	defer f.Close()
	z := zip.NewWriter(f)
	for name, text := range files {
		w, err := z.Create(name)
		require.NoError(t, err)
		_, err = w.Write([]byte(text))
		require.NoError(t, err)
	}
	require.NoError(t, z.Close())
}

// promised are the files of a folder of results that are the same whenever the same class is graded alike.
func promised(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	require.NoError(t, filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		below, relErr := filepath.Rel(dir, path)
		switch {
		case err != nil || relErr != nil:
			return err
		case below == timingsDir:
			return fs.SkipDir
		case e.IsDir() || below == journalFile:
			return nil
		}
		text, err := os.ReadFile(path)
		files[filepath.ToSlash(below)] = string(text)
		return err
	}))
	require.NotEmpty(t, files)
	return files
}
