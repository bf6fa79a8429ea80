package site

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
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
		hashes[name] = hashOf(text)
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

// sealed matches the list that a site's worker has of the site's files.
var sealed = regexp.MustCompile(`(?m)^const files = (\{.*\});`)

// Whole is an error that says what is not there, or not as it was sealed, where that is so of a site.
func Whole(dir string) error {
	text, err := os.ReadFile(filepath.Join(dir, worker))
	if err != nil {
		return fmt.Errorf("%s, which lists its files, cannot be read", worker)
	}
	hashes := map[string]string{}
	listed := sealed.FindSubmatch(text)
	if listed == nil || json.Unmarshal(listed[1], &hashes) != nil {
		return fmt.Errorf("%s lists no files yet", worker)
	}
	for _, name := range slices.Sorted(maps.Keys(hashes)) {
		text, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
		switch {
		case err != nil:
			return fmt.Errorf("%s cannot be read", name)
		case hashOf(text) != hashes[name]:
			return fmt.Errorf("%s is not the one that was built", name)
		}
	}
	return nil
}

// hashOf tells a file's content apart.
func hashOf(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
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
