package intake

import (
	"bytes"
	"io"
	"math"
	"os"
	"path"
	"strings"
)

// isArchive reports whether a name is that of an archive that can be read.
func isArchive(name string) bool { return trimArchive(name) != name }

// trimArchive is the name without what makes it an archive's.
func trimArchive(name string) string {
	for _, ext := range []string{".zip", ".tar.gz", ".tgz", ".tar"} {
		if cut := len(name) - len(ext); cut > 0 && strings.EqualFold(name[cut:], ext) {
			return name[:cut]
		}
	}
	return name
}

// unreadableArchive is what makes a name one of an archive of another kind; "" if it is not.
func unreadableArchive(name string) string {
	switch ext := strings.ToLower(path.Ext(name)); ext {
	case ".rar", ".7z", ".gz", ".bz2", ".tbz", ".tbz2", ".xz", ".txz", ".zst", ".tzst":
		if !isArchive(name) {
			return ext
		}
	}
	return ""
}

func unreadable(name string) fault {
	return faultf("%s is an archive of a kind (%s) that is not read here. Hand in a .zip or .tar.gz file, or put the unpacked "+
		"folder in its place.", show(name), unreadableArchive(name))
}

// listArchive lists an archive without unpacking it to anywhere but the spool. Its error is a fault, which is about the
// archive as a whole, or one of this machine.
func listArchive(r io.ReaderAt, size int64, name string, b bounds, spool *spool) (listing, error) {
	l := &lister{what: "The archive " + show(path.Base(name)), bounds: b, seen: map[string]bool{}}
	if size > b.packed {
		return nil, faultf("%s has more than %d MiB. Hand in only the exercises' files, which are small.", l.what, b.packed>>20)
	}
	head := make([]byte, 262)
	n, err := r.ReadAt(head, 0)
	if err != nil && err != io.EOF {
		return nil, l.damaged(err)
	}
	head = head[:n]
	is := func(magic string) bool { return bytes.HasPrefix(head, []byte(magic)) }
	whole := io.NewSectionReader(r, 0, size)
	switch {
	case is("Rar!"), is("7z\xBC\xAF\x27\x1C"), is("BZh"), is("\xFD7zXZ\x00"):
		err = faultf("%s is of another kind than its name says, one that is not read here. Hand in a .zip or .tar.gz file.", l.what)
	case is("\x1F\x8B"):
		err = l.gzip(whole, spool)
	case is("PK"), strings.EqualFold(path.Ext(name), ".zip"):
		err = l.zip(r, size)
	default:
		err = l.tar(whole, spool)
	}
	return l.list, err
}

// lister collects what an archive holds.
type lister struct {
	what   string // the archive, to begin a sentence with
	bounds bounds
	list   listing
	seen   map[string]bool // the paths of files so far
	count  int
	total  int64 // bytes
}

func (l *lister) damaged(err error) fault {
	return faultf("%s is damaged or incomplete (%v). Pack the folder anew and hand it in again.", l.what, err)
}

// add lists one entry. The load of a regular file is set by whoever called it; without an entry there is nothing to load.
func (l *lister) add(name string, k kind, size uint64) (*entry, error) {
	if l.count++; l.count > l.bounds.entries {
		return nil, tooManyEntries(l.what, l.bounds.entries)
	}
	p, renamed, f := cleanPath(name)
	if before, hidden := visible(p); hidden != "" {
		if git := path.Join(before, gitFolder); hidden == gitFolder && !l.seen[git] {
			l.seen[git] = true
			l.list = append(l.list, entry{path: git, kind: folder})
		}
		if f == "" {
			return nil, nil
		}
		p = before
	}
	if p == "" && f == "" {
		return nil, nil
	}
	e := entry{path: p, kind: k, size: int64(min(size, math.MaxInt64/(2*maxClassEntries))), renamed: renamed, fault: f}
	if k == regular && f == "" {
		if l.seen[p] {
			e.fault = faultf("%s holds two files %s, and which one counts cannot be told. Pack the folder anew.", l.what, show(p))
		}
		l.seen[p] = true
		if l.total += e.size; l.total > l.bounds.unpacked {
			return nil, tooLarge(l.what, l.bounds.unpacked)
		}
	}
	if e.fault != "" {
		e.kind = folder // so that it makes whatever it is in unusable
	}
	l.list = append(l.list, e)
	return &l.list[len(l.list)-1], nil
}

// fail marks an entry as one that makes what it is in unusable.
func (e *entry) fail(f fault) { e.kind, e.fault, e.load = folder, f, nil }

// spool keeps what cannot be read a second time where it lies: the files of a tar, one behind the other in one temporary
// file, whatever they are called.
type spool struct {
	file *os.File
	size int64 // bytes
}

func newSpool(dir string) (*spool, error) {
	f, err := os.CreateTemp(dir, "spool-")
	if err != nil {
		return nil, err
	}
	return &spool{file: f}, nil
}

// add stores a text and returns what loads it. Its error is one of this machine.
func (s *spool) add(text []byte) (load func(limit int64) ([]byte, error), err error) {
	at, n := s.size, int64(len(text))
	if _, err := s.file.WriteAt(text, at); err != nil {
		return nil, err
	}
	s.size += n
	return func(limit int64) ([]byte, error) {
		kept := make([]byte, min(limit, n))
		if _, err := s.file.ReadAt(kept, at); err != nil {
			return nil, cannotRead("", err)
		}
		return kept, nil
	}, nil
}

// cut forgets everything behind a size it once had.
func (s *spool) cut(size int64) error {
	s.size = size
	return s.file.Truncate(size)
}

func (s *spool) close() {
	s.file.Close()
	os.Remove(s.file.Name())
}
