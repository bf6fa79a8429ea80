// Package intake turns whatever students handed in into private folders that hold their exercises and nothing else. It
// takes folders, archives, learning platforms' exports and cloned repositories. What it reads is written by strangers:
// an archive is never unpacked to where its names say, links are not followed, and everything is bounded.
package intake

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Submission is what one student, or a group, handed in.
type Submission struct {
	// ID is the name of the student's folder or archive. It is safe as the name of a file on every system, and no two
	// submissions of an intake have the same one, not even on a disk that takes small and capital letters for the same.
	ID string
	// Dir is a private folder with a folder for each exercise, named as its package: DIR/slab/slab.go. The files are
	// copies, each cut off one byte behind what package compile takes. "" if there is a Problem.
	Dir      string
	From     string   // what it is called in SUBMISSIONS
	People   []Person // as far as the platform's export tells
	HandedIn Moment
	Packages []string // the exercises found, in the order they were asked for
	// Unread are those of which it cannot be said that they were not handed in: something that may hold them could not be
	// read, or it cannot be told which files are meant.
	Unread    []string
	Unclear   string   // why, in sentences
	Files     []File   // what became of each, by path
	Notes     []string // what was left aside or is worth knowing, one sentence each
	Attention []string // what a person should look at, in sentences
	Problem   string   // why nothing of it can be used, in sentences; "" if something can

	opened []string // archives, by their paths in SUBMISSIONS
}

// Options are what Open can do without.
type Options struct {
	Temp string // where the private folders go; "": the system's folder for temporary files
	// Counts reports whether an attempt that somebody handed in at a time, as in Moment, may count; who is what they may
	// go by. nil: all may. Of a student of whom none may, the last counts.
	Counts func(who []string, at string) bool
}

// Intake is a class's submissions, until Close.
type Intake struct {
	dir         string
	release     func() // of the lock on dir
	form        string
	submissions []Submission
	notes       []string
	attention   []string
	aside       []File
}

// Submissions are sorted by ID.
func (in *Intake) Submissions() []Submission { return in.submissions }

// Notes are what was left aside beside the submissions, one sentence each.
func (in *Intake) Notes() []string { return in.notes }

// Form is what SUBMISSIONS was taken for, to follow "Read as ".
func (in *Intake) Form() string { return in.form }

// Attention is what a person should look at that is about no single submission, in sentences.
func (in *Intake) Attention() []string { return in.attention }

// Aside are the files that are in no submission.
func (in *Intake) Aside() []File { return in.aside }

// Close removes the private folders.
func (in *Intake) Close() error {
	defer in.release()
	return os.RemoveAll(in.dir)
}

// fault is what is wrong with something handed in, in sentences: it is a submission's Problem. Any other error is one
// of this machine.
type fault string

func (f fault) Error() string { return string(f) }

// machine is an error unless it is a fault.
func machine(err error) error {
	var f fault
	if errors.As(err, &f) {
		return nil
	}
	return err
}

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
	dir, release, err := makeFolder(o.Temp)
	if err != nil {
		return nil, cannotCopy(o.Temp, err)
	}
	in := &Intake{dir: dir, release: release}
	if err := in.read(path, packages, o.Counts); err != nil {
		in.Close()
		var unusable *Error
		if !errors.As(err, &unusable) {
			err = cannotCopy(o.Temp, err)
		}
		return nil, err
	}
	return in, nil
}

func (in *Intake) read(path string, packages []string, counts func(who []string, at string) bool) error {
	spool, err := newSpool(in.dir)
	if err != nil {
		return err
	}
	defer spool.close()
	src, err := openSource(path, spool)
	if err != nil {
		return err
	}
	defer src.close()
	found, err := (&sorter{packages: packages, spool: spool, counts: counts}).sort(src)
	if err != nil {
		return err
	}
	in.form, in.notes, in.attention, in.aside = found.form, found.notes, found.attention, found.aside
	switch n := len(found.units); {
	case n == 0:
		return &Error{
			Problem: strings.Join(append([]string{path + " holds no submissions."}, in.notes...), " "),
			Fix: "Name a folder that has a folder or an archive for each student, one archive of all, or one student's " +
				"folder.",
		}
	case n > maxSubmissions:
		return &Error{
			Problem: fmt.Sprintf("%s holds %d submissions, and at most %d are taken.", path, n, maxSubmissions),
			Fix:     "Grade them in several parts.",
		}
	}
	private := filepath.Join(in.dir, "submissions")
	if err := os.Mkdir(private, 0o700); err != nil {
		return err
	}
	identify(found.units)
	end := spool.size
	for _, u := range found.units {
		s, err := admit(u, packages, spool, private)
		if err != nil {
			return err
		}
		in.submissions = append(in.submissions, s)
		if err := spool.cut(end); err != nil {
			return err
		}
	}
	in.account(src.list)
	in.attention = append(in.attention, onePerson(in.submissions)...)
	slices.SortFunc(in.submissions, func(a, b Submission) int { return strings.Compare(a.ID, b.ID) })
	return nil
}

// admit makes a submission of a unit. Its error is one of this machine.
func admit(u *unit, packages []string, spool *spool, private string) (Submission, error) {
	s := Submission{ID: u.id, From: u.from, People: u.people, HandedIn: u.moment, Notes: u.notes, Attention: u.attention}
	c := newContents(packages, spool)
	chosen, err := c.read(u)
	if err == nil {
		s.Dir = filepath.Join(private, u.id)
		err = c.copy(chosen, s.Dir)
	}
	s.Notes = append(s.Notes, c.notes.sentences()...)
	s.opened = slices.Collect(maps.Keys(c.opened))
	var f fault
	switch {
	case errors.As(err, &f):
		s.Problem, c.ledger, chosen = string(f), ledger{}, nil
		c.sealed = c.sealed || s.Dir != "" // what was found could not be copied
		s.Unread = c.unread(nil)
		s.Files = c.ledger.settle(c.all, c.opened, "nothing of the submission can be used")
		s.Attention = append(s.Attention, s.Problem)
		err = discard(&s)
	case err == nil:
		if s.Unread = c.unread(chosen); len(s.Unread) > 0 {
			s.Unclear = cmp.Or(strings.Join(c.lost, " "), "There are archives inside of archives inside of archives, which are "+
				"not opened.")
			s.Attention = append(s.Attention, s.Unclear)
		} else {
			s.Attention = append(s.Attention, c.lost...)
		}
		s.Files = c.ledger.settle(c.all, c.opened, "it belongs to no exercise")
	}
	for _, e := range chosen {
		s.Packages = append(s.Packages, e.pkg)
	}
	s.Files = byPath(append(s.Files, u.aside...))
	s.doubtful(packages)
	return s, err
}

// doubtful asks a person to look where an exercise is missing and there is a Go file that belongs to none.
func (s *Submission) doubtful(packages []string) {
	if s.Problem != "" || len(s.Packages) == len(packages) {
		return
	}
	var odd []string
	for _, f := range s.Files {
		if f.Why == "it belongs to no exercise" && isGo(f.Path) {
			odd = append(odd, f.Path)
		}
	}
	if len(odd) > 0 {
		s.Attention = append(s.Attention,
			fmt.Sprintf("Not every exercise was found, and there are Go files that belong to none: %s.", listed(odd)))
	}
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
		return nil, err
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
	for i := range src.list {
		src.list[i].from = src.list[i].path
	}
	src.name, src.archive, src.close = trimArchive(src.name), true, f.Close
	return nil
}
