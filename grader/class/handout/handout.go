// Package handout writes a copy of the course for students: all that cudalab and the checks are built from and the
// exercises as skeletons, without the solutions, what sends readers to them, and the tests, whose programs show solutions
// too.
package handout

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"

	"cudalab/grader/suites/course"
)

// The files that a handout has instead of the course's own.
//
//go:embed README.md Makefile
var own embed.FS

// ignored are the names that git leaves aside in a handout: what was built, and the student's progress.
const ignored = "/bin/\n/.cudalab/\n"

// UsageError is a folder that cannot be written to as asked.
type UsageError struct {
	Message string // what is wrong and what to do, in sentences
}

func (e *UsageError) Error() string { return e.Message }

func usagef(format string, a ...any) error { return &UsageError{fmt.Sprintf(format, a...)} }

// Write writes the handout of a course into a folder, which must be empty or not there yet, outside of the course. The
// folder is there whole or, after an error, as it was. Errors are a *UsageError, a *compile.EnvironmentError where there is
// no Go, or those of reading and writing files.
func Write(ctx context.Context, c *course.Course, dir string) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	if err := vacant(c.Root, dir); err != nil {
		return err
	}
	files, borrowed, err := needed(ctx, c)
	if err != nil {
		return err
	}
	changed, err := chapters(c, files)
	if err != nil {
		return err
	}
	raced, err := paces(ctx, c, files)
	if err != nil {
		return err
	}
	maps.Copy(changed, raced)
	if len(borrowed) > 0 {
		if changed["go.mod"], err = borrowingMod(ctx, c.Root, borrowed); err != nil {
			return err
		}
	}
	parent := filepath.Dir(dir)
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return usagef("The folder for the handout cannot be made: %v.", err)
	}
	temp, err := os.MkdirTemp(parent, ".cudalab-handout-")
	if err != nil {
		return usagef("The folder for the handout cannot be made: %v.", err)
	}
	defer os.RemoveAll(temp) // fails to find it once it has its name
	if err := errors.Join(os.Chmod(temp, 0o755), fill(c, temp, files, borrowed, changed)); err != nil {
		return err
	}
	if err := os.Remove(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return os.Rename(temp, dir)
}

// vacant says, if so, why a folder cannot become a handout.
func vacant(root, dir string) error {
	if below, err := filepath.Rel(root, dir); err == nil && filepath.IsLocal(below) {
		return usagef("%s lies within the course, whose folders are the course's own: name a folder outside of %s.", dir, root)
	}
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return usagef("The folder for the handout cannot be read: %v.", err)
	case len(entries) > 0:
		return usagef("%s is not empty: name an empty folder, or one that is not there yet.", dir)
	}
	return nil
}

// fill writes a handout into an empty folder, files being those of the course to copy, borrowed those of other modules, and
// changed the texts that some of the course's have instead.
func fill(c *course.Course, dir string, files []string, borrowed, changed map[string]string) error {
	for to, from := range borrowed {
		text, err := os.ReadFile(from)
		if err != nil {
			return err
		}
		if err := put(filepath.Join(dir, filepath.FromSlash(to)), text); err != nil {
			return err
		}
	}
	for _, e := range c.Exercises {
		skeleton, err := e.Skeleton()
		if err != nil {
			return err
		}
		if err := put(filepath.Join(dir, e.Folder(), e.Package+".go"), skeleton); err != nil {
			return err
		}
	}
	for _, file := range files {
		path := filepath.Join(c.Root, filepath.FromSlash(file))
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if now, found := changed[file]; found {
			text = []byte(now)
		}
		if err := put(filepath.Join(dir, filepath.FromSlash(file)), text); err != nil {
			return err
		}
	}
	for _, file := range []string{"README.md", "Makefile"} {
		text, err := own.ReadFile(file)
		if err != nil {
			return err
		}
		if err := put(filepath.Join(dir, file), text); err != nil {
			return err
		}
	}
	return put(filepath.Join(dir, ".gitignore"), []byte(ignored))
}

func put(path string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o644)
}
