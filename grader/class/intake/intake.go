// Package intake turns whatever students handed in into private folders that hold their exercises and nothing else. It
// takes folders, archives, learning platforms' exports and cloned repositories. What it reads is written by strangers:
// an archive is never unpacked to where its names say, links are not followed, and everything is bounded.
package intake

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Submission is what one student handed in.
type Submission struct {
	// ID is the name of the student's folder or archive. It is safe as the name of a file on every system, and no two
	// submissions of an intake have the same one, not even on a disk that takes small and capital letters for the same.
	ID string
	// Dir is a private folder with a folder for each exercise, named as its package: DIR/slab/slab.go. The files are copies,
	// each cut off one byte behind what package compile takes. "" if there is a Problem.
	Dir      string
	Packages []string // the exercises found, in the order they were asked for
	Notes    []string // what was left aside or is worth knowing, one sentence each
	Problem  string   // why nothing of it can be used, in sentences; "" if something can
}

// Options are what Open can do without.
type Options struct {
	Temp string // where the private folders go; "": the system's folder for temporary files
}

// Intake is a class's submissions, until Close.
type Intake struct {
	dir         string
	submissions []Submission
	notes       []string
}

// Submissions are sorted by ID.
func (in *Intake) Submissions() []Submission { return in.submissions }

// Notes are what was left aside beside the submissions, one sentence each.
func (in *Intake) Notes() []string { return in.notes }

// Close removes the private folders.
func (in *Intake) Close() error { return os.RemoveAll(in.dir) }

// fault is what is wrong with something handed in, in sentences: it is a submission's Problem. Any other error is one of
// this machine.
type fault string

func (f fault) Error() string { return string(f) }

func faultf(format string, a ...any) fault { return fault(fmt.Sprintf(format, a...)) }

// Error is why SUBMISSIONS cannot be used at all.
type Error struct {
	Problem string // what was needed and what was found
	Fix     string // what to do about it
}

func (e *Error) Error() string { return e.Problem + " " + e.Fix }

// Open reads the submissions at path: a folder of folders and archives, one archive of all, or one submission. Packages
// are the exercises to look for, by the names of their packages. The error says why path cannot be used at all and what
// to do; what is wrong with one submission is its Problem.
func Open(path string, packages []string, o Options) (*Intake, error) {
	dir, err := os.MkdirTemp(o.Temp, "cudalab-intake-")
	if err != nil {
		return nil, noSpace(err)
	}
	in := &Intake{dir: dir}
	if err := in.read(path, packages); err != nil {
		in.Close()
		return nil, err
	}
	return in, nil
}

func noSpace(err error) error {
	return &Error{
		Problem: fmt.Sprintf("The submissions are copied to a folder for temporary files, which failed: %v.", err),
		Fix:     "Set TMPDIR to a folder that you may write to, on a disk with space left.",
	}
}

func (in *Intake) read(path string, packages []string) error {
	spool, err := newSpool(in.dir)
	if err != nil {
		return noSpace(err)
	}
	defer spool.close()
	src, err := openSource(path, spool)
	if err != nil {
		return err
	}
	defer src.close()
	found := sorter{packages: packages}.sort(src)
	in.notes = found.notes
	switch n := len(found.units); {
	case n == 0:
		return &Error{
			Problem: strings.Join(append([]string{path + " holds no submissions."}, in.notes...), " "),
			Fix:     "Name a folder that has a folder or an archive for each student, one archive of all, or one student's folder.",
		}
	case n > maxSubmissions:
		return &Error{
			Problem: fmt.Sprintf("%s holds %d submissions, and at most %d are taken.", path, n, maxSubmissions),
			Fix:     "Grade them in several parts.",
		}
	}
	private := filepath.Join(in.dir, "submissions")
	if err := os.Mkdir(private, 0o700); err != nil {
		return noSpace(err)
	}
	identify(found.units)
	end := spool.size
	for _, u := range found.units {
		s, err := admit(u, packages, spool, private)
		if err != nil {
			return noSpace(err)
		}
		in.submissions = append(in.submissions, s)
		if err := spool.cut(end); err != nil {
			return noSpace(err)
		}
	}
	slices.SortFunc(in.submissions, func(a, b Submission) int { return strings.Compare(a.ID, b.ID) })
	return nil
}

// admit makes a submission of a unit. Its error is one of this machine.
func admit(u *unit, packages []string, spool *spool, private string) (Submission, error) {
	s := Submission{ID: u.id, Notes: u.notes}
	c := contents{packages: packages, spool: spool}
	chosen, err := c.read(u)
	if err == nil {
		s.Dir = filepath.Join(private, u.id)
		err = c.copy(chosen, s.Dir)
	}
	s.Notes = append(s.Notes, c.notes.sentences()...)
	var f fault
	if errors.As(err, &f) {
		s.Problem = string(f)
		return s, discard(&s)
	}
	for _, e := range chosen {
		s.Packages = append(s.Packages, e.pkg)
	}
	return s, err
}

// discard removes what was copied before the Problem showed.
func discard(s *Submission) error {
	if s.Dir == "" {
		return nil
	}
	err := os.RemoveAll(s.Dir)
	s.Dir = ""
	return err
}

// source is what SUBMISSIONS leads to.
type source struct {
	list    listing
	name    string // of the folder, or of the archive without its extension
	archive bool
	close   func() error
}

func openSource(path string, spool *spool) (*source, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, &Error{
			Problem: fmt.Sprintf("There is no %s.", path),
			Fix:     "Name the folder or the archive that holds the submissions.",
		}
	case err != nil:
		return nil, &Error{Problem: "The submissions cannot be used.", Fix: cannotRead(path, err).Error()}
	}
	full, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	src := &source{name: filepath.Base(full)}
	switch {
	case info.IsDir():
		err = src.openFolder(path)
	case info.Mode().IsRegular() && isArchive(src.name):
		err = src.openArchive(path, info.Size(), spool)
	default:
		return nil, &Error{
			Problem: fmt.Sprintf("%s is neither a folder nor an archive that is read here.", path),
			Fix:     "Name a folder of submissions, or a .zip, .tar.gz, .tgz or .tar file.",
		}
	}
	var f fault
	switch {
	case errors.As(err, &f):
		return nil, &Error{Problem: fmt.Sprintf("%s cannot be used.", path), Fix: string(f)}
	case err != nil:
		return nil, noSpace(err)
	}
	return src, nil
}

func (src *source) openFolder(path string) error {
	root, err := os.OpenRoot(path)
	if err != nil {
		return cannotRead(path, err)
	}
	if src.list, err = listFolder(root); err != nil {
		root.Close()
		return err
	}
	src.close = root.Close
	return nil
}

func (src *source) openArchive(path string, size int64, spool *spool) error {
	f, err := os.Open(path)
	if err != nil {
		return cannotRead(path, err)
	}
	if src.list, err = listArchive(f, size, src.name, classBounds, spool); err != nil {
		f.Close()
		return err
	}
	src.name, src.archive, src.close = trimArchive(src.name), true, f.Close
	return nil
}
