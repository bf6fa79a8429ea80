package intake

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// one opens a class of two, and looks at the submission with these files.
func one(t *testing.T, files tree) (s Submission, paths []string) {
	t.Helper()
	dir := files.write(t, filepath.Join(t.TempDir(), "ada"))
	tree{"zoe/slab.go": slab}.write(t, filepath.Dir(dir))
	in := opened(t, filepath.Dir(dir))
	require.Len(t, in.Submissions(), 2)
	for _, p := range found(t, in) {
		if strings.HasPrefix(p, "ada") {
			paths = append(paths, p)
		}
	}
	return in.Submissions()[0], paths
}

func TestNotes(t *testing.T) {
	deep := tree{"x.zip": tree{"y.zip": tree{"slab.go": slab}.zip(t)}.zip(t)}.zip(t)
	for name, c := range map[string]struct {
		files tree
		want  []string
		notes []string
	}{
		"nothing to say": {tree{
			"slab/slab.go": slab, ".git/config": "", ".DS_Store": "", "__MACOSX/slab/._slab.go": "", "slab/.slab.go.swp": "",
			"node_modules/slab/slab.go": slab,
		}, []string{"ada: slab/slab.go"}, nil},
		"extra files": {tree{
			"slab/slab.go": slab, "slab/notes.txt": "", "slab/sub/more.go": slab[:8] + "more\n", "report.pdf": "",
			"a/main.go": "package main\n",
		}, []string{"ada: slab/notes.txt", "ada: slab/slab.go"}, []string{
			"Left aside, because they belong to no exercise: a/main.go, report.pdf, slab/sub/more.go.",
		}},
		"many extra files": {tree{"slab.go": slab, "a.go": "", "b.go": "", "c.go": "", "d.go": "", "e.go": "", "f.go": "",
			"g.go": ""},
			[]string{"ada: slab/slab.go"},
			[]string{"Left aside, because they belong to no exercise: a.go, b.go, c.go, d.go, e.go and 2 more."}},
		"extra files below an exercise of the course": {tree{"exercises/slab/slab.go": slab,
			"exercises/slab/old/slab2.go": "package old\n", "cmd/x/main.go": "package main\n"},
			[]string{"ada: slab/slab.go"},
			[]string{"Left aside, because they belong to no exercise: exercises/slab/old/slab2.go."}},
		"the highest counts": {tree{"slab/slab.go": slab, "old/one/slab/slab.go": slab, "old/two/s.go": slab},
			[]string{"ada: slab/slab.go"},
			[]string{"slab is graded as it is in slab; it was also found in old/two, old/one/slab, which was left aside."}},
		"a folder counts before its archive": {tree{"slab/mine.go": slab, "slab.zip": tree{"slab.go": slab}.zip(t)},
			[]string{"ada: slab/mine.go"},
			[]string{"slab is graded as it is in slab; it was also found in slab.zip, which was left aside."}},
		"two as good as each other": {tree{"new/slab/slab.go": slab, "old/slab/slab.go": slab, "buddy/buddy.go": buddy},
			[]string{"ada: buddy/buddy.go"},
			[]string{"slab was not graded, because it cannot be told which folder is meant: new/slab or old/slab. Hand " +
				"in one."}},
		"what build refuses": {tree{"slab/slab.go": slab, "slab/evil.s": "TEXT", "slab/go.mod": "module x\n",
			"slab/b.go": buddy, "slab/slab_test.go": slab},
			[]string{"ada: slab/b.go", "ada: slab/evil.s", "ada: slab/go.mod", "ada: slab/slab.go", "ada: slab/slab_test.go"},
			nil},
		"a folder's name before its files' package": {tree{"slab/b.go": buddy}, []string{"ada: slab/b.go"}, nil},
		"files that do not parse": {tree{"work/slab.go": "pakage slab\n", "work/evil.c": ""},
			[]string{"ada: slab/evil.c", "ada: slab/slab.go"}, nil},
		"names that are one on some systems": {tree{"slab/a.go": slab, "slab/A.go": slab, "buddy/u\u0308.go": buddy},
			[]string{"ada: buddy/ü.go"},
			[]string{"slab was not graded, because two of its files cannot be told apart on every " +
				"system: A.go and a.go. Rename one."}},
		"an archive too deep": {tree{"slab/slab.go": slab, "a.zip": deep}, []string{"ada: slab/slab.go"},
			[]string{"Left aside, because they are archives inside of archives inside of archives: a.zip/x.zip/y.zip."}},
		"other archives": {tree{"slab/slab.go": slab, "a.7z": "", "broken.zip": "PK"}, []string{"ada: slab/slab.go"},
			[]string{
				"a.7z is an archive of a kind (.7z) that is not read here. Hand in a .zip or .tar.gz file, or put the unpacked " +
					"folder in its place.",
				"broken.zip was left aside. The archive broken.zip is damaged or incomplete (zip: not a valid zip file). " +
					"Pack the folder anew and hand it in again.",
			}},
	} {
		t.Run(name, func(t *testing.T) {
			if name == "names that are one on some systems" && runtime.GOOS != "linux" {
				t.Skip("this system cannot hold both files")
			}
			s, paths := one(t, c.files)
			require.Equal(t, c.want, paths, s.Problem)
			require.Equal(t, c.notes, s.Notes)
		})
	}
}

func TestNoExercise(t *testing.T) {
	s, _ := one(t, tree{"solution/main.go": "package main\n", "slab_test.go": slab, "buddy/notes.txt": ""})
	require.Equal(t, "It holds no exercise: there is no folder with .go files that is called slab, buddy or "+
		"asyncpipeline, and no .go file of such a package. Hand in the exercises' folders as they are in the course.",
		s.Problem)
	require.Equal(t, []string{"Left aside, because they belong to no exercise: buddy/notes.txt, slab_test.go, " +
		"solution/main.go."}, s.Notes)
}

func TestWhyNoExerciseIsLeft(t *testing.T) {
	for name, c := range map[string]struct {
		files tree
		want  string
	}{
		"an archive of another kind": {tree{"work.7z": "7z"}, "work.7z is an archive of a kind (.7z) that is not read here."},
		"a damaged archive": {tree{"work.zip": "PK"},
			"work.zip was left aside. The archive work.zip is damaged or incomplete"},
		"one found twice": {tree{"w/new/slab.go": slab, "w/old/slab.go": slab},
			"it cannot be told which folder is meant: w/new or w/old."},
	} {
		s, _ := one(t, c.files)
		require.Contains(t, s.Problem, c.want, name)
		require.Empty(t, s.Notes, name)
	}
}

// What is too much is handed on as far as package compile needs it to say so.
func TestTheBoundsOnAnExercise(t *testing.T) {
	files := tree{"slab/large.go": slab + strings.Repeat("//\n", 1<<20), "slab/zz.png": strings.Repeat("x", 3<<20),
		"buddy/b.go": buddy}
	for i := range 80 {
		files[fmt.Sprintf("slab/f%02d.go", i)] = slab
		files[fmt.Sprintf("buddy/f%02d.txt", i)] = "text"
	}
	s, paths := one(t, files)
	require.Empty(t, s.Problem)
	info, err := os.Stat(filepath.Join(s.Dir, "slab", "zz.png"))
	require.NoError(t, err)
	require.EqualValues(t, maxFileSize+1, info.Size())
	goFiles, texts := 0, 0
	for _, p := range paths {
		switch {
		case strings.HasPrefix(p, "ada: slab/f"):
			goFiles++
		case strings.HasSuffix(p, ".txt"):
			texts++
		}
	}
	require.Equal(t, maxFiles+1, goFiles)
	require.Equal(t, maxFiles, texts)
	require.Equal(t, []string{
		"Left aside, because an exercise may have no more or larger files beside its .go files: buddy/f64.txt, " +
			"buddy/f65.txt, buddy/f66.txt, buddy/f67.txt, buddy/f68.txt and 27 more.",
	}, s.Notes)

	files = tree{}
	for i := range 8 {
		files[fmt.Sprintf("slab/f%d.go", i)] = slab + strings.Repeat("//\n", 300<<10)
	}
	_, paths = one(t, files)
	require.Len(t, paths, 5, "as many as are needed to be more than 4 MiB")
}

func TestLinksInFoldersAreNotFollowed(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need a privilege on Windows")
	}
	secret := filepath.Join(t.TempDir(), "secret.go")
	require.NoError(t, os.WriteFile(secret, []byte(slab), 0o600))
	subs := tree{"a/slab/slab.go": slab, "b/slab/": "", "c/buddy/b.go": buddy}.write(t, t.TempDir())
	for from, to := range map[string]string{"a/slab/secret.go": secret, "b/slab/slab.go": secret,
		"c/slab": filepath.Dir(secret), "d": "a", "e.zip": "/dev/zero"} {
		require.NoError(t, os.Symlink(to, filepath.Join(subs, from)))
	}
	in := opened(t, subs)
	require.Equal(t, []string{"a: slab/slab.go", "b!", "c: buddy/b.go", "d!", "e!"}, found(t, in))
	require.Equal(t, []string{"Left aside, because links and special files are never followed; put the files themselves " +
		"there: slab/secret.go."},
		in.Submissions()[0].Notes)
	require.Equal(t, "d is a link or a special file, which is never followed. Put the folder or the archive itself there.",
		in.Submissions()[3].Problem)
}

func TestUnreadableFilesHurtOnlyTheirSubmission(t *testing.T) {
	if runtime.GOOS == "windows" || os.Geteuid() == 0 {
		t.Skip("whoever runs this test may read every file")
	}
	subs := tree{"a/slab/slab.go": slab, "b/slab/slab.go": slab, "c/slab/slab.go": slab}.write(t, t.TempDir())
	require.NoError(t, os.Chmod(filepath.Join(subs, "a", "slab", "slab.go"), 0))
	require.NoError(t, os.Chmod(filepath.Join(subs, "b", "slab"), 0))
	defer os.Chmod(filepath.Join(subs, "b", "slab"), 0o700)
	in := opened(t, subs)
	require.Equal(t, []string{"a!", "b!", "c: slab/slab.go"}, found(t, in))
	require.Equal(t, "a/slab/slab.go cannot be read: permission denied. Make sure that you may read it, and that it is "+
		"whole.", in.Submissions()[0].Problem)
}

func TestAFileThatChangesWhileItIsRead(t *testing.T) {
	dir := tree{"a/slab.go": slab, "b.go": slab}.write(t, t.TempDir())
	root, err := os.OpenRoot(dir)
	require.NoError(t, err)
	defer root.Close()
	text, err := readFile(root, "a/slab.go", 100)
	require.NoError(t, err)
	require.Equal(t, slab, string(text))
	if runtime.GOOS != "windows" {
		require.NoError(t, os.Symlink("b.go", filepath.Join(dir, "c.go")))
		_, err = readFile(root, "c.go", 100)
		require.ErrorContains(t, err, "c.go changed while it was read.")
	}
	_, err = readFile(root, "gone.go", 100)
	require.ErrorContains(t, err, "gone.go cannot be read")
}

func TestAFolderWithTooMuchInIt(t *testing.T) {
	files := tree{"b/slab/slab.go": slab, "c/slab.go": slab}
	for i := range maxEntries {
		files[fmt.Sprintf("a/%d/", i)] = ""
	}
	files["a/slab/slab.go"] = slab
	in := opened(t, files.write(t, t.TempDir()))
	require.Equal(t, []string{"a!", "b: slab/slab.go", "c: slab/slab.go"}, found(t, in))
	require.Equal(t, "The submission holds more than 10000 files and folders. Hand in only the exercises' files.",
		in.Submissions()[0].Problem)
}
