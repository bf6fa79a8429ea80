package class

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"cudalab/grader/class/intake"
	"cudalab/grader/judge/compile"
	"cudalab/grader/suites/course"
	"cudalab/lessons"
)

// ownVersion is this program's version, and a digest that tells it from others of that version.
func ownVersion() (string, error) {
	path, err := os.Executable()
	if err != nil {
		return "", err
	}
	h := sha256.New()
	if err := addFile(h, path); err != nil {
		return "", err
	}
	return fmt.Sprintf("%s, built %s", lessons.Version(lessons.Texts), short(h.Sum(nil))), nil
}

// courseDigest covers what the exercises' runners are built from, by names and contents.
func courseDigest(root string, exercises []course.Exercise) (string, error) {
	var packages []string
	for _, e := range exercises {
		packages = append(packages, e.Package)
	}
	files, err := compile.Sources(root, packages...)
	if err != nil {
		return "", err
	}
	h := sha256.New()
	for _, file := range files {
		fmt.Fprintf(h, "%s\n", file)
		if err := addFile(h, filepath.Join(root, filepath.FromSlash(file))); err != nil {
			return "", fmt.Errorf("the course's sources: %w", err)
		}
	}
	return short(h.Sum(nil)), nil
}

// digestOf covers a submission's files, by their names and contents, or what is wrong with it.
func digestOf(s intake.Submission) (string, error) {
	h := sha256.New()
	if s.Dir == "" {
		fmt.Fprintln(h, s.Problem)
		return short(h.Sum(nil)), nil
	}
	fmt.Fprint(h, s.Unclear)
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
