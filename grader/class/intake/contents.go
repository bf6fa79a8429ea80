package intake

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// contents looks into one submission.
type contents struct {
	packages []string
	spool    *spool
	notes    notes
	lost     []string        // why what may have been an exercise is not taken, in sentences
	sealed   bool            // something that may hold exercises could not be read
	unclear  map[string]bool // packages of which it cannot be told which files are meant
	count    int             // of entries, with those of the archives inside
	total    int64           // in bytes, unpacked
	all      listing         // of entries so far, with those of the archives inside
	opened   map[string]bool // archives, by their paths in SUBMISSIONS
	ledger   ledger
}

func newContents(packages []string, spool *spool) *contents {
	return &contents{packages: packages, spool: spool, unclear: map[string]bool{}, opened: map[string]bool{},
		ledger: ledger{}}
}

// read finds the exercises of a unit. Its error is a fault, or one of this machine.
func (c *contents) read(u *unit) ([]exercise, error) {
	c.sealed = true // until all has been read
	if !u.folder {
		c.all = listing{u.entry}
	}
	l, err := c.open(u)
	if err != nil {
		return nil, err
	}
	c.all = append(c.all, l...)
	if f := l.fault(); f != "" {
		return nil, f
	}
	c.sealed = false
	l, err = c.unfold(l)
	if err != nil {
		c.sealed = true
		return nil, err
	}
	for _, e := range l {
		if e.renamed {
			c.notes.add(renamedFiles, e.path)
		}
		if e.kind == special {
			c.notes.add(links, e.path)
			c.ledger.leave(e, "links and special files are never followed")
		}
	}
	return c.find(l)
}

func (c *contents) open(u *unit) (listing, error) {
	switch {
	case u.folder:
		return u.inside, nil
	case u.entry.fault != "":
		return nil, u.entry.fault
	case u.entry.kind == special:
		return nil, faultf("%s is a link or a special file, which is never followed. Put the folder or the archive itself "+
			"there.", show(u.from))
	case !isArchive(u.from):
		return nil, unreadable(u.from)
	}
	data, err := u.entry.load(maxPacked + 1)
	if err != nil {
		return nil, err
	}
	c.opened[u.entry.from] = true
	return c.archive(data, u.entry, 1)
}

// archive lists an archive that is in a submission, or is one.
func (c *contents) archive(data []byte, e entry, nesting int) (listing, error) {
	l, err := listArchive(bytes.NewReader(data), int64(len(data)), e.path, submissionBounds, c.spool)
	for i := range l {
		l[i].nesting = nesting
	}
	return l.within(e.from), err
}

// unfold puts what is in archives behind them, as if they were folders.
func (c *contents) unfold(l listing) (listing, error) {
	if err := c.charge(l); err != nil {
		return nil, err
	}
	all := l
	for _, e := range l {
		switch {
		case e.kind != regular:
			continue
		case unreadableArchive(e.path) != "":
			c.seal(e, unreadable(e.path))
			continue
		case !isArchive(e.path):
			continue
		case e.nesting == maxNesting:
			c.notes.add(nested, e.path)
			c.seal(e, "")
			c.ledger.leave(e, "it is an archive inside of an archive inside of an archive")
			continue
		}
		data, err := c.load(e, maxPacked+1)
		if err != nil {
			return nil, err
		}
		inside, err := c.archive(data, e, e.nesting+1)
		if err == nil && inside.fault() != "" {
			err = inside.fault()
		}
		var f fault
		switch {
		case errors.As(err, &f):
			// The rest of the submission may well be what counts.
			c.seal(e, faultf("%s was left aside. %s", show(e.path), f))
			continue
		case err != nil:
			return nil, err
		}
		c.opened[e.from] = true
		c.all = append(c.all, inside...)
		inside, err = c.unfold(inside.under(e.path))
		if err != nil {
			return nil, err
		}
		all = append(all, inside...)
	}
	return all, nil
}

// charge holds a submission to its bounds.
func (c *contents) charge(l listing) error {
	if c.count += len(l); c.count > maxEntries {
		return tooManyEntries("The submission", maxEntries)
	}
	for _, e := range l {
		if c.total += e.size; c.total > maxUnpacked {
			return tooLarge("The submission", maxUnpacked)
		}
	}
	return nil
}

// seal tells that an archive could not be read, which may hold exercises.
func (c *contents) seal(e entry, why fault) {
	c.sealed = true
	if why != "" {
		c.lose("%s", why)
		c.ledger.leave(e, "it could not be read")
	}
}

// unread are the packages that may have been handed in, but could not be read.
func (c *contents) unread(found []exercise) []string {
	var unread []string
	for _, pkg := range c.packages {
		has := slices.ContainsFunc(found, func(x exercise) bool { return x.pkg == pkg })
		if !has && (c.sealed || c.unclear[pkg]) {
			unread = append(unread, pkg)
		}
	}
	return unread
}

// lose tells why something that may have been an exercise is not taken.
func (c *contents) lose(format string, a ...any) {
	const most = 5
	if len(c.lost) < most {
		c.lost = append(c.lost, fmt.Sprintf(format, a...))
	}
}

// load reads a file of the submission. One in a folder is charged now, where its size is known.
func (c *contents) load(e entry, limit int64) ([]byte, error) {
	text, err := e.load(limit)
	if err != nil {
		return nil, err
	}
	if e.size == 0 {
		if c.total += int64(len(text)); c.total > maxUnpacked {
			return nil, tooLarge("The submission", maxUnpacked)
		}
	}
	return text, nil
}

// depth is how many folders and archives are around a file in a folder of a submission. An archive counts twice: a
// folder is meant before the archive of the same folder.
func depth(dir string, nesting int) int {
	if dir == "." {
		return nesting
	}
	return strings.Count(dir, "/") + 1 + nesting
}
