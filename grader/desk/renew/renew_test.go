package renew_test

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cudalab/grader/desk/change"
	"cudalab/grader/desk/parcel"
	"cudalab/grader/desk/renew"
	"cudalab/lessons"
)

// first is a course with this repository's exercises, and some files around them.
func first(t testing.TB) *parcel.Parcel {
	t.Helper()
	p := &parcel.Parcel{Release: parcel.Release{Module: "cudalab", Version: "1.0.0"}, Files: map[string][]byte{}}
	all, err := lessons.Course()
	require.NoError(t, err)
	for _, e := range all {
		skeleton, err := e.Skeleton()
		require.NoError(t, err)
		carried := parcel.Exercise{Name: e.Name, Package: e.Package}
		p.Exercises = append(p.Exercises, carried)
		p.Files[carried.File()] = skeleton
		p.Files["lessons/"+e.Name+".md"] = []byte("# " + e.Title + "\n")
		p.Files["grader/suites/"+e.Package+"/suite.go"] = []byte("package " + e.Package + "\n")
	}
	p.Files["go.mod"] = []byte("module cudalab\n")
	p.Files["exercises/contract/contract.go"] = []byte("package contract\n\ntype Batch struct{ N int }\n")
	p.Files[".gitignore"] = []byte("/bin/\n")
	return p
}

// second is a copy of a course, to be changed.
func second(p *parcel.Parcel) *parcel.Parcel {
	q := *p
	q.Version, q.Files, q.Exercises = "1.1.0", maps.Clone(p.Files), slices.Clone(p.Exercises)
	return &q
}

const slab = "exercises/slab/slab.go"

// edit changes a file of a course's.
func edit(p *parcel.Parcel, file, old, now string) {
	if !strings.Contains(string(p.Files[file]), old) {
		panic(file + " has no " + old)
	}
	p.Files[file] = []byte(strings.ReplaceAll(string(p.Files[file]), old, now))
}

// rename gives the exercise slab another name.
func rename(p *parcel.Parcel) {
	i := slices.IndexFunc(p.Exercises, func(e parcel.Exercise) bool { return e.Name == "slab" })
	p.Exercises[i] = parcel.Exercise{Name: "size-classes", Package: "sizeclasses", Formerly: []string{"slab"}}
	edit(p, slab, "\npackage slab\n", "\npackage sizeclasses\n")
	for _, file := range []string{slab, "lessons/slab.md", "grader/suites/slab/suite.go"} {
		to := strings.ReplaceAll(strings.ReplaceAll(file, "lessons/slab", "lessons/size-classes"), "slab", "sizeclasses")
		p.Files[to] = p.Files[file]
		delete(p.Files, file)
	}
}

// newer are what may come in a newer course.
var newer = map[string]func(*parcel.Parcel){
	"text": func(p *parcel.Parcel) {
		edit(p, slab, "// TODO(1e): Find the class", "// TODO(1e): First, find the class")
		edit(p, slab, "// Allocator hands out", "// Allocator keeps and hands out")
		edit(p, "lessons/slab.md", "#", "# Lesson:")
	},
	"moved gap": func(p *parcel.Parcel) { // from take into Alloc
		text := string(p.Files[slab])
		at := strings.Index(text, "\t// TODO(1d)")
		gap := text[at : at+strings.Index(text[at:], "\n}")]
		text = strings.Replace(text, gap, "\tpanic(fits)", 1)
		text = strings.Replace(text, "\treturn a.take(fits)\n", strings.TrimPrefix(gap, "\n")+"\n", 1)
		p.Files[slab] = []byte(text)
	},
	"renamed gap": func(p *parcel.Parcel) {
		edit(p, slab, `TODO(1f): Give`, `TODO(2a): At last, give`)
		edit(p, slab, `TODO("1f")`, `TODO("2a")`)
		edit(p, slab, "// Stats is the state", "// Stats tells the state")
	},
	"new lesson": func(p *parcel.Parcel) {
		p.Exercises = append(p.Exercises, parcel.Exercise{Name: "compaction", Package: "compaction"})
		p.Files["exercises/compaction/compaction.go"] = []byte("package compaction\n")
		p.Files["lessons/compaction.md"] = []byte("# Compaction\n")
	},
	"renamed exercise": rename,
	"lesson gone": func(p *parcel.Parcel) {
		p.Exercises = slices.DeleteFunc(p.Exercises, func(e parcel.Exercise) bool { return e.Name == "slab" })
		for _, file := range []string{slab, "lessons/slab.md", "grader/suites/slab/suite.go"} {
			delete(p.Files, file)
		}
	},
	"added function": func(p *parcel.Parcel) {
		p.Files[slab] = append(p.Files[slab],
			"\n// Trim is new.\nfunc Trim() error {\n\t// TODO(1g): Trim.\n\treturn contract.TODO(\"1g\")\n}\n"...)
	},
	"added argument": func(p *parcel.Parcel) {
		edit(p, slab, "Free(p cuda.DevicePtr) error", "Free(p cuda.DevicePtr, stream cuda.Stream) error")
		edit(p, "exercises/contract/contract.go", "N int", "N, Work int")
	},
}

// solved writes what a student has made of slab, with a helper in a file of its own, and is its lines.
func solved(t testing.TB, root string) []string {
	t.Helper()
	text, err := os.ReadFile("../../../solutions/slab/slab.go")
	require.NoError(t, err)
	const free = "func (a *Allocator) Free("
	code := strings.Replace(string(text), free, "// mine: how Free goes\n"+free, 1)
	require.NoError(t, os.WriteFile(filepath.Join(root, slab), []byte(code), 0o644))
	helper := "package slab\n\nfunc helper() int { return 7 }\n"
	require.NoError(t, os.WriteFile(filepath.Join(root, "exercises/slab/helper.go"), []byte(helper), 0o644))
	return strings.Split(code+helper, "\n")
}

// unpacked is a course on this machine.
func unpacked(t testing.TB, p *parcel.Parcel) string {
	t.Helper()
	root := filepath.Join(t.TempDir(), "course")
	_, err := p.Unpack(t.Context(), root)
	require.NoError(t, err)
	return root
}

// update brings a course to the state of another, and is what it came to and where the copies are.
func update(t testing.TB, root string, to *parcel.Parcel) (plan *renew.Plan, backup string) {
	t.Helper()
	was, err := parcel.ReadRecord(root)
	require.NoError(t, err)
	before := tree(t, root)
	plan, err = renew.Make(root, was, to)
	require.NoError(t, err)
	require.Equal(t, before, tree(t, root), "to think changes out changes nothing")
	backup, aside, _, err := change.Apply(context.Background(), root, plan.Set, "update", time.Now())
	require.NoError(t, err)
	require.Empty(t, aside)

	again, err := parcel.ReadRecord(root)
	require.NoError(t, err)
	require.Equal(t, to.Release, again.Release)
	next, err := renew.Make(root, again, to)
	require.NoError(t, err)
	require.Empty(t, next.Items, "there is nothing left to do")
	require.Empty(t, next.Set.Write)
	return plan, backup
}

// tree is what is in a course but for cudalab's own.
func tree(t testing.TB, root string) map[string]string {
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

func TestMake(t *testing.T) {
	for name, change := range newer {
		t.Run(name, func(t *testing.T) {
			from := first(t)
			to := second(from)
			change(to)
			t.Run("of an untouched course is the newer one", func(t *testing.T) {
				root := unpacked(t, from)
				update(t, root, to)
				require.Equal(t, tree(t, unpacked(t, to)), tree(t, root))
			})
			t.Run("carries code over", func(t *testing.T) {
				root := unpacked(t, from)
				mine := solved(t, root)
				before := tree(t, root)
				plan, backup := update(t, root, to)
				now := tree(t, root)
				file := slab
				if name == "renamed exercise" {
					file = "exercises/sizeclasses/sizeclasses.go"
					require.Equal(t, map[string]string{"slab": "size-classes"}, plan.Renamed)
					require.Contains(t, now["exercises/sizeclasses/helper.go"], "package sizeclasses\n\nfunc helper()")
					require.NotContains(t, now, slab)
				}
				for _, line := range mine {
					if !strings.Contains(string(from.Files[slab]), line) && !strings.HasPrefix(line, "package ") {
						require.True(t, within(now, path(file), line), "%q", line)
					}
				}
				require.Equal(t, name == "added function", strings.Contains(now[file], "contract.TODO("))
				for kept, text := range before {
					if strings.HasPrefix(kept, "exercises/") {
						got, err := os.ReadFile(filepath.Join(backup, kept))
						require.NoError(t, err)
						require.Equal(t, text, string(got))
					}
				}
				switch name {
				case "text", "moved gap", "renamed gap", "renamed exercise", "added function", "added argument":
					require.Equal(t, renew.Carried, plan.Items[0].Kind, "%+v", plan.Items[0])
					require.Equal(t, file, plan.Items[0].File)
				case "lesson gone":
					require.Equal(t, before[slab], now[slab])
					require.Equal(t, renew.Stays, plan.Items[0].Kind)
				case "new lesson":
					require.Equal(t, before[slab], now[slab])
					require.Equal(t, "package compaction\n", now["exercises/compaction/compaction.go"])
				}
			})
		})
	}
}

func path(file string) string { return file[:strings.LastIndex(file, "/")+1] }

// within reports whether a file below a folder has a line, however it is indented.
func within(files map[string]string, folder, line string) bool {
	for file, text := range files {
		if strings.HasPrefix(file, folder) && strings.Contains(text, strings.TrimSpace(line)) {
			return true
		}
	}
	return false
}

// TestNoLineIsLost has students do all manner of things in a course, and courses change in several ways at once: each
// line that was a student's is somewhere in the course, and the file that it was in is in the copies.
func TestNoLineIsLost(t *testing.T) {
	names := slices.Sorted(maps.Keys(newer))
	from := first(t)
	kinds := map[renew.Kind]int{}
	for seed := range 30 {
		r := rand.New(rand.NewPCG(uint64(seed), 40))
		root := unpacked(t, from)
		written := map[string]string{} // by file
		write := func(file, text string) {
			written[file] = text
			at := filepath.Join(root, file)
			require.NoError(t, os.MkdirAll(filepath.Dir(at), 0o755))
			require.NoError(t, os.WriteFile(at, []byte(text), 0o644))
		}
		if r.IntN(4) > 0 {
			solved(t, root)
		}
		for n := range 1 + r.IntN(5) {
			files := slices.Sorted(maps.Keys(tree(t, root)))
			file := files[r.IntN(len(files))]
			if r.IntN(2) == 0 {
				file = slab
			}
			text, err := os.ReadFile(filepath.Join(root, file))
			if err != nil {
				continue
			}
			lines := strings.SplitAfter(string(text), "\n")
			at := r.IntN(len(lines) + 1)
			write(file, strings.Join(slices.Insert(lines, at, fmt.Sprintf("// mine %d.%d\n", seed, n)), ""))
		}
		switch r.IntN(6) {
		case 0: // another file in the place of one that comes
			write("exercises/compaction/compaction.go", fmt.Sprintf("package compaction\n\n// mine %d\n", seed))
		case 1: // what does not parse
			write(slab, fmt.Sprintf("package slab\n\nfunc ( // mine %d\n", seed))
		case 2: // all in a file of another name
			require.NoError(t, os.Remove(filepath.Join(root, slab)))
			write("exercises/slab/own.go", fmt.Sprintf("package slab\n\n// mine %d\n", seed))
			delete(written, slab)
		case 3: // nothing there any more
			require.NoError(t, os.RemoveAll(filepath.Join(root, "exercises/slab")))
			maps.DeleteFunc(written, func(file, _ string) bool { return strings.HasPrefix(file, "exercises/slab/") })
		}
		to := second(from)
		var done []string
		for _, i := range r.Perm(len(names))[:1+r.IntN(3)] {
			if !slices.Contains(done, "renamed exercise") && !slices.Contains(done, "lesson gone") { // there is no slab then
				newer[names[i]](to)
				done = append(done, names[i])
			}
		}
		before := tree(t, root)
		plan, backup := update(t, root, to)
		for _, i := range plan.Items {
			kinds[i.Kind]++
		}
		now := tree(t, root)
		what := fmt.Sprintf("seed %d: %q, %+v", seed, done, plan.Items)
		for file, text := range before {
			for line := range strings.Lines(text) {
				if strings.Contains(line, "// mine") {
					require.True(t, within(now, "", line), "%s: %q of %s", what, line, file)
				}
			}
			if strings.HasPrefix(file, "exercises/") {
				kept, err := os.ReadFile(filepath.Join(backup, file))
				require.NoError(t, err, what)
				require.Equal(t, text, string(kept))
			}
			if now[file] != text && from.Files[file] != nil && string(from.Files[file]) != text {
				kept, err := os.ReadFile(filepath.Join(backup, file))
				require.NoError(t, err, what)
				require.Equal(t, text, string(kept))
			}
		}
	}
	t.Log(kinds)
	require.Len(t, kinds, int(renew.Removed)+1, "of everything that can become of a file there was some")
}
