package build

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"sync"

	"github.com/andybalholm/brotli"
)

// packing is a way to compress.
type packing func(io.Writer) io.WriteCloser

// withBrotli takes its time, two minutes on two processors for all of a site: it is built once, and fetched by a class.
func withBrotli(w io.Writer) io.WriteCloser {
	return brotli.NewWriterOptions(w, brotli.WriterOptions{Quality: brotli.BestCompression, LGWin: 24})
}

func withGzip(w io.Writer) io.WriteCloser {
	z, err := gzip.NewWriterLevel(w, gzip.BestCompression)
	if err != nil {
		panic(err) // the level is one
	}
	return z
}

// compressAll writes the compressed copies of files beside them, as many at a time as there are processors, and notes their
// sizes.
func compressAll(ctx context.Context, files []*file) error {
	free := make(chan struct{}, runtime.NumCPU())
	failed := make([]error, len(files))
	var running sync.WaitGroup
	for i, f := range files {
		running.Go(func() {
			free <- struct{}{}
			defer func() { <-free }()
			var err error
			if f.Brotli, err = compressed(ctx, f.path, ".br", f.text, withBrotli); err == nil {
				f.Gzip, err = compressed(ctx, f.path, ".gz", f.text, withGzip)
			}
			failed[i] = err
		})
	}
	running.Wait()
	return errors.Join(failed...)
}

// block is how many bytes are compressed between two looks at whether to go on.
const block = 1 << 20

// compressed writes the compressed copy of a file beside it, and is its size. The file's name is by its content, so a copy
// that is there is the right one.
func compressed(ctx context.Context, path, ending string, text []byte, with packing) (size int, err error) {
	if known, err := os.Stat(path + ending); err == nil {
		return int(known.Size()), nil
	}
	var packed bytes.Buffer
	w := with(&packed)
	for rest := text; len(rest) > 0 && err == nil; {
		n := min(block, len(rest))
		_, err = w.Write(rest[:n])
		rest = rest[n:]
		if ctx.Err() != nil {
			return 0, ctx.Err()
		}
	}
	if err := errors.Join(err, w.Close()); err != nil {
		return 0, fmt.Errorf("%s: %w", path+ending, err)
	}
	// The name appears with the whole file behind it: a build may be killed.
	if err := os.WriteFile(path+".part", packed.Bytes(), 0o644); err != nil {
		return 0, err
	}
	return packed.Len(), os.Rename(path+".part", path+ending)
}
