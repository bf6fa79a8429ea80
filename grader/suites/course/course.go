// Package course is the course as it lies on this machine: where its tree is, which exercises it has, what each is
// worth and which suite checks it.
package course

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/agnivade/levenshtein"

	"cudalab/grader/suite"
	"cudalab/lessons"
	"cudalab/native/profile"
)

// Course is the exercises in their order and the tree that they live in.
type Course struct {
	Root      string // absolute path of the folder with the course's go.mod
	Module    string // as it says there
	Exercises []Exercise
}

// Exercise is one exercise of the course.
type Exercise struct {
	lessons.Exercise
	Suite *suite.Suite

	sources fs.FS
}

// Folder is where the exercise's files are, relative to the root.
func (e Exercise) Folder() string { return filepath.Join("exercises", e.Package) }

// SolutionFolder is where its reference solution is, relative to the root.
func (e Exercise) SolutionFolder() string { return filepath.Join("solutions", e.Package) }

// HasSolution reports whether the course at root holds the reference solution. A handout holds none.
func (e Exercise) HasSolution(root string) bool {
	_, err := os.Stat(filepath.Join(root, e.SolutionFolder()))
	return err == nil
}

// ProfileFile is where a course keeps the profile of its simulated device, relative to the root. Without the file that
// is the built-in one.
const ProfileFile = "lessons/profile.json"

// Profile is the profile that the course at root keeps; nil where it keeps none. An error says in sentences what is
// wrong with the file.
func Profile(root string) (*profile.File, error) {
	f, err := profile.Load(filepath.Join(root, filepath.FromSlash(ProfileFile)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return f, err
}

// ErrOutside is the error of Open where there is no course.
var ErrOutside = errors.New("outside of the course")

// Open reads this repository's course; see Definition.Open.
func Open(root string) (*Course, error) { return Own().Open(root) }

// Unknown is the error of Find for a name that no exercise has.
type Unknown struct {
	Name    string
	Nearest string // the exercise that was probably meant; "" if none is near
}

func (u *Unknown) Error() string { return fmt.Sprintf("there is no exercise %q", u.Name) }

// Find is the exercise of the given name, folder or place in the course: "async-pipeline", "asyncpipeline",
// "exercises/asyncpipeline/" and "1" name the same.
func (c *Course) Find(name string) (Exercise, error) {
	plain := strings.ToLower(filepath.Base(filepath.Clean(name)))
	if n, err := strconv.Atoi(plain); err == nil && n >= 1 && n <= len(c.Exercises) {
		return c.Exercises[n-1], nil
	}
	nearest, least := "", len(plain)/2+1
	for _, e := range c.Exercises {
		if plain == e.Name || plain == e.Package {
			return e, nil
		}
		if d := min(levenshtein.ComputeDistance(plain, e.Name), levenshtein.ComputeDistance(plain, e.Package)); d < least {
			nearest, least = e.Name, d
		}
		if nearest == "" && len(plain) > 2 && (strings.Contains(e.Name, plain) || strings.Contains(e.Package, plain)) {
			nearest = e.Name
		}
	}
	return Exercise{}, &Unknown{Name: name, Nearest: nearest}
}

// Relative is a path as it is shortest to write from the working directory: relative where it lies below, else
// absolute.
func Relative(path string) string {
	dir, err := os.Getwd()
	if err != nil {
		return path
	}
	short, err := filepath.Rel(dir, path)
	if err != nil || strings.HasPrefix(short, "..") {
		return path
	}
	return short
}

// Exists tells whether a folder is there to be read, and says so in plain words if not.
func Exists(dir string) error {
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("there is no folder %s", dir)
	case err != nil:
		return fmt.Errorf("the folder %s cannot be read: %w", dir, err)
	case !info.IsDir():
		return fmt.Errorf("%s is a file, not a folder", dir)
	}
	return nil
}
