package intake

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var seeds = flag.Uint64("seeds", 3, "draw so many exports of each platform")

// nasty are names that people have, or that break programs.
var nasty = []string{
	"Ada Lovelace", "ada lovelace", "ADA LOVELACE", "J\u00F6rg \u00DC", "Jo\u0308rg U\u0308", "Kim O'Hara", "\u674E\u96F7",
	"\u0639\u0645\u0631", "..dots..", "a_b_c", "under_score_slab", "slab", "Slab", "buddy", "async-pipeline", "slab buddy",
	"12345678", "12345679", "007", "name.with.dots", "-rf", "\u202Eevil",
	"x\u200By", " leading", "trailing ", "con", "NUL", "Ada_1234", "LATE", "anon", "old", "new", "v2", "Mary-Jane Watson",
	"a  b", "semi;colon", "q\"uote", "tab\tname", "percent%41", "#hash", "~tilde", "name (1)", "name-1", "name",
	"smith_12_34_x", "John Smith", "\U0001F600 Smile", "\u017Ftrasse", "STRASSE",
	"stra\u00DFe", "M\u00FCller, Jörg-Peter", "ada.zip", "bob.go", "gradebook_x", "submission", "node modules",
	"e\u0301e\u0301",
	strings.Repeat("long", 30), strings.Repeat("\u00FC", 60), strings.Repeat("long", 30) + "er",
}

// handed is what a generated student hands in.
type handed struct {
	name  string
	files []handedFile
	late  bool
}

// handedFile is one Go file. Its text is like no other's.
type handedFile struct {
	name, pkg, text string
	aside           bool // not to be graded
}

// classOf draws so many students. Where the platform does not tell equal names apart by a number, no two have the same.
func classOf(r *rand.Rand, n int, unique bool) []handed {
	var class []handed
	for i, at := range r.Perm(len(nasty))[:n] {
		h := handed{name: nasty[at], late: r.IntN(4) == 0}
		if !unique && i > 0 && r.IntN(5) == 0 {
			h.name = class[r.IntN(i)].name
		}
		for _, j := range r.Perm(len(course))[:1+r.IntN(len(course))] {
			pkg := course[j]
			h.files = append(h.files, handedFile{pkg + ".go", pkg, fmt.Sprintf("package %s\n\n// student %d\n", pkg, i), false})
		}
		class = append(class, h)
	}
	return class
}

// packed is what a student uploads, each thing by its name: Go files alone, an archive for each exercise, or one of
// all, its folder around it or not.
func (h handed) packed(t testing.TB, r *rand.Rand) tree {
	all, out := tree{}, tree{}
	pack := func(f tree) (string, string) {
		switch r.IntN(3) {
		case 0:
			return ".tar.gz", f.targz(t)
		case 1:
			return ".tar", f.tar(t)
		}
		return ".zip", f.zip(t)
	}
	shape, site := r.IntN(6), tree{".cudalab/progress.json": "{}"}
	for _, f := range h.files {
		all[f.pkg+"/"+f.name] = f.text
		site["exercises/"+f.pkg+"/"+f.name] = f.text
		switch shape {
		case 0, 1:
			out[f.name] = f.text
		case 2:
			ext, text := pack(tree{f.name: f.text})
			out[f.pkg+ext] = text
		case 3:
			ext, text := pack(tree{"My Work/" + f.pkg + "/" + f.name: f.text})
			out[f.pkg+" final"+ext] = text
		}
	}
	if shape == 4 {
		ext, text := pack(all)
		out["hand-in"+ext] = text
	}
	if shape == 5 { // what Export in the browser's edition saves
		out["cudalab-work.zip"] = site.zip(t)
	}
	return out
}

// wrapped puts an export in front of intake in one of the ways in which people do: as it is, in folders, or as an
// archive.
func wrapped(t testing.TB, r *rand.Rand, files tree) string {
	dir := t.TempDir()
	switch r.IntN(5) {
	case 0:
		return files.write(t, filepath.Join(dir, "class"))
	case 1:
		files.write(t, filepath.Join(dir, "downloads", "class", "inner"))
		return filepath.Join(dir, "downloads")
	case 2:
		tree{"class.zip": files.zip(t)}.write(t, dir)
		return filepath.Join(dir, "class.zip")
	case 3:
		tree{"downloads/class.zip": files.zip(t)}.write(t, dir)
		return filepath.Join(dir, "downloads")
	}
	tree{"class.tgz": tree{"outer/class/x": ""}.joined("outer/class/", files).targz(t)}.write(t, dir)
	return filepath.Join(dir, "class.tgz")
}

func (f tree) joined(dir string, files tree) tree {
	for name, text := range files {
		f[dir+name] = text
	}
	delete(f, dir+"x")
	return f
}

// losesNobody opens an export and holds it to the invariant: every Go file that was handed in is graded as its
// student's, or told to be left aside, once; nobody is split, nobody joined with another, and the counts add up.
func losesNobody(t testing.TB, seed uint64, kind, students int) {
	p := exporters[kind]
	r := rand.New(rand.NewPCG(seed, uint64(kind)))
	if p.name == inSections {
		students = max(students, fewInSections)
	}
	class := classOf(r, students, p.unique)
	if p.name == inSections {
		class = slices.DeleteFunc(class, func(h handed) bool { return packageNamed(course, strings.Fields(h.name)[0]) != "" })
	}
	export := p.export(t, r, class)
	at := wrapped(t, r, export)
	in, err := Open(at, course, Options{Temp: t.TempDir()})
	require.NoError(t, err, p.name)
	defer in.Close()
	about := fmt.Sprintf("%s, seed %d, read as %s", p.name, seed, in.Form())
	owner := map[string]int{}
	for i, h := range class {
		for _, f := range h.files {
			owner[f.text] = i
		}
	}
	whose, seen := map[string]int{}, map[string]bool{}
	for _, s := range in.Submissions() {
		require.Empty(t, s.Problem, "%s: %s", about, s.ID)
		require.Empty(t, s.Unread, "%s: %s: %v", about, s.ID, s.Attention)
		require.NotEmpty(t, s.From, about)
		graded := 0
		for _, pkg := range s.Packages {
			entries, err := os.ReadDir(filepath.Join(s.Dir, pkg))
			require.NoError(t, err)
			for _, e := range entries {
				if !isGo(e.Name()) {
					continue
				}
				text, err := os.ReadFile(filepath.Join(s.Dir, pkg, e.Name()))
				require.NoError(t, err)
				i, known := owner[string(text)]
				require.True(t, known, "%s: %s has %s graded, which does not count: %s", about, s.ID, e.Name(), text)
				require.False(t, seen[string(text)], "%s: %s is graded twice", about, e.Name())
				seen[string(text)] = true
				if other, ok := whose[s.ID]; ok {
					require.Equal(t, class[other].name, class[i].name, "%s: %s is two students", about, s.ID)
					require.Equal(t, other, i, "%s: %s is two students", about, s.ID)
				}
				whose[s.ID] = i
				graded++
			}
		}
		require.Equal(t, graded, len(slices.DeleteFunc(slices.Clone(s.Files), func(f File) bool { return f.Exercise == "" })),
			"%s: %s: %v", about, s.ID, s.Files)
	}
	for text, i := range owner {
		if !seen[text] {
			for _, s := range in.Submissions() {
				t.Logf("%s: from %s, %v", s.ID, s.From, s.Files)
			}
			require.Fail(t, "a file is lost", "%s: of %q: %s, asked: %v, aside: %v", about, class[i].name, text, in.Attention(),
				in.Aside())
		}
	}
	require.Len(t, in.Submissions(), len(class), "%s: somebody is split, or there are %v", about, in.Attention())
	require.Equal(t, Count{Go: goFilesIn(t, export), Graded: len(owner)}, in.Count(), about)
	fates := map[string]bool{}
	for _, f := range allFiles(in) {
		require.False(t, fates[f.Path], "%s: %s has two fates", about, f.Path)
		require.Equal(t, f.Exercise == "", f.Why != "", "%s: %v", about, f)
		fates[f.Path] = true
	}
	for _, said := range in.Attention() {
		require.NotContains(t, said, "lost sight", about)
	}
}

func allFiles(in *Intake) []File {
	files := slices.Clone(in.Aside())
	for _, s := range in.Submissions() {
		files = append(files, s.Files...)
	}
	return files
}

// goFilesIn counts the Go files of an export, those in archives as well as an archive that may hold one that does not
// count.
func goFilesIn(t testing.TB, files tree) int {
	n := 0
	for name, text := range files {
		switch {
		case isGo(name):
			n++
		case isArchive(name):
			n += strings.Count(unpackedText(t, name, text), "// student ")
		}
	}
	return n
}

// unpackedText is all that is in an archive, and in those inside it.
func unpackedText(t testing.TB, name, text string) string {
	spool, err := newSpool(t.TempDir())
	require.NoError(t, err)
	defer spool.close()
	l, err := listArchive(strings.NewReader(text), int64(len(text)), name, submissionBounds, spool)
	require.NoError(t, err, name)
	all := ""
	for _, e := range l {
		if e.kind != regular {
			continue
		}
		inside, err := e.load(maxPacked)
		require.NoError(t, err)
		if isArchive(e.path) {
			inside = []byte(unpackedText(t, e.path, string(inside)))
		}
		all += string(inside)
	}
	return all
}

func TestExportsLoseNobody(t *testing.T) {
	for kind, p := range exporters {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			for seed := range *seeds {
				losesNobody(t, seed, kind, 40)
			}
		})
	}
}

// FuzzExports draws exports of any platform.
func FuzzExports(f *testing.F) {
	for kind := range exporters {
		f.Add(uint64(1), byte(kind), byte(7))
	}
	f.Fuzz(func(t *testing.T, seed uint64, kind, students byte) {
		losesNobody(t, seed, int(kind)%len(exporters), 12+int(students)%29)
	})
}
