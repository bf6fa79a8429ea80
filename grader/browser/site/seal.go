package site

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/andybalholm/brotli"
	"golang.org/x/sync/errgroup"
)

// worker is the file that lists all others, for visits without a network.
const worker = "sw.js"

// packings are the endings of a file's compressed copies.
var packings = map[string]func(io.Writer) io.WriteCloser{
	".gz": func(w io.Writer) io.WriteCloser {
		z, err := gzip.NewWriterLevel(w, gzip.BestCompression)
		if err != nil {
			panic(err) // the level is one
		}
		return z
	},
	".br": func(w io.Writer) io.WriteCloser { return brotli.NewWriterLevel(w, 9) }, // above 9 it takes ten times as long
}

// packed are the endings of files that become smaller by being compressed.
var packed = []string{".html", ".js", ".css", ".svg", ".json", ".txt", ".webmanifest", ".wasm", ".a", ".bin", ".tar"}

// leastPacked is the size in bytes from which on a compressed copy is worth a file.
const leastPacked = 1 << 10

// Seal finishes a site once all its files are there: its service worker learns of them, and each gets compressed copies
// beside it for hosts that can serve those. What an earlier Seal has made is made again.
func Seal(dir string) error {
	files, err := list(dir)
	if err != nil {
		return err
	}
	hashes := map[string]string{}
	for _, name := range files {
		text, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
		if err != nil {
			return err
		}
		sum := sha256.Sum256(text)
		hashes[name] = hex.EncodeToString(sum[:8])
	}
	delete(hashes, worker)
	index, err := json.Marshal(hashes) // sorted: the same site has the same worker
	if err != nil {
		return err
	}
	text, err := own.ReadFile(worker)
	if err != nil {
		return err
	}
	if err := put(dir, worker, bytes.Replace(text, []byte("FILES"), index, 1)); err != nil {
		return err
	}
	return compress(dir, files)
}

// list is every file of a site, without the compressed copies of others.
func list(dir string) ([]string, error) {
	var files []string
	err := filepath.WalkDir(dir, func(at string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, at)
		files = append(files, filepath.ToSlash(name))
		return err
	})
	if err != nil {
		return nil, err
	}
	all := slices.Clone(files)
	return slices.DeleteFunc(files, func(name string) bool {
		_, copied := packings[path.Ext(name)]
		return copied && slices.Contains(all, strings.TrimSuffix(name, path.Ext(name)))
	}), nil
}

// compress writes the compressed copies. A copy that is as new as its file is there already.
func compress(dir string, files []string) error {
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for _, name := range files {
		file := filepath.Join(dir, filepath.FromSlash(name))
		info, err := os.Stat(file)
		if err != nil {
			return err
		}
		if !slices.Contains(packed, path.Ext(name)) || info.Size() < leastPacked {
			continue
		}
		for ending, pack := range packings {
			if made, err := os.Stat(file + ending); err == nil && !made.ModTime().Before(info.ModTime()) {
				continue
			}
			group.Go(func() error { return packFile(file, ending, pack) })
		}
	}
	return group.Wait()
}

func packFile(file, ending string, pack func(io.Writer) io.WriteCloser) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	out, err := os.Create(file + ending)
	if err != nil {
		return err
	}
	w := pack(out)
	_, err = w.Write(text)
	if err := errors.Join(err, w.Close(), out.Close()); err != nil {
		return fmt.Errorf("%s: %w", file+ending, err)
	}
	return nil
}
