package intake

import (
	"errors"
	"io"
	"time"

	"github.com/nwaples/rardecode/v2"
)

// rar lists a RAR archive, whose files go to the spool as they come by.
func (l *lister) rar(r io.Reader, spool *spool) error {
	packed := &counted{r: r}
	// What unpacks is told by programs in the archive itself.
	until := time.Now().Add(maxUnpacking)
	a, err := rardecode.NewReader(packed, rardecode.MaxDictionarySize(maxWindow))
	if err != nil {
		return l.unrar(err)
	}
	unpacked := &inflating{l: l, packed: packed, r: a, until: until}
	for {
		h, err := a.Next()
		switch {
		case err == io.EOF && l.count == 0:
			return faultf("%s is empty, or not an archive. Pack the folder anew and hand it in again.", l.what)
		case err == io.EOF:
			return nil
		case err != nil:
			return l.unrar(err)
		}
		k := regular
		switch {
		case h.IsDir:
			k = folder
		case h.LinkType != 0 || h.Mode().Type() != 0:
			k = special
		}
		size := uint64(max(h.UnPackedSize, 0))
		e, err := l.add(h.Name, k, size)
		switch {
		case err != nil:
			return err
		case e == nil || e.fault != "" || k != regular:
			continue
		case h.Encrypted || h.HeaderEncrypted:
			e.fail(l.encrypted())
			continue
		}
		if err := l.keep(e, unpacked, spool); err != nil {
			return l.unrar(err)
		}
	}
}

func (l *lister) encrypted() fault {
	return faultf("%s is encrypted, and there is no password to open it with. Hand it in without one.", l.what)
}

// unrar is the error of an archive that could not be read on.
func (l *lister) unrar(err error) error {
	switch {
	case errors.Is(err, rardecode.ErrArchiveEncrypted), errors.Is(err, rardecode.ErrArchivedFileEncrypted):
		return l.encrypted()
	case errors.Is(err, rardecode.ErrDictionaryTooLarge):
		return l.greedy()
	case errors.Is(err, rardecode.ErrMultiVolume), errors.Is(err, rardecode.ErrVerMismatch):
		return faultf("%s is one of several parts. Pack the folder anew as one .zip.", l.what)
	}
	return l.reading(err)
}
