package compile

import (
	"fmt"
	"go/token"
	"os"
	"path/filepath"
	"slices"

	"cudalab/grader/machine/child"
)

// Course is a course to build runners of, and how they are built.
type Course struct {
	Root   string       // the folder that holds its go.mod
	GoTool string       // the go command; empty: looked for in PATH, then where Go's installers put it
	Limits child.Limits // of each go build; a zero Wall, CPU, Memory or FileSize means DefaultLimits'
	// Precompiled is the course's, with the exercises to build among others; nil: go build does it all.
	Precompiled *Precompiled
	// Preparing, if set, is called once the build has been held up for most of a second by what has to be compiled before
	// the students' code, as it is at first on each machine: then Preparing says what people should know.
	Preparing func()
}

// DefaultLimits bound the compiler's work on one student's package, and one go build, in which only such code is
// left to compile: that takes a second of CPU time. The compiler works constants and type parameters out while it
// compiles, and a few lines of them can keep it busy for ever, or make it fill the disk. A runner has some five
// MiB. The limit on wall time is for a machine that is too busy, which is nobody's fault.
var DefaultLimits = child.Limits{Wall: buildTime, CPU: compilerTime, Memory: 1 << 30, FileSize: 64 << 20}

// complete checks what is asked for, and fills in what the course leaves out.
func complete(c Course, exercises []Exercise) (Course, error) {
	var err error
	if c.Root, err = filepath.Abs(c.Root); err != nil {
		return c, err
	}
	// The overlay goes by the paths that go build uses, which are free of links.
	if real, err := filepath.EvalSymlinks(c.Root); err == nil {
		c.Root = real
	}
	needed := []string{"go.mod"}
	for i, e := range exercises {
		if !token.IsIdentifier(e.Package) {
			return c, fmt.Errorf("%q is not the name of an exercise's package", e.Package)
		}
		same := func(o Exercise) bool { return o.Package == e.Package && o.Number == e.Number }
		if slices.ContainsFunc(exercises[:i], same) {
			return c, fmt.Errorf("two folders are given for the package %s", e.Package)
		}
		needed = append(needed, filepath.Join("exercises", e.Package))
	}
	for _, needed := range needed {
		if _, err := os.Stat(filepath.Join(c.Root, needed)); err != nil {
			return c, &EnvironmentError{
				Problem: fmt.Sprintf("%s should be the course's folder, but has no %s.", c.Root, filepath.ToSlash(needed)),
				Fix:     "Start cudalab inside the folder that you unpacked or cloned.",
			}
		}
	}
	if c.Limits.Wall == 0 {
		c.Limits.Wall = DefaultLimits.Wall
	}
	if c.Limits.CPU == 0 {
		c.Limits.CPU = DefaultLimits.CPU
	}
	if c.Limits.Memory == 0 {
		c.Limits.Memory = DefaultLimits.Memory
	}
	if c.Limits.FileSize == 0 {
		c.Limits.FileSize = DefaultLimits.FileSize
	}
	return c, nil
}

// EnvironmentError is a reason not to build that lies in neither the student's code nor cudalab: no Go, one that is
// too old, no place to write, a machine that is too busy.
type EnvironmentError struct {
	Problem string // what was needed and what was found
	Fix     string // what to do about it
}

func (e *EnvironmentError) Error() string { return e.Problem + " " + e.Fix }
