// Package restore takes an exercise back to its skeleton and keeps what was there.
package restore

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"cudalab/grader/desk/progress"
	"cudalab/grader/suites/course"
)

// State is what an exercise's folder holds.
type State int

const (
	Missing  State = iota // no Go file
	Pristine              // the skeleton, and no other Go file
	Edited                // anything else
)

// Look tells the state of an exercise.
func Look(root string, e course.Exercise) (State, error) {
	skeleton, err := e.Skeleton()
	if err != nil {
		return Edited, err
	}
	dir := filepath.Join(root, e.Folder())
	files, err := goFiles(dir)
	switch {
	case err != nil:
		return Edited, err
	case len(files) == 0:
		return Missing, nil
	case len(files) > 1 || files[0] != file(dir, e):
		return Edited, nil
	}
	now, err := os.ReadFile(files[0])
	if err != nil || !bytes.Equal(now, skeleton) {
		return Edited, err
	}
	return Pristine, nil
}

// Exercise copies the Go files of an exercise's folder to a new folder under .cudalab/backup, whose path it returns,
// and puts the skeleton in their place. The skeleton is not written before the copies are; backup is "" where there was
// nothing to keep. Files other than Go's stay as they are.
func Exercise(root string, e course.Exercise, now time.Time) (backup string, err error) {
	skeleton, err := e.Skeleton()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(root, e.Folder())
	files, err := goFiles(dir)
	if err != nil {
		return "", err
	}
	if len(files) > 0 {
		if backup, err = keep(root, e.Name, files, now); err != nil {
			return "", err
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return backup, err
	}
	if err := os.WriteFile(file(dir, e), skeleton, 0o644); err != nil {
		return backup, err
	}
	for _, path := range files {
		if path == file(dir, e) {
			continue
		}
		if err := os.Remove(path); err != nil {
			return backup, err
		}
	}
	return backup, nil
}

// goFiles are the paths of the Go files in a folder; none where there is no folder.
func goFiles(dir string) (paths []string, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, e := range entries {
		if filepath.Ext(e.Name()) == ".go" && !e.IsDir() {
			paths = append(paths, filepath.Join(dir, e.Name()))
		}
	}
	return paths, nil
}

// file is the one file of a skeleton.
func file(dir string, e course.Exercise) string { return filepath.Join(dir, e.Package+".go") }

// keep copies files into a folder of their own.
func keep(root, name string, files []string, now time.Time) (string, error) {
	backups := filepath.Join(root, progress.Folder, "backup")
	if err := os.MkdirAll(backups, 0o755); err != nil {
		return "", err
	}
	dir, err := newFolder(filepath.Join(backups, name+"-"+now.Format("2006-01-02-150405")))
	if err != nil {
		return "", err
	}
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			return "", err
		}
		if err := os.WriteFile(filepath.Join(dir, filepath.Base(path)), text, 0o644); err != nil {
			return "", err
		}
	}
	return dir, nil
}

// newFolder makes a folder that was not there before, numbered where the name is taken: twice in one second, say.
func newFolder(path string) (string, error) {
	for n := 1; ; n++ {
		dir := path
		if n > 1 {
			dir = fmt.Sprintf("%s-%d", path, n)
		}
		if err := os.Mkdir(dir, 0o755); !errors.Is(err, fs.ErrExist) {
			return dir, err
		}
	}
}
