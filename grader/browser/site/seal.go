package site

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"cudalab/grader/browser/serve"
)

// worker is the file that lists all others, for visits without a network.
const worker = "sw.js"

// Seal finishes a site once all its files are there: its service worker learns of them, and each gets compressed copies
// beside it for hosts that can serve those. What an earlier Seal has made is made again.
func Seal(ctx context.Context, dir string) error {
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
	for i, name := range files {
		files[i] = filepath.Join(dir, filepath.FromSlash(name))
	}
	return serve.Compress(ctx, files)
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
		of, is := serve.IsCopy(name)
		return is && slices.Contains(all, of)
	}), nil
}
