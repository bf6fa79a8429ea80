package intake

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// FuzzFolder hands in any tree of small files, of which each line of the text is one: its path, a tab, and the package
// that it says it is of, or what else is in it. Nobody's files are taken for another's, and the files keep their words.
func FuzzFolder(f *testing.F) {
	for _, lines := range []string{
		"class/ada/slab.zip/x.go\tslab\nsection A/ada/slab.go\tslab\nsection A/bob/slab.go\tslab\nsection " +
			"B/cem/slab.go\tslab\nsection B/dan/slab.go\tslab",
		"slab/ada/slab.go\tslab\nslab/bob/slab.go\tslab\nbuddy/ada/buddy.go\tbuddy\nbuddy/bob/x.GO\tbuddy",
		"smithjohn_LATE_1_2_slab.go\tslab\nsmithjohn_LATE_1_3_slab-1.go\tslab\nanon_ab12c_4_buddy.go\tbuddy\nstray.go\tslab",
		"gradebook_c_l_ada_attempt_2026-09-01-23-59-59_slab.go\tslab\ngradebook_c_l_ada_attempt_2026-09-02-23-59-59_buddy.go\tbuddy\ngradebook_c_l_ada_attempt_2026-09-02-23-59-59.txt\tx",
		"ada_slab.go\tslab\nbob_slab.go\tslab\nbob-buddy.go\tbuddy\nada/buddy.go\tbuddy\n.cem/slab.go\tslab",
		"lab-submissions/lab-ada/slab/slab.go\tslab\nlab-submissions/lab-bob/slab/slab.go\tslab",
		"slab/ada/slab.go\tslab\nslab/bob/slab.go\tslab\nbuddy/ada/buddy.go\tbuddy",
		"ada/slab/slab.go\tslab\nbob/slab.go\tslab\nbob/b.go\tbuddy\nbob/notes.txt\tx",
		"class/ada/exercises/slab/slab.go\tslab\nclass/ada/solutions/slab/slab.go\tslab\nclass/Ada/slab/slab.go\tslab",
		"slab/slab.go\tslab\nslab/SLAB.go\tslab\nslab/a b.go\tslab\nslab/_x.go\tslab\nslab/x_test.go\tslab_test",
		"Ada Lovelace_1_assignsubmission_file_/slab.go\tslab\nBob_2_assignsubmission_file_slab.go\tslab\n.git/config\tx",
		"assignment_1_export/submission_7/slab.go\tslab\nassignment_1_export/submission_8/x.go\tbuddy\nassignment_1_export/submission_metadata.yml\t" +
			`submission_7:\n  :submitters:\n  - :name: "J\u00F6rg"\n    :email: x\n  - :name: 'O''Hara'\nsubmission_8:\n - :name: |\n`,
		"a/b/c/d/slab/slab.go\tslab\na/b/c/d/asyncpipeline/x.go\tslab\na/b/c/d/x/asyncpipeline.go\tasyncpipeline",
		"ada.zip\tno archive\nbob/x.tar.gz\tx",
		"con/slab.go\tslab\nm\u00fcller/slab.go\tslab\nmu\u0308ller/slab.go\tslab\n\xff/slab.go\tslab",
	} {
		f.Add(lines)
	}
	f.Fuzz(func(t *testing.T, lines string) {
		around := t.TempDir()
		dir := filepath.Join(around, "subs")
		require.NoError(t, os.Mkdir(dir, 0o700))
		written := plant(t, dir, lines)
		in, err := Open(dir, course, Options{Temp: around})
		if err != nil {
			var unusable *Error
			require.ErrorAs(t, err, &unusable)
			require.True(t, strings.HasSuffix(err.Error(), "."), err.Error())
			return
		}
		defer in.Close()
		checkBounds(t, in)
		checkLedger(t, in, written)
		owner := map[string]string{}
		for _, s := range in.Submissions() {
			for _, said := range append(slices.Clone(s.Notes), s.Problem) {
				require.True(t, utf8.ValidString(said) && !strings.Contains(said, "\n"), "%q", said)
			}
			for _, pkg := range s.Packages {
				files, err := os.ReadDir(filepath.Join(s.Dir, pkg))
				require.NoError(t, err)
				for _, entry := range files {
					file := filepath.Join(s.Dir, pkg, entry.Name())
					text, err := os.ReadFile(file)
					require.NoError(t, err)
					from, ok := written[string(text)]
					require.True(t, ok, "%s holds what was not handed in", file)
					require.True(t, strings.HasSuffix(strings.ToLower(portable(filepath.Base(from))),
						strings.ToLower(filepath.Base(file))),
						"%s was %s", file, from) // or what stands behind a platform's
					if other, taken := owner[from]; taken {
						require.Equal(t, other, s.ID, "%s is taken for another's", from)
					}
					owner[from] = s.ID
				}
			}
		}
	})
}

// checkLedger makes sure that every Go file is told of once: as graded, if and only if a copy of it is, or as left
// aside.
func checkLedger(t *testing.T, in *Intake, written map[string]string) {
	told := map[string]File{}
	note := func(files []File) {
		for _, f := range files {
			other, twice := told[f.Path]
			require.False(t, twice, "%v is told of twice: %v", f, other)
			require.Equal(t, f.Exercise == "", f.Why != "", "%v", f)
			told[f.Path] = f
		}
	}
	note(in.Aside())
	copies := map[string]bool{}
	for _, s := range in.Submissions() {
		note(s.Files)
		for _, pkg := range s.Packages {
			files, err := os.ReadDir(filepath.Join(s.Dir, pkg))
			require.NoError(t, err)
			for _, f := range files {
				text, err := os.ReadFile(filepath.Join(s.Dir, pkg, f.Name()))
				require.NoError(t, err)
				copies[written[string(text)]] = true
			}
		}
	}
	for _, said := range in.Attention() {
		require.NotContains(t, said, "lost sight")
	}
	for _, path := range written {
		if _, left := visible(filepath.ToSlash(path)); left != "" || !isGo(path) {
			continue
		}
		f, ok := told[filepath.ToSlash(path)]
		require.True(t, ok, "nothing is told of %q: %v", path, told)
		require.Equal(t, copies[path], f.Exercise != "", "%v", f)
	}
}

// plant writes the files that the lines name, as far as a disk takes them, and answers their paths by their texts.
func plant(t *testing.T, dir, lines string) map[string]string {
	root, err := os.OpenRoot(dir)
	require.NoError(t, err)
	defer root.Close()
	written := map[string]string{}
	for line := range strings.Lines(lines) {
		path, inside, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		text := "package " + inside + "\n// " + path + "\n"
		if slices.Contains(gradescopeNames, filepath.Base(path)) {
			text = strings.ReplaceAll(inside, `\n`, "\n")
		}
		if !filepath.IsLocal(path) || len(written) == 40 || root.MkdirAll(filepath.Dir(path), 0o700) != nil {
			continue
		}
		f, err := root.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		var refused *fs.PathError
		if errors.As(err, &refused) {
			continue
		}
		require.NoError(t, err)
		_, err = f.WriteString(text)
		require.NoError(t, err)
		require.NoError(t, f.Close())
		written[text] = filepath.Clean(path)
	}
	return written
}

// FuzzIDs gives submissions of any names their IDs, a line each: names of files everywhere, one for each, whatever the
// order.
func FuzzIDs(f *testing.F) {
	for _, names := range []string{
		"ada\nada.zip\nAda\nada_2\nADA_2", "M\u00fcller\nMu\u0308ller\nM\xfcller", "con\n_con\nCON.x\naux.tar.gz",
		"STRASSE\nstra\u00dfe\n\u017ftrasse",
		strings.Repeat("\u00fc", 70) + "\n" + strings.Repeat("\u00fc", 80) + "\n" + strings.Repeat("x", 119) + ".\n" +
			strings.Repeat("x", 119), "..\n.\n\n-\n a \n\u2028\n\u202e", "a\u0300" + strings.Repeat("\u0301", 200),
	} {
		f.Add(names)
	}
	f.Fuzz(func(t *testing.T, lines string) {
		names := strings.Split(lines, "\n")
		if len(names) > 50 {
			return
		}
		slices.Sort(names)
		names = slices.Compact(names)
		given := func() map[string]string {
			var units []*unit
			for _, name := range names {
				units = append(units, &unit{name: name, from: name})
			}
			identify(units)
			ids := map[string]string{}
			for _, u := range units {
				ids[u.from] = u.id
			}
			return ids
		}
		ids := given()
		taken := map[string]string{}
		for name, id := range ids {
			require.True(t, IsID(id), "%q has the ID %q", name, id)
			require.LessOrEqual(t, len(id), maxID)
			require.True(t, utf8.ValidString(id) && filepath.Base(id) == id && id[0] != '.', "%q", id)
			other, twice := taken[fold(id)]
			require.False(t, twice, "%q and %q have the ID %q", name, other, id)
			taken[fold(id)] = name
		}
		slices.Reverse(names)
		require.Equal(t, ids, given())
	})
}
