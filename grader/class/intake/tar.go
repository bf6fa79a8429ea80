package intake

import (
	"archive/tar"
	"errors"
	"io"
	"path"
	"time"

	"github.com/mikelolasagasti/xz"
)

// counted counts what is read through it, in bytes.
type counted struct {
	r io.Reader
	n int64
}

func (c *counted) Read(b []byte) (int, error) {
	n, err := c.r.Read(b)
	c.n += int64(n)
	return n, err
}

// inflating reads what is unpacked and stops where it becomes more than it may.
type inflating struct {
	l      *lister
	packed *counted
	r      io.Reader
	n      int64     // bytes, unpacked
	until  time.Time // zero: for as long as it takes
}

func (i *inflating) Read(b []byte) (int, error) {
	n, err := i.r.Read(b)
	i.n += int64(n)
	switch bounds := i.l.bounds; {
	// The headers of a tar are not counted as its files are.
	case i.n > 2*bounds.unpacked:
		return 0, tooLarge(i.l.what, bounds.unpacked)
	case bounds.ratio && i.n > freeUnpacked && i.n/maxRatio > i.packed.n:
		return 0, bomb(i.l.what)
	case !i.until.IsZero() && time.Now().After(i.until):
		return 0, faultf("%s takes more than %v to be unpacked. Pack the folder anew as a .zip.", i.l.what, maxUnpacking)
	}
	return n, err
}

// packed lists a tar that something has packed.
func (l *lister) packed(r io.Reader, spool *spool, unpack func(io.Reader) (io.Reader, error)) error {
	packed := &counted{r: r}
	unpacked, err := unpack(packed)
	if err != nil {
		return l.reading(err)
	}
	return l.tar(&inflating{l: l, packed: packed, r: unpacked}, spool)
}

// tar lists a tar, whose files go to the spool as they come by.
func (l *lister) tar(r io.Reader, spool *spool) error {
	t := tar.NewReader(r)
	for {
		h, err := t.Next()
		if err == io.EOF {
			// A checksum may follow behind the last file.
			if _, err := io.Copy(io.Discard, r); err != nil {
				return l.reading(err)
			}
			if l.count == 0 {
				return faultf("%s is empty, or not an archive. Pack the folder anew and hand it in again.", l.what)
			}
			return nil
		}
		if err != nil {
			return l.reading(err)
		}
		k := special
		switch h.Typeflag {
		case tar.TypeXGlobalHeader:
			continue
		case tar.TypeReg, tar.TypeGNUSparse:
			k = regular
		case tar.TypeDir:
			k = folder
		}
		e, err := l.add(h.Name, k, uint64(h.Size))
		if err != nil {
			return err
		}
		if e == nil || e.fault != "" || k != regular {
			continue
		}
		if err := l.keep(e, t, spool); err != nil {
			return err
		}
	}
}

// keep puts the file that comes by into the spool, as much of it as is ever looked at. More of it is read only to be
// counted.
func (l *lister) keep(e *entry, r io.Reader, spool *spool) error {
	limit := int64(maxFileSize + 1)
	switch {
	case isArchive(e.path):
		limit = maxPacked + 1
	case isMetadata(&child{name: path.Base(e.path)}):
		limit = maxMetadata + 1
	}
	text, err := io.ReadAll(io.LimitReader(r, limit))
	if err != nil {
		return l.reading(err)
	}
	e.load, err = spool.add(text)
	return err
}

// reading is the fault of an archive that could not be read on.
func (l *lister) reading(err error) error {
	var f fault
	switch {
	case errors.As(err, &f):
		return f
	case errors.Is(err, xz.ErrMemlimit):
		return l.greedy()
	}
	return l.damaged(err)
}
