// Package suites knows every lesson's suite. A new lesson is one entry here and one in course.toml.
package suites

import (
	"bytes"
	"embed"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"cudalab/grader/suite"
	"cudalab/grader/suites/asyncpipeline"
	"cudalab/grader/suites/buddy"
	"cudalab/grader/suites/crossstreamevents"
	"cudalab/grader/suites/poolconfig"
	"cudalab/grader/suites/slab"
	"cudalab/grader/suites/vmmarena"
)

// Lesson is what cudalab has to know about one lesson to check it.
type Lesson struct {
	Suite *suite.Suite
	// code is the Go expression that an implementation is passed to the suite's New by; %[1]s stands for its package.
	code string
	none string // is passed where there is no implementation
}

var lessons = []Lesson{
	{Suite: asyncpipeline.New(nil, nil), code: "%[1]s.Run", none: "nil"},
	{Suite: poolconfig.New(nil, nil), code: "%[1]s.Run", none: "nil"},
	{
		Suite: crossstreamevents.New(crossstreamevents.Code{}, crossstreamevents.Code{}),
		code:  "suite.Code{Share: %[1]s.Share, FanOut: %[1]s.FanOut}", none: "suite.Code{}",
	},
	{Suite: slab.New(nil, nil), code: "suite.Of(%[1]s.New)", none: "nil"},
	{Suite: buddy.New(nil, nil), code: "suite.Of(%[1]s.New)", none: "nil"},
	{Suite: vmmarena.New(nil, nil), code: "suite.Of(%[1]s.New)", none: "nil"},
}

// Main is the Go expression that makes the suite in the runner's main function, where exercise and suite name the lesson's
// packages, and solution too if it is to stand beside the exercise.
func (l Lesson) Main(solution bool) string {
	beside := l.none
	if solution {
		beside = fmt.Sprintf(l.code, "solution")
	}
	return fmt.Sprintf("suite.New(%s, %s)", fmt.Sprintf(l.code, "exercise"), beside)
}

// Of is the lesson of an exercise.
func Of(exercise string) (Lesson, bool) {
	for _, l := range lessons {
		if l.Suite.Exercise == exercise {
			return l, true
		}
	}
	return Lesson{}, false
}

//go:embed */*.go
var sources embed.FS

// Changed names a source file of the lesson's suite that is not, in the course at root, what this program was built
// from; "" if there is none. The runner is built from the course as it is now, while the judging is in this program:
// where the two differ in what they draw from a seed, right code would come out wrong.
func (l Lesson) Changed(root string) string {
	changed := ""
	err := fs.WalkDir(sources, l.Suite.Package, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || strings.HasSuffix(path, "_test.go") {
			return err
		}
		built, err := sources.ReadFile(path)
		if err != nil {
			return err
		}
		file := filepath.Join("grader", "suites", filepath.FromSlash(path))
		if now, err := os.ReadFile(filepath.Join(root, file)); err != nil || !bytes.Equal(now, built) {
			changed = file
			return fs.SkipAll
		}
		return nil
	})
	if err != nil { // the lesson names no folder of suites: a fault that a test finds
		return l.Suite.Package
	}
	return changed
}
