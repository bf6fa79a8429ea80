package class

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"

	"cudalab/grader/intake"
)

// sources are what a runner is built from, beside what students hand in.
var sources = []string{"go.mod", "exercises/contract", "grader/runner", "grader/suite", "grader/suites", "kernels", "native", "solutions"}

// ownVersion is this program's release, or where it was built from a checkout a digest of the program.
func ownVersion() (string, error) {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version, nil
	}
	path, err := os.Executable()
	if err != nil {
		return "", err
	}
	h := sha256.New()
	if err := addFile(h, path); err != nil {
		return "", err
	}
	return "built " + short(h.Sum(nil)), nil
}

// courseDigest covers the sources by their names and contents; tests and the wrong programs that they use are no part of
// a runner.
func courseDigest(root string) (string, error) {
	h := sha256.New()
	for _, part := range sources {
		err := filepath.WalkDir(filepath.Join(root, filepath.FromSlash(part)), func(path string, e fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case e.IsDir() && e.Name() == "testdata":
				return fs.SkipDir
			case e.IsDir() || strings.HasSuffix(path, "_test.go") || !isSource(path):
				return nil
			}
			below, err := filepath.Rel(root, path)
			if err != nil {
				return err
			}
			fmt.Fprintf(h, "%s\n", filepath.ToSlash(below))
			return addFile(h, path)
		})
		if err != nil {
			return "", fmt.Errorf("the course's sources: %w", err)
		}
	}
	return short(h.Sum(nil)), nil
}

func isSource(path string) bool {
	ext := filepath.Ext(path)
	return ext == ".go" || ext == ".ptx" || ext == ".mod" || ext == ".s"
}

// digestOf covers a submission's files, by their names and contents, or what is wrong with it.
func digestOf(s intake.Submission) (string, error) {
	h := sha256.New()
	if s.Dir == "" {
		fmt.Fprintln(h, s.Problem)
		return short(h.Sum(nil)), nil
	}
	err := filepath.WalkDir(s.Dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		below, err := filepath.Rel(s.Dir, path)
		if err != nil {
			return err
		}
		fmt.Fprintf(h, "%s\n", filepath.ToSlash(below))
		return addFile(h, path)
	})
	return short(h.Sum(nil)), err
}

// addFile adds a file's digest, so that no two files run into each other.
func addFile(w io.Writer, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return err
	}
	_, err = w.Write(h.Sum(nil))
	return err
}

func short(sum []byte) string { return hex.EncodeToString(sum[:8]) }
