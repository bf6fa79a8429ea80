package parcel

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// RecordFile is where a course keeps its record, relative to its root.
const RecordFile = ".cudalab/course.json"

// Record is what a course remembers of the parcel that it was written from: with it one can tell what the student has
// changed since.
type Record struct {
	Release
	Files     map[string]string `json:"files"`     // the digest of each file's content, by its path
	Skeletons map[string]string `json:"skeletons"` // the exercises' files as they were handed out, by their paths
}

// Record is the parcel's.
func (p *Parcel) Record() Record {
	r := Record{Release: p.Release, Files: map[string]string{}, Skeletons: map[string]string{}}
	for file, text := range p.Files {
		r.Files[file] = Digest(text)
	}
	for _, e := range p.Exercises {
		r.Skeletons[e.File()] = string(p.Files[e.File()])
	}
	return r
}

// Digest tells contents apart.
func Digest(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:16])
}

// Text is the record as it is kept.
func (r Record) Text() []byte {
	text, err := json.MarshalIndent(r, "", " ")
	if err != nil { // strings alone
		panic(err)
	}
	return append(text, '\n')
}

// ReadRecord reads the record of the course at root. Where there is no such file the error is fs.ErrNotExist.
func ReadRecord(root string) (Record, error) {
	text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(RecordFile)))
	if err != nil {
		return Record{}, err
	}
	return ParseRecord(text)
}

// sources is a file that a handout has and the course of init has not: what cudalab itself is built from.
const sources = "cmd/cudalab/main.go"

// Builds reports whether the folder holds what cudalab itself is built from, as a handout's does.
func (r Record) Builds() bool { return r.Files[sources] != "" }

// Folder is the course in a folder as a parcel, by its record: what has been changed there comes as it is, but the
// exercises as they were handed out.
func Folder(dir string) (*Parcel, error) {
	r, err := ReadRecord(dir)
	if err != nil {
		return nil, err
	}
	p := &Parcel{Release: r.Release, Files: map[string][]byte{}}
	for file := range r.Files {
		if skeleton, is := r.Skeletons[file]; is {
			p.Files[file] = []byte(skeleton)
			continue
		}
		if !filepath.IsLocal(filepath.FromSlash(file)) {
			return nil, fmt.Errorf("%s is damaged: it names a file %q", RecordFile, file)
		}
		if p.Files[file], err = os.ReadFile(filepath.Join(dir, filepath.FromSlash(file))); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// ParseRecord reads a record's text. An error says in words what is wrong with it.
func ParseRecord(text []byte) (Record, error) {
	var r Record
	if err := json.Unmarshal(text, &r); err != nil {
		return Record{}, fmt.Errorf("%s is damaged: %w", RecordFile, err)
	}
	return r, nil
}

// Newer reports whether a release is newer than another. Of versions that are no three numbers none is.
func (r Release) Newer(than Release) bool {
	var a, b [3]int
	for _, v := range []struct {
		text    string
		numbers *[3]int
	}{{r.Version, &a}, {than.Version, &b}} {
		text := strings.TrimPrefix(v.text, "v")
		if _, err := fmt.Sscanf(text, "%d.%d.%d", &v.numbers[0], &v.numbers[1], &v.numbers[2]); err != nil {
			return false
		}
	}
	for i := range a {
		if a[i] != b[i] {
			return a[i] > b[i]
		}
	}
	return false
}
