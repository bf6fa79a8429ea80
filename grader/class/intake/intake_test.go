package intake

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var course = []string{"slab", "buddy", "asyncpipeline"}

const (
	slab  = "package slab\n"
	buddy = "package buddy\n"
)

// tree is files by their paths. A path that ends in a slash is a folder.
type tree map[string]string

func (f tree) names() []string {
	var names []string
	for name := range f {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// write puts the files into a folder and returns it.
func (f tree) write(t testing.TB, dir string) string {
	t.Helper()
	for _, name := range f.names() {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if strings.HasSuffix(name, "/") {
			require.NoError(t, os.MkdirAll(path, 0o755))
			continue
		}
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(f[name]), 0o644))
	}
	return dir
}

func (f tree) zip(t testing.TB) string {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, name := range f.names() {
		e, err := w.Create(name)
		require.NoError(t, err)
		_, err = e.Write([]byte(f[name]))
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	return b.String()
}

func (f tree) tar(t testing.TB) string {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, name := range f.names() {
		h := &tar.Header{Name: name, Mode: 0o644, Size: int64(len(f[name])), Typeflag: tar.TypeReg}
		if strings.HasSuffix(name, "/") {
			h.Typeflag = tar.TypeDir
		}
		require.NoError(t, w.WriteHeader(h))
		_, err := w.Write([]byte(f[name]))
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	return b.String()
}

func gzipped(t testing.TB, text string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := w.Write([]byte(text))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return b.String()
}

func (f tree) targz(t testing.TB) string { return gzipped(t, f.tar(t)) }

func opened(t testing.TB, path string) *Intake {
	t.Helper()
	in, err := Open(path, course, Options{Temp: t.TempDir()})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, in.Close()) })
	return in
}

// found are the files of every submission, under its ID; a submission with a Problem is "ID!".
func found(t testing.TB, in *Intake) []string {
	t.Helper()
	var paths []string
	for _, s := range in.Submissions() {
		if s.Problem != "" {
			require.Empty(t, s.Dir)
			require.Empty(t, s.Packages)
			paths = append(paths, s.ID+"!")
			continue
		}
		require.NotEmpty(t, s.Packages)
		require.NoError(t, filepath.WalkDir(s.Dir, func(path string, d fs.DirEntry, err error) error {
			require.NoError(t, err)
			if !d.IsDir() {
				short, err := filepath.Rel(s.Dir, path)
				require.NoError(t, err)
				require.Contains(t, s.Packages, filepath.Dir(short))
				paths = append(paths, s.ID+": "+filepath.ToSlash(short))
			}
			return nil
		}))
	}
	return paths
}

func TestForms(t *testing.T) {
	whole := tree{
		"go.mod": "module cudalab\n", "README.md": "", ".git/HEAD": "", ".git/objects/slab.go": slab,
		"exercises/slab/slab.go": slab + "// mine\n", "exercises/buddy/buddy.go": buddy,
		"exercises/contract/contract.go": "package contract\n",
		"solutions/slab/slab.go":         slab, "solutions/buddy/buddy.go": buddy, "grader/suites/slab/suite.go": slab,
	}
	under := func(dir string, f tree) tree {
		out := tree{}
		for name, text := range f {
			out[dir+"/"+name] = text
		}
		return out
	}
	class := tree{"Ada Lovelace/slab/slab.go": slab, "bob/final/slab.go": slab, "bob/final/b.go": buddy, "empty/": ""}
	classFound := []string{"Ada Lovelace: slab/slab.go", "bob: buddy/b.go", "bob: slab/slab.go", "empty!"}
	wholeFound := func(id string) []string { return []string{id + ": buddy/buddy.go", id + ": slab/slab.go"} }
	gradescope := tree{
		"submission_metadata.yml": "---\nsubmission_11:\n  :submitters:\n  - :name: Ada Lovelace\n    :sid: '1'\n  " +
			":score: 0.0\nsubmission_12:\n  :submitters:\n  - :name: \"J\\u00f6rg O.\"\n  - :name: 'Kim " +
			"O''Hara'\nsubmission_13:\n  :submitters:\n  - :name: |\n      x\n",
		"submission_11/slab.go": slab, "submission_12/slab/slab.go": slab, "submission_13/x/slab.go": slab,
	}
	gradescopeFound := []string{"Ada Lovelace_1: slab/slab.go", "Jörg O. and Kim O'Hara_12: slab/slab.go",
		"x_13: slab/slab.go"}
	for name, c := range map[string]struct {
		path  string // of SUBMISSIONS, with files there
		files tree
		want  []string
	}{
		"folder of folders":       {"subs", under("subs", class), classFound},
		"folder in a folder":      {"subs", under("subs/class", class), classFound},
		"zip of folders":          {"class.zip", tree{"class.zip": class.zip(t)}, classFound},
		"zip of a folder of them": {"class.zip", tree{"class.zip": under("x/y", class).zip(t)}, classFound},
		"tar.gz of folders":       {"class.tar.gz", tree{"class.tar.gz": class.targz(t)}, classFound},
		"tar of folders":          {"class.tar", tree{"class.tar": class.tar(t)}, classFound},
		"tgz whose name says zip": {"class.zip", tree{"class.zip": class.targz(t)}, classFound},
		"a student named as one": {"subs", tree{"subs/a/slab.go": slab, "subs/b/slab.go": slab,
			"subs/Buddy/slab.go": slab}, []string{"Buddy: slab/slab.go", "a: slab/slab.go", "b: slab/slab.go"}},
		"a stray file": {"subs", tree{"subs/a/slab.go": slab, "subs/b/slab.go": slab, "subs/slab.go": slab},
			[]string{"a: slab/slab.go", "b: slab/slab.go"}},
		"class of one": {"subs", tree{"subs/ada/Slab Final/slab/slab.go": slab}, []string{"ada: slab/slab.go"}},
		"one submission": {"ada", tree{"ada/slab/slab.go": slab, "ada/slab/list.go": slab,
			"ada/buddy/list.go": buddy}, []string{"ada: buddy/list.go", "ada: slab/list.go", "ada: slab/slab.go"}},
		"one flat submission": {"ada", tree{"ada/slab.go": slab, "ada/b.go": buddy}, []string{"ada: buddy/b.go",
			"ada: slab/slab.go"}},
		"one repository":          {"ada", under("ada", whole), wholeFound("ada")},
		"one repository as a zip": {"ada.zip", tree{"ada.zip": under("course-main", whole).zip(t)}, wholeFound("ada")},
		"repository of one's own": {"ada", tree{"ada/.git/HEAD": "", "ada/src/mem/a.go": slab, "ada/doc/x.md": ""},
			[]string{"ada: slab/a.go"}},
		"repositories": {"subs", under("subs", tree{"a/.git": "gitdir: x", "a/exercises/slab/slab.go": slab,
			"b/Exercises/slab/slab.go": slab}), []string{"a: slab/slab.go", "b: slab/slab.go"}},
		"class kept with git": {"subs", under("subs", tree{".git/HEAD": "", "a/slab.go": slab, "b/slab.go": slab}),
			[]string{"a: slab/slab.go", "b: slab/slab.go"}},
		"one flat archive": {"ada.tgz", tree{"ada.tgz": tree{"slab.go": slab}.targz(t)},
			[]string{"ada: slab/slab.go"}},
		"one archive with a folder": {"ada.zip", tree{"ada.zip": tree{"Slab Final/slab/slab.go": slab}.zip(t)},
			[]string{"ada: slab/slab.go"}},
		"folder of archives": {"subs", tree{
			"subs/Ada L.zip": tree{"slab/slab.go": slab}.zip(t), "subs/bob.tar.gz": tree{"bob/x/slab.go": slab}.targz(t),
			"subs/eve.TGZ": tree{"./slab/slab.go": slab}.targz(t), "subs/m.tar": tree{"slab/slab.go": slab}.tar(t),
			"subs/r.rar": "Rar!", "subs/s.7z": "7z", "subs/grades.csv": "",
		}, []string{"Ada L: slab/slab.go", "bob: slab/slab.go", "eve: slab/slab.go", "m: slab/slab.go", "r!", "s!"}},
		"zip of archives": {"class.zip", tree{"class.zip": tree{
			"a.zip": tree{"slab/slab.go": slab}.zip(t), "b.zip": tree{"b/inner.zip": tree{"slab.go": slab}.zip(t)}.zip(t),
		}.zip(t)}, []string{"a: slab/slab.go", "b: slab/slab.go"}},
		"tar of archives": {"class.tgz", tree{"class.tgz": tree{
			"a.zip": tree{"slab/slab.go": slab}.zip(t), "b.zip": tree{"slab.go": slab}.zip(t),
		}.targz(t)}, []string{"a: slab/slab.go", "b: slab/slab.go"}},
		"archive named as an exercise": {"ada", tree{"ada/slab.zip": tree{"slab.go": slab}.zip(t),
			"ada/buddy/buddy.go": buddy}, []string{"ada: buddy/buddy.go", "ada: slab/slab.go"}},
		"gradescope": {"export", under("export/assignment_1_export", gradescope), gradescopeFound},
		"gradescope zip": {"export.zip", tree{"export.zip": under("assignment_1_export", gradescope).zip(t)},
			gradescopeFound},
		"gradescope tar": {"export.tgz", tree{"export.tgz": gradescope.targz(t)}, gradescopeFound},
		"moodle": {"m.zip", tree{"m.zip": tree{
			"Ada Lovelace_101_assignsubmission_file_/work.zip":               tree{"work/slab/slab.go": slab}.zip(t),
			"Ada Lovelace_101_assignsubmission_onlinetext_/onlinetext.html":  "<p>",
			"Jörg Ü_102_assignsubmission_file_/exercises/slab/slab.go":       slab,
			"Kim_103_assignsubmission_file_solution v2.tar.gz":               tree{"slab.go": slab}.targz(t),
			"Only Text_104_assignsubmission_onlinetext_/onlinetext.html":     "<p>",
			"Ada Lovelace_105_assignsubmission_file_/Async_Pipeline/run.go":  "package asyncpipeline\n",
			"Ada Lovelace_105_assignsubmission_file_/02-slab/allocations.go": slab,
		}.zip(t)}, []string{
			"Ada Lovelace_101: slab/slab.go", "Ada Lovelace_105: asyncpipeline/run.go", "Ada Lovelace_105: slab/allocations.go",
			"Jörg Ü_102: slab/slab.go", "Kim_103: slab/slab.go", "Only Text_104!",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := c.files.write(t, t.TempDir())
			before := contentsOf(t, dir)
			in := opened(t, filepath.Join(dir, c.path))
			require.Equal(t, c.want, found(t, in))
			require.Equal(t, before, contentsOf(t, dir), "the submissions have changed")
		})
	}
}

// contentsOf is everything below a folder, with its content.
func contentsOf(t testing.TB, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		require.NoError(t, err)
		if d.Type().IsRegular() {
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			all[path] = string(text)
		} else {
			all[path] = d.Type().String()
		}
		return nil
	}))
	return all
}

func TestTheExerciseOfACourseIsTheStudents(t *testing.T) {
	dir := tree{
		"ada/exercises/slab/slab.go": slab + "// mine\n", "ada/solutions/slab/slab.go": slab, "ada/slab/slab.go": slab,
		"ada/grader/suites/buddy/b.go": buddy,
	}.write(t, t.TempDir())
	s := opened(t, filepath.Join(dir, "ada")).Submissions()[0]
	require.Equal(t, []string{"slab"}, s.Packages)
	text, err := os.ReadFile(filepath.Join(s.Dir, "slab", "slab.go"))
	require.NoError(t, err)
	require.Equal(t, slab+"// mine\n", string(text))
	require.Equal(t, []string{"slab is graded as it is in exercises/slab; it was also found in slab, which was left " +
		"aside."}, s.Notes)
}

func TestUnusableSubmissions(t *testing.T) {
	temp := t.TempDir()
	dir := tree{"nothing/.vscode/slab.go": slab, "empty.zip": "", "notes.txt": "x", "text.tar": "no archive"}.write(t,
		t.TempDir())
	for name, want := range map[string]string{
		"absent":    "There is no .*absent. Name the folder or the archive",
		"nothing":   "holds no submissions. Name a folder that has",
		"empty.zip": "The archive empty.zip is damaged or incomplete .*Pack the folder anew",
		"text.tar":  "The archive text.tar is damaged or incomplete .*Pack the folder anew",
		"notes.txt": "is neither a folder nor an archive that is read here. Name a folder of submissions",
	} {
		_, err := Open(filepath.Join(dir, name), course, Options{Temp: temp})
		var unusable *Error
		require.ErrorAs(t, err, &unusable, name)
		require.Regexp(t, want, err.Error())
	}
	left, err := os.ReadDir(temp)
	require.NoError(t, err)
	require.Empty(t, left, "nothing is left behind")
	_, err = Open(filepath.Join(dir, "nothing"), course, Options{Temp: filepath.Join(temp, "absent")})
	require.ErrorContains(t, err, "no such file or directory. See that you may write there")
}

func TestCloseRemovesThePrivateFolders(t *testing.T) {
	temp := t.TempDir()
	in, err := Open(tree{"slab/slab.go": slab}.write(t, t.TempDir()), course, Options{Temp: temp})
	require.NoError(t, err)
	dir := in.Submissions()[0].Dir
	require.True(t, strings.HasPrefix(dir, temp))
	require.DirExists(t, dir)
	require.NoError(t, in.Close())
	left, err := os.ReadDir(temp)
	require.NoError(t, err)
	require.Empty(t, left)
}
