package intake

import (
	"archive/zip"
	"cmp"
	"errors"
	"io"
	"math"
	"slices"
	"strings"
)

// metered is a ReaderAt that gives up after so many bytes.
type metered struct {
	r    io.ReaderAt
	left int64
}

var errMetered = errors.New("more was read than is allowed")

func (m *metered) ReadAt(b []byte, at int64) (int, error) {
	if m.left -= int64(len(b)); m.left < 0 {
		return 0, errMetered
	}
	return m.r.ReadAt(b, at)
}

// The parts of a zip that its layout is checked by.
const (
	zipLocalHeader = 30 // bytes, without the name behind it
	zipEncrypted   = 1  // of a file's flags
)

// zip lists a zip archive. Files are read from it when they are loaded.
func (l *lister) zip(r io.ReaderAt, size int64) error {
	// The directory of a zip is read as a whole, and only then counted.
	const perEntry, directoryEnd = maxPath, 1 << 20 // bytes
	m := &metered{r: r, left: int64(l.bounds.entries)*perEntry + directoryEnd}
	z, err := zip.NewReader(m, size)
	switch {
	case errors.Is(err, errMetered):
		return tooManyEntries(l.what, l.bounds.entries)
	case err != nil:
		return l.damaged(err)
	case len(z.File) > l.bounds.entries:
		return tooManyEntries(l.what, l.bounds.entries)
	}
	m.left = math.MaxInt64
	if err := l.overlaps(z.File, size); err != nil {
		return err
	}
	for _, f := range z.File {
		k := regular
		switch mode := f.Mode(); {
		case mode.IsDir() || strings.HasSuffix(f.Name, `\`):
			k = folder
		case !mode.IsRegular():
			k = special
		}
		e, err := l.add(f.Name, k, f.UncompressedSize64)
		switch {
		case err != nil:
			return err
		case e == nil || e.fault != "" || k != regular:
			continue
		case f.Flags&zipEncrypted != 0:
			e.fail(l.encrypted())
		case f.Method != zip.Store && f.Method != zip.Deflate:
			e.fail(faultf("%s is packed by a method (number %d) that is not read here. Pack it with the usual one, Deflate.",
				l.what, f.Method))
		default:
			e.load = func(limit int64) ([]byte, error) { return l.unzip(f, limit) }
		}
	}
	if l.bounds.ratio && l.total > freeUnpacked && l.total/maxRatio > size {
		return bomb(l.what)
	}
	return nil
}

// overlaps looks for files that share bytes of the archive, by which few bytes can become any number.
func (l *lister) overlaps(files []*zip.File, size int64) error {
	type extent struct{ from, to int64 }
	extents := make([]extent, 0, len(files))
	for _, f := range files {
		data, err := f.DataOffset()
		switch {
		case err != nil:
			return l.damaged(err)
		case f.CompressedSize64 > uint64(size):
			return l.damaged(zip.ErrFormat)
		}
		extents = append(extents, extent{data - zipLocalHeader, data + int64(f.CompressedSize64)})
	}
	slices.SortFunc(extents, func(a, b extent) int { return cmp.Compare(a.from, b.from) })
	for i := 1; i < len(extents); i++ {
		if extents[i].from < extents[i-1].to {
			return faultf("%s has files that share their bytes, as archives do that are made to fill disks. Pack the "+
				"folder anew.", l.what)
		}
	}
	return nil
}

func (l *lister) unzip(f *zip.File, limit int64) ([]byte, error) {
	r, err := f.Open()
	if err != nil {
		return nil, l.damaged(err)
	}
	defer r.Close()
	text, err := io.ReadAll(io.LimitReader(r, limit))
	if err != nil {
		return nil, l.damaged(err)
	}
	return text, nil
}
