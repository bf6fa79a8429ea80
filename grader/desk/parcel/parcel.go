// Package parcel is the course as a cudalab carries it, so that one file is all there is to install: the files that a
// student works in and that checks are built from, and apart from them the solutions, which a handout's cudalab has
// not.
//
// The two archives of this folder are empty, so that `go build` needs nothing else. `make build` has package handout
// pack the course, and the compiler take what comes of it in their place (go build -overlay): nothing that is generated
// lies in the tree, and no archive is older than the code around it.
package parcel

import (
	"archive/zip"
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/andybalholm/brotli"
)

//go:embed course.zip.br
var courseZip []byte

//go:embed solutions.zip.br
var solutionsZip []byte

// The archives' files, relative to the course's root.
const (
	CourseZip    = "grader/desk/parcel/course.zip.br"
	SolutionsZip = "grader/desk/parcel/solutions.zip.br"
)

// Release says which course a parcel holds.
type Release struct {
	Module    string     `json:"module"`
	Version   string     `json:"version"`
	Commit    string     `json:"commit,omitempty"`  // of the repository that it was packed in
	Handout   bool       `json:"handout,omitempty"` // there are no solutions
	Exercises []Exercise `json:"exercises"`
}

// Exercise is one of the course's.
type Exercise struct {
	Name     string   `json:"name"`
	Package  string   `json:"package"`
	Formerly []string `json:"formerly,omitempty"` // names that it once had
}

// File is the exercise's file, of which the skeleton is one.
func (e Exercise) File() string { return "exercises/" + e.Package + "/" + e.Package + ".go" }

// Parcel is a course to be written somewhere.
type Parcel struct {
	Release
	Files map[string][]byte // by their paths below the course's root, with slashes
}

// ErrNone is the error of Own in a program that carries no course.
var ErrNone = errors.New("this cudalab was built without a course in it")

// Own is what this program carries.
func Own() (*Parcel, error) {
	if len(courseZip) == 0 {
		return nil, ErrNone
	}
	return Read(courseZip, solutionsZip)
}

// Read opens the two archives that Archives has made. That of the solutions may be empty.
func Read(course, solutions []byte) (*Parcel, error) {
	p := &Parcel{Files: map[string][]byte{}}
	for _, archive := range [][]byte{course, solutions} {
		if len(archive) == 0 {
			continue
		}
		plain, err := io.ReadAll(brotli.NewReader(bytes.NewReader(archive)))
		if err != nil {
			return nil, fmt.Errorf("the course in this program is damaged: %w", err)
		}
		z, err := zip.NewReader(bytes.NewReader(plain), int64(len(plain)))
		if err != nil {
			return nil, fmt.Errorf("the course in this program is damaged: %w", err)
		}
		if err := json.Unmarshal([]byte(z.Comment), &p.Release); err != nil {
			return nil, fmt.Errorf("the course in this program is damaged: %w", err)
		}
		for _, f := range z.File {
			if !filepath.IsLocal(filepath.FromSlash(f.Name)) {
				return nil, fmt.Errorf("the course in this program is damaged: it has a file %q", f.Name)
			}
			if p.Files[f.Name], err = contents(f); err != nil {
				return nil, fmt.Errorf("the course in this program is damaged: %s: %w", f.Name, err)
			}
		}
	}
	return p, nil
}

func contents(f *zip.File) ([]byte, error) {
	r, err := f.Open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(r)
}

// Archives are the parcel as two zip archives: the course, and the solutions, which is empty where there are none.
func (p *Parcel) Archives() (course, solutions []byte, err error) {
	own, solving := map[string][]byte{}, map[string][]byte{}
	for file, text := range p.Files {
		if Solves(file) {
			solving[file] = text
		} else {
			own[file] = text
		}
	}
	if course, err = p.archive(own); err != nil || len(solving) == 0 {
		return course, nil, err
	}
	solutions, err = p.archive(solving)
	return course, solutions, err
}

// Solves reports whether a file of a course is a solution or the walk-through of one.
func Solves(file string) bool {
	return strings.HasPrefix(file, "solutions/") || strings.HasSuffix(file, ".solution.md")
}

// archive is the same bytes for the same files. They are compressed together, since they are alike: that takes 0.6 of
// what each by itself takes.
func (p *Parcel) archive(files map[string][]byte) ([]byte, error) {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		w, err := z.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Store})
		if err == nil {
			_, err = w.Write(files[name])
		}
		if err != nil {
			return nil, err
		}
	}
	release, err := json.Marshal(p.Release)
	if err == nil {
		err = errors.Join(z.SetComment(string(release)), z.Close())
	}
	if err != nil {
		return nil, err
	}
	var packed bytes.Buffer
	w := brotli.NewWriterOptions(&packed, brotli.WriterOptions{Quality: 9, LGWin: 22})
	_, err = w.Write(b.Bytes())
	err = errors.Join(err, w.Close())
	return packed.Bytes(), err
}
