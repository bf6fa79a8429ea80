package cli

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cudalab/grader/desk/parcel"
)

const slabFile = "exercises/slab/slab.go"

// newerCourse is a course that has changed: the version, words, and in slab a gap's words and a function.
func newerCourse(t *testing.T, p *parcel.Parcel) *parcel.Parcel {
	t.Helper()
	q := *p
	q.Version, q.Files = "999.0.0", maps.Clone(p.Files)
	text := strings.Replace(string(q.Files[slabFile]), "// TODO(1e): Find", "// TODO(1e): Now find", 1)
	require.NotEqual(t, string(q.Files[slabFile]), text)
	q.Files[slabFile] = []byte(text +
		"\n// Trim is new.\nfunc Trim() error {\n\t// TODO(9a): Trim.\n\treturn contract.TODO(\"9a\")\n}\n")
	q.Files["lessons/slab.md"] = append([]byte("Newer.\n"), q.Files["lessons/slab.md"]...)
	delete(q.Files, "lessons/ring.md")
	return &q
}

func solve(t *testing.T, dir, exercise string) {
	t.Helper()
	file := filepath.Join(exercise, exercise+".go")
	text, err := os.ReadFile(filepath.Join("../../../solutions", file))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "exercises", file), text, 0o644))
}

// content is what is in a course but for cudalab's own.
func content(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	require.NoError(t, fs.WalkDir(os.DirFS(dir), ".", func(file string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || strings.HasPrefix(file, ".cudalab/") {
			return err
		}
		text, err := os.ReadFile(filepath.Join(dir, file))
		all[file] = string(text)
		return err
	}))
	return all
}

func TestUpdate(t *testing.T) {
	p := packed(t)
	q := newerCourse(t, p)
	older, newer := install(t, p), install(t, q)
	dir := filepath.Join(t.TempDir(), "course")
	begin := func(t *testing.T) {
		t.Helper()
		require.NoError(t, os.RemoveAll(dir))
		_, stderr, status := older.in(t.TempDir(), "init", dir)
		require.Zero(t, status, stderr)
		solve(t, dir, "slab")
	}
	begin(t)

	before := content(t, dir)
	stdout, stderr, status := newer.in(dir, "update", "--dry-run")
	require.Zero(t, status, stderr)
	require.Regexp(t, `^This would bring .*course from \d+\.\d+\.\d+ .*to 999\.0\.0 `, stdout)
	require.Contains(t, stdout, slabFile+": your code goes on in 1a, 1b, 1c, 1d, 1e, 1f.\n")
	require.Contains(t, stdout, "The course's own files: 1 replaced, 0 new, 1 gone.")
	require.Equal(t, before, content(t, dir))

	began := time.Now()
	stdout, stderr, status = newer.in(dir, "update")
	took := time.Since(began)
	require.Zero(t, status, stderr)
	require.Regexp(t, `^.*course is now the course of cudalab 999\.0\.0`, stdout)
	require.Regexp(t, `kept in \.cudalab/backup/update-[\d-]+\.\n$`, stdout)
	after := content(t, dir)
	require.Contains(t, after[slabFile], "contract.TODO(\"9a\")")
	require.Equal(t, 1, strings.Count(after[slabFile], "contract.TODO("))
	kept, err := filepath.Glob(filepath.Join(dir, ".cudalab/backup/update-*", slabFile))
	require.NoError(t, err)
	require.Len(t, kept, 1)
	text, err := os.ReadFile(kept[0])
	require.NoError(t, err)
	require.Equal(t, before[slabFile], string(text))

	stdout, _, status = newer.in(dir, "update")
	require.Zero(t, status)
	require.Contains(t, stdout, "is the course of cudalab 999.0.0 already.")

	t.Run("code that does not compile any more is told", func(t *testing.T) {
		renamed := *q
		renamed.Version, renamed.Files = "999.1.0", maps.Clone(q.Files)
		for file, text := range q.Files {
			if strings.HasSuffix(file, ".go") {
				renamed.Files[file] = bytes.ReplaceAll(text, []byte("ErrFull"), []byte("ErrNoRoom"))
			}
		}
		newest := install(t, &renamed)
		stdout, stderr, status := newest.in(dir, "update")
		require.Zero(t, status, stderr)
		line := 1 + strings.Count(content(t, dir)[slabFile][:strings.Index(content(t, dir)[slabFile], "ErrFull")], "\n")
		require.Contains(t, stdout, "Your code of slab does not compile in this course:\n")
		require.Contains(t, strings.Join(strings.Fields(stdout), " "),
			fmt.Sprintf("%s:%d: undefined: contract.ErrFull", slabFile, line))
		require.Contains(t, stdout, "Mend it there; `cudalab check slab` tells more.\n")
		require.NotContains(t, stdout, "buddy", "it has not been begun")

		noGo := newest
		noGo.env = append(slices.Clone(noGo.env), "PATH=/nowhere")
		begin(t)
		stdout, stderr, status = noGo.in(dir, "update")
		require.Zero(t, status, stderr)
		require.Contains(t, stdout, "is now the course of cudalab 999.1.0")
		begin(t)
		_, stderr, status = newer.in(dir, "update")
		require.Zero(t, status, stderr)
		require.Equal(t, after, content(t, dir))
	})
	t.Run("an older cudalab leaves a newer course alone", func(t *testing.T) {
		_, stderr, status := older.in(dir, "update")
		require.Equal(t, 2, status)
		require.Contains(t, stderr, "which is older: get the newer one. Nothing was changed.")
		require.Equal(t, after, content(t, dir))
	})
	t.Run("a handout gets no solutions", func(t *testing.T) {
		record := filepath.Join(dir, filepath.FromSlash(parcel.RecordFile))
		text, err := os.ReadFile(record)
		require.NoError(t, err)
		handedOut := bytes.Replace(text, []byte(`"module"`), []byte(`"handout": true, "module"`), 1)
		require.NoError(t, os.WriteFile(record, handedOut, 0o644))
		_, stderr, status := newer.in(dir, "update")
		require.Equal(t, 2, status)
		require.Contains(t, stderr, "is a course without solutions, and this cudalab carries one with: use the one that ")
		require.NoError(t, os.WriteFile(record, text, 0o644))
	})
	t.Run("a copy of the repository is git's", func(t *testing.T) {
		_, stderr, status := newer.in("../../..", "update")
		require.Equal(t, 2, status)
		require.Contains(t, stderr, "was not written by cudalab init. If it is a copy of a repository, `git pull`")
	})
	t.Run("an argument that a call has come to lack is added", func(t *testing.T) {
		begin(t)
		solve(t, dir, "streampool")
		file := filepath.Join(dir, "exercises/streampool/streampool.go")
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		older := bytes.Replace(text, []byte("Malloc(bytes, o.stream)"), []byte("Malloc(bytes)"), 1)
		require.NotEqual(t, string(text), string(older))
		require.NoError(t, os.WriteFile(file, older, 0o644))
		stdout, stderr, status := newer.in(dir, "update")
		require.Zero(t, status, stderr)
		require.Contains(t, strings.Join(strings.Fields(stdout), " "), "Malloc takes one argument more by now, s "+
			"cuda.Stream: o.stream was added to the call in streampool.go:")
		require.NotContains(t, stdout, "does not compile")
		now, err := os.ReadFile(file)
		require.NoError(t, err)
		require.Equal(t, string(text), string(now))
	})
	t.Run("where nothing can be written nothing changes", func(t *testing.T) {
		if runtime.GOOS != "linux" {
			t.Skip("limits as Linux has them")
		}
		begin(t)
		before := content(t, dir)
		_, stderr, status := newer.run(dir, exec.Command("sh", "-c", "ulimit -f 8; exec "+newer.binary+" update"))
		require.Equal(t, 3, status)
		require.Contains(t, stderr, "the changes could not be prepared: ")
		require.Contains(t, stderr, "Nothing was changed.")
		require.Equal(t, before, content(t, dir))
		require.NotContains(t, entries(t, filepath.Join(dir, ".cudalab")), "change")

		require.NoError(t, os.RemoveAll(filepath.Join(dir, ".cudalab", "backup")))
		require.NoError(t, os.WriteFile(filepath.Join(dir, ".cudalab", "backup"), nil, 0o644)) // root may write everywhere
		_, stderr, status = newer.in(dir, "update")
		require.Equal(t, 3, status)
		require.Contains(t, stderr, "Nothing was changed.")
		require.Equal(t, before, content(t, dir))
	})
	t.Run("kill -9 leaves the old or the new", func(t *testing.T) {
		outcome := map[string]int{}
		for range 12 {
			begin(t)
			before := content(t, dir)
			update := exec.Command(newer.binary, "update")
			update.Dir, update.Env = dir, append(os.Environ(), newer.env...)
			require.NoError(t, update.Start())
			time.Sleep(time.Duration(rand.Int64N(int64(took))))
			_ = update.Process.Kill()
			_ = update.Wait()
			_, stderr, status := newer.in(dir, "list")
			require.Zero(t, status, stderr)
			now := content(t, dir)
			if now[slabFile] == before[slabFile] {
				outcome["old"]++
				require.Equal(t, before, now)
				continue
			}
			outcome["new"]++
			if strings.Contains(stderr, "An update was stopped before it was done; now it is.") {
				outcome["of these gone on with"]++
			}
			require.Equal(t, after, now)
		}
		t.Log(outcome)
	})
}

// What an instructor hands out holds cudalab itself: instructors bring the folder to what they would hand out now,
// students theirs to that of a newer one, and both keep what they have written.
func TestAHandoutIsUpdatedInPlace(t *testing.T) {
	p := packed(t)
	c := install(t, p)
	newer := filepath.Join(t.TempDir(), "handout [new]")
	handOut := func(t *testing.T, to string) string {
		t.Helper()
		stdout, stderr, status := c.in("../../..", "handout", to)
		require.Zero(t, status, stderr)
		return stdout
	}
	handOut(t, newer)
	require.Contains(t, handOut(t, newer), "is this course's handout already.")
	begin := func(t *testing.T) (older string, record []byte) {
		t.Helper()
		older = filepath.Join(t.TempDir(), "handout [old]")
		require.NoError(t, os.CopyFS(older, os.DirFS(newer)))
		was, err := parcel.ReadRecord(older)
		require.NoError(t, err)
		write := func(file, text string) {
			require.NoError(t, os.WriteFile(filepath.Join(older, filepath.FromSlash(file)), []byte(text), 0o644))
			was.Files[file] = parcel.Digest([]byte(text))
		}
		write("lessons/slab.md", "An older chapter.\n")
		write("cmd/cudalab/gone.go", "package main\n")
		before := strings.NewReplacer("\npackage slab\n", "\npackage slab // as it was\n")
		skeleton := before.Replace(was.Skeletons[slabFile])
		require.NotEqual(t, was.Skeletons[slabFile], skeleton)
		write(slabFile, skeleton)
		was.Version, was.Skeletons[slabFile] = "0.0.1", skeleton
		require.NoError(t, os.WriteFile(filepath.Join(older, filepath.FromSlash(parcel.RecordFile)), was.Text(), 0o644))
		solve(t, older, "slab")
		solved := before.Replace(content(t, older)[slabFile])
		require.NoError(t, os.WriteFile(filepath.Join(older, slabFile), []byte(solved), 0o644))
		require.NoError(t, os.WriteFile(filepath.Join(older, "README.md"), []byte("Ours.\n"), 0o644))
		return older, was.Text()
	}
	renewed := func(t *testing.T, older, stdout string) {
		t.Helper()
		require.Contains(t, stdout, " is now the course of cudalab "+p.Version)
		require.Contains(t, stdout, slabFile+": your code goes on in 1a, 1b, 1c, 1d, 1e, 1f.\n")
		require.Contains(t, stdout, "Build its cudalab anew: go build -o bin/cudalab ./cmd/cudalab")
		want, got := content(t, newer), content(t, older)
		require.Equal(t, "Ours.\n", got["README.md"])
		require.NotContains(t, got[slabFile], "contract.TODO(")
		require.NotContains(t, got[slabFile], "as it was")
		for _, file := range []string{"README.md", slabFile} {
			delete(want, file)
			delete(got, file)
		}
		require.Equal(t, want, got)
	}

	older, _ := begin(t)
	renewed(t, older, handOut(t, older))
	older, record := begin(t)
	_, stderr, status := c.in(older, "update")
	require.Equal(t, 2, status)
	require.Contains(t, strings.Join(strings.Fields(stderr), " "), "name the folder of the newer one, as in cudalab")
	stdout, stderr, status := c.in(older, "update", newer, "--dry-run")
	require.Zero(t, status, stderr)
	require.Contains(t, stdout, "The course's own files: 1 replaced, 0 new, 1 gone.")
	stdout, stderr, status = c.in(older, "update", newer)
	require.Zero(t, status, stderr)
	renewed(t, older, stdout)

	for folder, says := range map[string]string{
		t.TempDir(): "is no whole handout", filepath.Join(older, "lessons"): "is no whole handout",
	} {
		_, stderr, status := c.in(older, "update", folder)
		require.Equal(t, 2, status)
		require.Contains(t, stderr, says)
	}
	at := filepath.Join(older, filepath.FromSlash(parcel.RecordFile))
	require.NoError(t, os.WriteFile(at, record[:len(record)/2], 0o644))
	_, stderr, status = c.in(newer, "update", older)
	require.Equal(t, 2, status)
	require.Contains(t, stderr, "is damaged")
	course := filepath.Join(t.TempDir(), "course")
	_, stderr, status = c.in(t.TempDir(), "init", course)
	require.Zero(t, status, stderr)
	_, stderr, status = c.in(course, "update", newer)
	require.Equal(t, 2, status)
	require.Contains(t, strings.Join(strings.Fields(stderr), " "), "call its cudalab update here. Nothing was changed.")
}

func TestExportAndImport(t *testing.T) {
	p := packed(t)
	q := newerCourse(t, p)
	c, newer := install(t, p), install(t, q)
	from, there := filepath.Join(t.TempDir(), "from"), filepath.Join(t.TempDir(), "there")
	_, stderr, status := c.in(t.TempDir(), "init", from)
	require.Zero(t, status, stderr)
	_, stderr, status = c.in(from, "export")
	require.Equal(t, 2, status)
	require.Contains(t, stderr, "there is nothing to export")

	solve(t, from, "slab")
	require.NoError(t, os.WriteFile(filepath.Join(from, "exercises/slab/own.go"), []byte("package slab\n"), 0o644))
	_, stderr, status = c.in(from, "check", "slab", "--device", "sim", "--no-timing")
	require.Zero(t, status, stderr)
	stdout, stderr, status := c.in(from, "export")
	require.Zero(t, status, stderr)
	require.Contains(t, stdout, "Your code of slab, and how far you are, is in cudalab-work.zip.")
	work := filepath.Join(from, workFile)
	z, err := zip.OpenReader(work)
	require.NoError(t, err)
	var names []string
	for _, f := range z.File {
		names = append(names, f.Name)
	}
	require.NoError(t, z.Close())
	require.Equal(t, []string{".cudalab/course.json", ".cudalab/progress.json", "exercises/slab/own.go", slabFile}, names)
	_, stderr, status = c.in(from, "export")
	require.Equal(t, 2, status)
	require.Contains(t, stderr, "is there already, and nothing is overwritten")

	t.Run("into the same course elsewhere", func(t *testing.T) {
		_, stderr, status := c.in(t.TempDir(), "init", there)
		require.Zero(t, status, stderr)
		stdout, stderr, status := c.in(there, "import", work)
		require.Zero(t, status, stderr)
		require.Contains(t, stdout, "Taken in: slab.\n")
		require.Equal(t, content(t, from)[slabFile], content(t, there)[slabFile])
		require.Equal(t, "package slab\n", content(t, there)["exercises/slab/own.go"])
		stdout, _, _ = c.in(there, "list")
		require.Regexp(t, `slab .*passed`, stdout)
		require.NotContains(t, stdout, "edited since")
	})
	t.Run("other code is replaced only where that is meant, and kept", func(t *testing.T) {
		mine := []byte("package slab\n\n// mine\n")
		require.NoError(t, os.WriteFile(filepath.Join(there, slabFile), mine, 0o644))
		_, stderr, status := c.in(there, "import", work)
		require.Equal(t, 2, status)
		require.Contains(t, stderr, "you have other code of slab here")
		require.Equal(t, string(mine), content(t, there)[slabFile])
		stdout, stderr, status := c.in(there, "import", work, "--yes")
		require.Zero(t, status, stderr)
		require.Contains(t, stdout, "What was there before is kept in .cudalab/backup/import-")
		kept, err := filepath.Glob(filepath.Join(there, ".cudalab/backup/import-*", slabFile))
		require.NoError(t, err)
		found := false
		for _, file := range kept {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			found = found || bytes.Equal(text, mine)
		}
		require.True(t, found)
	})
	t.Run("from a folder or a file, into a newer course", func(t *testing.T) {
		for _, at := range []string{work, from} {
			renewed := filepath.Join(t.TempDir(), "renewed")
			_, stderr, status := newer.in(t.TempDir(), "init", renewed)
			require.Zero(t, status, stderr)
			_, stderr, status = newer.in(renewed, "import", at)
			require.Zero(t, status, stderr)
			require.Equal(t, 1, strings.Count(content(t, renewed)[slabFile], "contract.TODO("), at)
		}
	})
	t.Run("what is damaged harms nothing", func(t *testing.T) {
		text, err := os.ReadFile(work)
		require.NoError(t, err)
		before := content(t, there)
		bad := filepath.Join(t.TempDir(), "bad.zip")
		changed := bytes.Clone(text)
		for i := range changed[:len(changed)/2] {
			changed[i] ^= byte(i)
		}
		for _, broken := range [][]byte{nil, []byte("no zip"), text[:len(text)/2], text[:len(text)-1], changed} {
			require.NoError(t, os.WriteFile(bad, broken, 0o644))
			_, stderr, status := c.in(there, "import", bad, "--yes")
			require.Equal(t, 2, status, stderr)
			require.Regexp(t, "no zip archive, or a damaged one|damaged there|cannot be read", stderr)
			require.Contains(t, stderr, "Nothing was changed.")
		}
		_, stderr, status := c.in(there, "import", "nowhere.zip")
		require.Equal(t, 2, status)
		require.Contains(t, stderr, "nowhere.zip cannot be read: no such file or directory.")
		_, stderr, status = c.in(there, "import", filepath.Dir(bad))
		require.Equal(t, 2, status)
		require.Contains(t, stderr, "there is no exercise in ")
		require.Equal(t, before, content(t, there))
	})
}
