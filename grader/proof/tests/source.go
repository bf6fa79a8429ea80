package main

import (
	"bytes"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// tests is what a package is asked for.
type tests struct {
	names      []string // of its tests and fuzz targets
	concurrent bool     // it has a goroutine or a lock, where alone the race detector has something to see
}

var (
	testName   = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Example)\w*)\(`)
	concurrent = regexp.MustCompile(`(?m)\bgo func\b|\.Go\(|^\s+go [a-zA-Z.]+\(|\bsync\.[CMPRW]|\batomic\.|\.Parallel\(`)
)

// testsByPackage reads what the packages of the tree at root test, by their folders.
func testsByPackage(root string) (map[string]*tests, error) {
	all := map[string]*tests{}
	err := files(root, func(file string, text []byte) {
		if path.Ext(file) != ".go" || strings.Contains(file, "testdata/") {
			return
		}
		p := all[path.Dir(file)]
		if p == nil {
			p = &tests{}
			all[path.Dir(file)] = p
		}
		p.concurrent = p.concurrent || concurrent.Match(text)
		if strings.HasSuffix(file, "_test.go") {
			for _, m := range testName.FindAllSubmatch(text, -1) {
				p.names = append(p.names, string(m[1]))
			}
		}
	})
	return all, err
}

// having are the folders of the packages that have one of the tests.
func having(packages map[string]*tests, names []string) (folders []string) {
	for _, folder := range slices.Sorted(maps.Keys(packages)) {
		if slices.ContainsFunc(packages[folder].names, func(n string) bool { return slices.Contains(names, n) }) {
			folders = append(folders, "./"+folder)
		}
	}
	return folders
}

// racing are the folders of the packages whose tests are raced.
func racing(packages map[string]*tests) (folders []string) {
	for _, folder := range slices.Sorted(maps.Keys(packages)) {
		p := packages[folder]
		if p.concurrent && len(p.names) > 0 && !slices.Contains(unraced, folder) && !slices.Contains(p.names, "TestLesson") {
			folders = append(folders, "./"+folder)
		}
	}
	return folders
}

// drawnBy is what samples of the tree at root are drawn by: its commit, and where it has none or was changed since,
// a hash of its files. So days of commits have had all of what is sampled, and the same tree is tested alike.
func drawnBy(root string) (string, error) {
	if commit, err := git(root, "rev-parse", "--short=12", "HEAD"); err == nil {
		if changed, err := git(root, "status", "--porcelain"); err == nil && changed == "" {
			return commit, nil
		}
	}
	h := fnv.New64a()
	err := files(root, func(file string, text []byte) {
		fmt.Fprintln(h, file, len(text))
		h.Write(text)
	})
	return fmt.Sprintf("%016x", h.Sum64()), err
}

func git(root string, args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir = root
	said, err := cmd.Output()
	return string(bytes.TrimSpace(said)), err
}

// files yields the files of the tree at root in order, but for hidden folders and what is built.
func files(root string, each func(file string, text []byte)) error {
	return filepath.WalkDir(root, func(at string, d fs.DirEntry, err error) error {
		file, _ := filepath.Rel(root, at)
		file = filepath.ToSlash(file)
		switch {
		case err != nil:
			return err
		case d.IsDir() && file != "." && (strings.HasPrefix(d.Name(), ".") || file == "bin" || file == "vendor"):
			return filepath.SkipDir
		case !d.Type().IsRegular():
			return nil
		}
		text, err := os.ReadFile(at)
		if errors.Is(err, fs.ErrNotExist) { // gone meanwhile
			return nil
		}
		each(file, text)
		return err
	})
}
