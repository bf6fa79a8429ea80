// Package handout writes a copy of the course for students: all that cudalab and the checks are built from and the
// exercises as skeletons, without the solutions, what sends readers to them, and the tests, whose programs show
// solutions too.
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

	"cudalab/grader/desk/parcel"
	"cudalab/grader/suites/course"
	"cudalab/lessons"
)

// The files that a handout has instead of the course's own.
//
//go:embed README.md Makefile
var own embed.FS

// ignored are the names that git leaves aside in a handout: what was built, and the student's progress.
const ignored = "/bin/\n/.cudalab/*\n!/" + parcel.RecordFile + "\n"

// UsageError is a folder that cannot be written to as asked.
type UsageError struct {
	Message string // what is wrong and what to do, in sentences
}

func (e *UsageError) Error() string { return e.Message }

func usagef(format string, a ...any) error { return &UsageError{fmt.Sprintf(format, a...)} }

// Write writes the handout of a course into a folder, which must be empty or not there yet, outside of the course. The
// folder is there whole or, after an error, as it was. Errors are a *UsageError, a *compile.EnvironmentError where
// there is no Go, or those of reading and writing files.
func Write(ctx context.Context, c *course.Course, dir string) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	if err := vacant(c, dir); err != nil {
		return err
	}
	p, err := Of(ctx, c)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return usagef("The folder for the handout cannot be made: %v.", err)
	}
	_, err = p.Unpack(ctx, dir)
	return err
}

// Of is the handout of a course.
func Of(ctx context.Context, c *course.Course) (*parcel.Parcel, error) {
	files, borrowed, err := needed(ctx, c)
	if err != nil {
		return nil, err
	}
	changed, err := chapters(c, files)
	if err != nil {
		return nil, err
	}
	raced, err := paces(ctx, c, files)
	if err != nil {
		return nil, err
	}
	maps.Copy(changed, raced)
	if len(borrowed) > 0 {
		if changed["go.mod"], err = borrowingMod(ctx, c.Root, borrowed); err != nil {
			return nil, err
		}
	}
	p := &parcel.Parcel{Release: parcel.Release{Module: c.Module, Handout: true,
		Version: lessons.Version(os.DirFS(filepath.Join(c.Root, "lessons")))}, Files: map[string][]byte{}}
	return p, fill(p, c, files, borrowed, changed)
}

// Outside says, if so, that a folder lies within the course, where no handout can be.
func Outside(c *course.Course, dir string) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	if below, err := filepath.Rel(c.Root, dir); err == nil && filepath.IsLocal(below) {
		return usagef("%s lies within the course, whose folders are the course's own: name a folder outside of %s.", dir,
			c.Root)
	}
	return nil
}

// vacant says, if so, why a folder cannot become a handout.
func vacant(c *course.Course, dir string) error {
	if err := Outside(c, dir); err != nil {
		return err
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

// fill puts a handout's files into a parcel, files being those of the course to copy, borrowed those of other modules,
// and changed the texts that some of the course's have instead.
func fill(p *parcel.Parcel, c *course.Course, files []string, borrowed, changed map[string]string) (err error) {
	for to, from := range borrowed {
		if p.Files[to], err = os.ReadFile(from); err != nil {
			return err
		}
	}
	for _, e := range c.Exercises {
		carried := parcel.Exercise{Name: e.Name, Package: e.Package, Formerly: e.Formerly}
		p.Exercises = append(p.Exercises, carried)
		if p.Files[carried.File()], err = e.Skeleton(); err != nil {
			return err
		}
	}
	for _, file := range files {
		if p.Files[file], err = os.ReadFile(filepath.Join(c.Root, filepath.FromSlash(file))); err != nil {
			return err
		}
		if now, found := changed[file]; found {
			p.Files[file] = []byte(now)
		}
	}
	for _, file := range []string{"README.md", "Makefile"} {
		if p.Files[file], err = own.ReadFile(file); err != nil {
			return err
		}
	}
	p.Files[".gitignore"] = []byte(ignored)
	return nil
}

func put(path string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o644)
}
