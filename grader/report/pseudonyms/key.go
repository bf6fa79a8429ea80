// Package pseudonyms has a class's results in a form that can be shown to others: names, student numbers and addresses
// are not in it, and nobody finds the way back from a pseudonym without the key, which stays in the folder of results.
//
// What it cannot hide: code that its author is known for, a name as part of a longer word or in letters that only look
// like it, and who it must have been, where a class is small.
package pseudonyms

import (
	"bytes"
	"crypto/rand"
	"encoding/csv"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"cudalab/grader/class"
	"cudalab/grader/report/classpage"
)

const (
	// folder is where what can be shown lies, in a folder of results.
	folder = "shown"
	// keyFile is who is who. It lies beside that folder, not in it.
	keyFile = "pseudonyms.csv"
)

// key is who is who in a folder of results. A student keeps a pseudonym once it is given.
type key struct {
	dir string

	mu    sync.Mutex
	names map[string]string // by ID; nil before it is read
	hide  *names            // of the class that pages were last made of
	class *class.Class
}

// Open is the key of a folder of results. It is read, or made, when it is first needed.
func Open(dir string) *key { return &key{dir: dir} }

// Exists reports whether a folder of results has a key.
func Exists(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, keyFile))
	return err == nil
}

// letters of a pseudonym; none is easily taken for another.
const letters = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ"

// of is a student's pseudonym.
func (k *key) of(id string) (string, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if err := k.read(); err != nil {
		return "", err
	}
	if p, known := k.names[id]; known {
		return p, nil
	}
	k.draw(id)
	return k.names[id], k.save()
}

// all gives everybody a pseudonym.
func (k *key) all(students []class.Student) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if err := k.read(); err != nil {
		return err
	}
	before := len(k.names)
	for _, s := range students {
		if _, known := k.names[s.ID]; !known {
			k.draw(s.ID)
		}
	}
	if len(k.names) == before {
		return nil
	}
	return k.save()
}

// draw gives a student a pseudonym that nobody has. It is drawn, not computed from the name.
func (k *key) draw(id string) {
	taken := map[string]bool{}
	for _, p := range k.names {
		taken[p] = true
	}
	for {
		var b [5]byte
		_, _ = rand.Read(b[:]) // it never fails
		for i := range b {
			b[i] = letters[int(b[i])%len(letters)]
		}
		if p := "P-" + string(b[:]); !taken[p] {
			k.names[id] = p
			return
		}
	}
}

func (k *key) read() error {
	if k.names != nil {
		return nil
	}
	names := map[string]string{}
	path := filepath.Join(k.dir, keyFile)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		k.names = names
		return nil
	}
	if err != nil {
		return fmt.Errorf("the key to the pseudonyms: %w", err)
	}
	rows := csv.NewReader(bytes.NewReader(text))
	rows.FieldsPerRecord = 2
	all, err := rows.ReadAll()
	if err != nil || len(all) == 0 {
		return &class.UsageError{Message: fmt.Sprintf("%s, the key to the pseudonyms, cannot be read: %v. Restore it from a "+
			"copy; without it nobody knows who is who on the pages that were shown. To begin with new pseudonyms, delete it "+
			"and the folder %s.", path, err, folder)}
	}
	for _, row := range all[1:] {
		names[strings.TrimPrefix(row[1], "'")] = row[0]
	}
	k.names = names
	return nil
}

func (k *key) save() error {
	var text bytes.Buffer
	w := csv.NewWriter(&text)
	rows := [][]string{}
	for id, p := range k.names {
		if strings.ContainsAny(id[:min(1, len(id))], "=+-@'") {
			id = "'" + id // a spreadsheet takes it for a formula otherwise
		}
		rows = append(rows, []string{p, id})
	}
	slices.SortFunc(rows, func(a, b []string) int { return strings.Compare(a[1], b[1]) })
	if err := w.WriteAll(append([][]string{{"pseudonym", "student"}}, rows...)); err != nil {
		return err
	}
	return class.WriteFile(filepath.Join(k.dir, keyFile), text.Bytes())
}

// Write is the writer of the class's page that can be shown.
func (k *key) Write(dir string, c *class.Class) error {
	if err := k.all(c.Students); err != nil {
		return err
	}
	shown, err := k.shown(c)
	if err != nil {
		return err
	}
	folder := filepath.Join(dir, folder)
	for i, s := range c.Students {
		name, err := k.of(s.ID)
		if err != nil {
			return err
		}
		at := slices.IndexFunc(shown.Students, func(o class.Student) bool { return o.ID == name })
		if file := filepath.Join("students", name+".html"); class.IsPageOf(filepath.Join(folder, file), c.Students[i]) {
			shown.Students[at].Page = filepath.ToSlash(file)
		}
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	var text bytes.Buffer
	if err := classpage.Write(&text, shown); err != nil {
		return err
	}
	return class.WriteFile(filepath.Join(folder, "report.html"), text.Bytes())
}

// Page has everybody's page under their pseudonym, or keeps up to date what there is.
func (k *key) Page(all bool) class.Page {
	return class.Page{Folder: filepath.Join(folder, "students"), All: all, Name: k.of, Write: k.feedback}
}

// shown is a class under its pseudonyms.
func (k *key) shown(c *class.Class) (*class.Class, error) {
	hide := newNames(c.Students)
	shown := *c
	shown.Attention, shown.Absent, shown.Live, shown.Pseudonyms = nil, nil, nil, true
	// what a person has to look at names people, and is nobody else's business
	shown.Students, shown.Attention, shown.Absent = nil, nil, nil
	for i := range c.Students {
		name, err := k.of(c.Students[i].ID)
		if err != nil {
			return nil, err
		}
		shown.Students = append(shown.Students, hide.student(&c.Students[i], name))
	}
	slices.SortFunc(shown.Students, func(a, b class.Student) int { return strings.Compare(a.ID, b.ID) })
	return &shown, nil
}
