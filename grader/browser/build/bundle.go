package build

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/andybalholm/brotli"
)

// bundle is many files in one: the length of a list, the list, and the files one behind the other.
type bundle struct {
	list []entry
	data bytes.Buffer
}

type entry struct {
	Name string `json:"name"`
	Size int    `json:"size"`
}

func (b *bundle) add(name string, text []byte) {
	b.list = append(b.list, entry{name, len(text)})
	b.data.Write(text)
}

func (b *bundle) bytes() ([]byte, error) {
	list, err := json.Marshal(b.list)
	if err != nil {
		return nil, err
	}
	all := binary.BigEndian.AppendUint32(nil, uint32(len(list)))
	return append(append(all, list...), b.data.Bytes()...), nil
}

// packing is a way to compress.
type packing func(io.Writer) io.WriteCloser

func withBrotli(w io.Writer) io.WriteCloser {
	return brotli.NewWriterOptions(w, brotli.WriterOptions{Quality: 9, LGWin: 24}) // quality 11 takes ten times as long
}

func withGzip(w io.Writer) io.WriteCloser {
	z, err := gzip.NewWriterLevel(w, gzip.BestCompression)
	if err != nil {
		panic(err) // the level is one
	}
	return z
}

// compressed writes the compressed copy of a file beside it, and is its size. The file's name is by its content, so a copy
// that is there is the right one.
func compressed(path, ending string, text []byte, with packing) (size int, err error) {
	if known, err := os.Stat(path + ending); err == nil {
		return int(known.Size()), nil
	}
	var packed bytes.Buffer
	w := with(&packed)
	_, err = w.Write(text)
	if err := errors.Join(err, w.Close()); err != nil {
		return 0, fmt.Errorf("%s: %w", path+ending, err)
	}
	// The name appears with the whole file behind it: a build may be killed.
	if err := os.WriteFile(path+".part", packed.Bytes(), 0o644); err != nil {
		return 0, err
	}
	return packed.Len(), os.Rename(path+".part", path+ending)
}
