package travel_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/grader/class/intake"
	"cudalab/grader/desk/progress"
	"cudalab/grader/desk/travel"
	"cudalab/grader/suites/course"
)

// begun is a copy of the course's folders for exercises, in which slab was begun.
func begun(t *testing.T) *course.Course {
	t.Helper()
	c, err := course.Open("../../..")
	require.NoError(t, err)
	here := *c
	here.Root = t.TempDir()
	for _, e := range c.Exercises {
		skeleton, err := e.Skeleton()
		require.NoError(t, err)
		put(t, here.Root, filepath.Join(e.Folder(), e.Package+".go"), string(skeleton))
	}
	put(t, here.Root, "exercises/slab/slab.go", "package slab\n\n// größer: ✓\n")
	put(t, here.Root, "exercises/slab/own.go", "package slab\n")
	put(t, here.Root, ".cudalab/progress.json", `{"slab":{"status":"failed","score":20,"max_score":100,"device":"sim"}}`)
	put(t, here.Root, "solutions/buddy/buddy.go", "package buddy\n")
	return &here
}

func put(t *testing.T, root, file, text string) {
	t.Helper()
	at := filepath.Join(root, filepath.FromSlash(file))
	require.NoError(t, os.MkdirAll(filepath.Dir(at), 0o755))
	require.NoError(t, os.WriteFile(at, []byte(text), 0o644))
}

// zipped is a course's work as a file.
func zipped(t *testing.T, c *course.Course) string {
	t.Helper()
	w, exercises, err := travel.Of(c)
	require.NoError(t, err)
	require.Equal(t, []string{"slab"}, exercises, "what is as it was handed out was not begun")
	text, err := w.Zip()
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "ada.zip")
	require.NoError(t, os.WriteFile(file, text, 0o600))
	return file
}

func TestWorkLeavesAndReturns(t *testing.T) {
	from := begun(t)
	file := zipped(t, from)
	for name, at := range map[string]string{"zip": file, "folder": from.Root} {
		t.Run(name, func(t *testing.T) {
			w, err := travel.Read(at)
			require.NoError(t, err)
			to := *from
			to.Root = t.TempDir()
			for _, e := range from.Exercises {
				skeleton, err := e.Skeleton()
				require.NoError(t, err)
				put(t, to.Root, filepath.Join(e.Folder(), e.Package+".go"), string(skeleton))
			}
			a, err := w.Into(&to)
			require.NoError(t, err)
			require.Contains(t, a.Exercises, "slab")
			require.Empty(t, a.Replaced)
			require.Empty(t, a.Apart)
			require.Equal(t, 20.0, a.Progress["slab"].Score)
			require.Len(t, a.Set.Write, 2)
			require.Equal(t, "package slab\n\n// größer: ✓\n", string(a.Set.Write["exercises/slab/slab.go"]))
		})
	}
}

// What is exported is what cudalab grade takes, without a word about it.
func TestWorkIsASubmission(t *testing.T) {
	class := filepath.Dir(zipped(t, begun(t)))
	in, err := intake.Open(class, []string{"asyncpipeline", "slab"}, intake.Options{Temp: t.TempDir()})
	require.NoError(t, err)
	defer in.Close()
	require.Len(t, in.Submissions(), 1)
	s := in.Submissions()[0]
	require.Equal(t, "ada", s.ID)
	require.Empty(t, s.Problem)
	require.Empty(t, s.Notes)
	require.Equal(t, []string{"slab"}, s.Packages)
}

// The browser's edition writes no record of what exercises were begun from: they were begun from this course's.
func TestWorkOfTheBrowser(t *testing.T) {
	c := begun(t)
	w := travel.Work{"exercises/buddy/buddy.go": {Text: []byte("package buddy\n\n// mine\n")},
		"exercises/buddy/more.go":       {Text: []byte("package buddy\n")},
		"deeper/.cudalab/progress.json": {Text: []byte(`{"buddy":{"status":"passed","score":100,"max_score":100}}`)}}
	a, err := w.Into(c)
	require.NoError(t, err)
	require.Equal(t, []string{"buddy"}, a.Exercises)
	require.Equal(t, "package buddy\n\n// mine\n", string(a.Set.Write["exercises/buddy/buddy.go"]))
	require.Contains(t, a.Set.Write, "exercises/buddy/more.go")
	require.Equal(t, 100.0, a.Progress["buddy"].Score)
}

func TestOtherCodeIsToBeReplaced(t *testing.T) {
	c := begun(t)
	a, err := travel.Work{"slab.go": {Text: []byte("package slab\n\n// another's\n")}}.Into(c)
	require.NoError(t, err)
	require.Equal(t, []string{"slab"}, a.Replaced)
	require.Equal(t, []string{"exercises/slab/own.go"}, a.Set.Delete, "it would be compiled with what comes in")
	same, _, err := travel.Of(c)
	require.NoError(t, err)
	a, err = same.Into(c)
	require.NoError(t, err)
	require.Empty(t, a.Replaced)
	require.Empty(t, a.Set.Write)
}

func TestTooMuchIsRefused(t *testing.T) {
	var damaged *travel.Damaged
	dir := t.TempDir()
	put(t, dir, "huge.go", "package slab\n"+strings.Repeat("// more\n", 1<<20))
	_, err := travel.Read(dir)
	require.ErrorAs(t, err, &damaged)
	require.ErrorContains(t, err, "huge.go is too large")
	many := t.TempDir()
	for i := range 1100 {
		put(t, many, filepath.Join("f", strings.Repeat("x", 1+i%50), strings.Repeat("y", 1+i/50)+".go"), "package slab\n")
	}
	_, err = travel.Read(many)
	require.ErrorAs(t, err, &damaged)
	require.ErrorContains(t, err, "holds more than all exercises could")
	_, ok := progress.Parse([]byte("no progress"))
	require.False(t, ok)
}
