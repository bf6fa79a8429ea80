package intake

import (
	"bytes"
	"compress/bzip2"
	"compress/gzip"
	"fmt"
	"io"
	"math"
	"os"
	"path"
	"strings"

	"github.com/mikelolasagasti/xz"
)

// isArchive reports whether a name is that of an archive that can be read.
func isArchive(name string) bool { return trimArchive(name) != name }

// trimArchive is the name without what makes it an archive's.
func trimArchive(name string) string {
	for _, ext := range []string{".zip", ".tar.gz", ".tgz", ".tar", ".tar.xz", ".txz", ".tar.bz2", ".tbz2", ".tbz",
		".rar"} {
		if cut := len(name) - len(ext); cut > 0 && strings.EqualFold(name[cut:], ext) {
			return name[:cut]
		}
	}
	return name
}

// unreadableArchive is what makes a name one of an archive of another kind; "" if it is not. Among them is .7z: what
// reads it (bodgit/sevenzip 1.6.5) takes memory for as many files as an archive claims to have, billions in a few
// bytes.
func unreadableArchive(name string) string {
	switch ext := strings.ToLower(path.Ext(name)); ext {
	case ".7z", ".gz", ".bz2", ".xz", ".zst", ".tzst", ".lz", ".lzma", ".z", ".cab", ".ace", ".arj", ".lzh", ".iso",
		".dmg":
		if !isArchive(name) {
			return ext
		}
	}
	return ""
}

func unreadable(name string) fault {
	return faultf("%s is an archive of a kind (%s) that is not read here. Hand in a .zip or .tar.gz file, or put the "+
		"unpacked folder in its place.", show(name), unreadableArchive(name))
}

// listArchive lists an archive without unpacking it to anywhere but the spool. Its error is a fault, which is about the
// archive as a whole, or one of this machine.
func listArchive(r io.ReaderAt, size int64, name string, b bounds, spool *spool) (listing, error) {
	l := &lister{what: "The archive " + show(path.Base(name)), bounds: b, seen: map[string]bool{}}
	if size > b.packed {
		return nil, faultf("%s has more than %d MiB. Hand in only the exercises' files, which are small.", l.what,
			b.packed>>20)
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
	case is("7z\xBC\xAF\x27\x1C"), is("\x28\xB5\x2F\xFD"):
		err = faultf("%s is of another kind than its name says, one that is not read here. Hand in a .zip or .tar.gz file.",
			l.what)
	case is("Rar!"):
		err = l.guarded(func() error { return l.rar(whole, spool) })
	case is("\x1F\x8B"):
		err = l.packed(whole, spool, func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) })
	case is("BZh"):
		err = l.packed(whole, spool, func(r io.Reader) (io.Reader, error) { return bzip2.NewReader(r), nil })
	case is("\xFD7zXZ\x00"):
		err = l.guarded(func() error {
			return l.packed(whole, spool, func(r io.Reader) (io.Reader, error) { return xz.NewReader(r, maxWindow) })
		})
	case is("PK"), strings.EqualFold(path.Ext(name), ".zip"):
		err = l.zip(r, size)
	default:
		err = l.tar(whole, spool)
	}
	return l.list, err
}

func (l *lister) greedy() fault {
	return faultf("%s needs more than %d MiB of memory to be unpacked. Pack the folder anew as a .zip.", l.what,
		maxWindow>>20)
}

// guarded has an unpacker that is not the standard library's say that an archive is damaged where it panics.
func (l *lister) guarded(list func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = l.damaged(fmt.Errorf("%v", v))
		}
	}()
	return list()
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

// add lists one entry. The load of a regular file is set by whoever called it; without an entry there is nothing to
// load.
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
			e.fault = faultf("%s holds two files %s, and which one counts cannot be told. Pack the folder anew.", l.what,
				show(p))
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

// spool keeps what cannot be read a second time where it lies: the files of a tar, one behind the other in one
// temporary file, whatever they are called.
type spool struct {
	file    *os.File
	size    int64    // bytes
	closers []func() // of what is read as long as the spool is
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
	for _, done := range s.closers {
		done()
	}
	s.file.Close()
	os.Remove(s.file.Name())
}

// Stem is the name of a folder or an archive without what makes it an archive's.
func Stem(name string) string {
	name = trimArchive(name)
	return strings.TrimSuffix(name, unreadableArchive(name))
}
