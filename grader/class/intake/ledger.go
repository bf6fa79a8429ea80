package intake

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"
)

// File is what became of one file: every Go file that was handed in is in exactly one place of an intake, graded or
// left aside. So is every archive that was not opened, which may hold some.
type File struct {
	Path     string // in SUBMISSIONS; what is in an archive lies below its name
	Exercise string // the package as which it is graded; "" if it is left aside
	Why      string // it is left aside, as a part of a sentence; "" if it is graded
}

// counted reports whether a file is one that intake accounts for.
func (e entry) counted() bool {
	return e.kind == regular && (isGo(e.path) || isArchive(e.path) || unreadableArchive(e.path) != "") ||
		e.kind == special && isGo(e.path) || e.kind == folder && e.fault != ""
}

// files are the entries of a listing that intake accounts for, all left aside for one reason.
func (l listing) files(why string) []File {
	var files []File
	for _, e := range l {
		if e.counted() {
			files = append(files, File{Path: e.from, Why: why})
		}
	}
	return files
}

// ledger is what became of the files of one submission, by their paths in SUBMISSIONS.
type ledger map[string]File

// leave tells why an entry is left aside. The first reason stays.
func (b ledger) leave(e entry, why string) {
	if _, told := b[e.from]; !told {
		b[e.from] = File{Path: e.from, Why: why}
	}
}

// settle is the ledger of all entries of a submission; what nothing is told of has the reason that is given.
func (b ledger) settle(l listing, opened map[string]bool, why string) []File {
	var files []File
	for _, e := range l {
		f, told := b[e.from]
		switch {
		case !e.counted(), opened[e.from] && !told:
			continue
		case !told:
			f = File{Path: e.from, Why: why}
		}
		files = append(files, f)
	}
	return byPath(files)
}

func byPath(files []File) []File {
	slices.SortFunc(files, func(a, b File) int { return cmp.Compare(a.Path, b.Path) })
	return slices.CompactFunc(files, func(a, b File) bool { return a.Path == b.Path })
}

// account makes sure that no file of SUBMISSIONS is lost: what lies there, and is neither in a submission nor left
// aside, is left aside by a fault of cudalab's, which says so.
func (in *Intake) account(l listing) {
	known := map[string]bool{}
	note := func(files []File) {
		for _, f := range files {
			for p := f.Path; p != "." && !known[p]; p = path.Dir(p) {
				known[p] = true
			}
		}
	}
	note(in.aside)
	for _, s := range in.submissions {
		note(s.Files)
		for _, p := range s.opened {
			known[p] = true
		}
	}
	var lost []string
	for _, e := range l {
		if e.counted() && e.kind != folder && !known[e.from] {
			lost = append(lost, e.from)
			in.aside = append(in.aside, File{Path: e.from, Why: "cudalab lost sight of it, which is a fault of its own"})
		}
	}
	if len(lost) > 0 {
		in.attention = append(in.attention,
			fmt.Sprintf("cudalab has lost sight of %s, which is a fault of its own: please report it, and look at them "+
				"yourself.",
				listed(lost)))
	}
	in.aside = byPath(in.aside)
}

// Count is how many Go files were handed in, and how many of them are graded.
type Count struct{ Go, Graded int }

func (c *Count) add(files []File) {
	for _, f := range files {
		if !isGo(f.Path) {
			continue
		}
		c.Go++
		if f.Exercise != "" {
			c.Graded++
		}
	}
}

// Count counts the Go files of all submissions and those that are nobody's.
func (in *Intake) Count() Count {
	var c Count
	c.add(in.aside)
	for _, s := range in.submissions {
		c.add(s.Files)
	}
	return c
}

// within are the entries of an archive with their paths in SUBMISSIONS.
func (l listing) within(archive string) listing {
	for i := range l {
		l[i].from = strings.TrimSuffix(archive+"/"+l[i].path, "/")
	}
	return l
}
