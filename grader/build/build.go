// Package build turns a student's folder into a runner. It first holds the folder to the import policy, then has `go
// build` compile it in the exercise's place, through an overlay: nothing is copied into the course's tree or changed
// there. What the compiler has to say comes back as data, in the compiler's words and in plain ones.
package build

import (
	"context"
	"errors"
	"fmt"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"cudalab/grader/child"
)

// module is the course's module path.
const module = "cudalab"

// Request says what to build.
type Request struct {
	Root    string // the course: the folder that holds its go.mod
	Package string // the exercise's package, "asyncpipeline"
	Dir     string // the student's folder, which may be the exercise's own
	// Main is the expression that makes the suite in the runner's main function. In it, exercise and suite name the
	// packages exercises/PACKAGE and grader/suites/PACKAGE, and so does solution with Solution set:
	// "suite.New(exercise.Run, solution.Run)".
	Main     string
	Solution bool         // link solutions/PACKAGE
	GoTool   string       // the go command; empty: looked for in PATH, then where Go's installers put it
	Limits   child.Limits // of go build; a zero Wall or Memory means DefaultLimits'
}

// DefaultLimits bound one go build. The compiler works constants and type parameters out while it compiles, and a few
// lines of them can keep it busy for ever.
var DefaultLimits = child.Limits{Wall: 60 * time.Second, Memory: 3 << 30}

// Result is a runner, or why there is none.
type Result struct {
	Binary string // the runner, until Close; empty if there is none
	// Refusals are what breaks the import policy. Nothing was compiled if there are any.
	Refusals []Refusal
	Errors   []CompileError
	Notes    []string // what was left aside in the student's folder, one sentence each
	Sources  SourceMap

	release func()
}

// OK reports whether there is a runner.
func (r *Result) OK() bool { return r.Binary != "" }

// Close gives the runner's file up, for the next build to use. It must not run any more.
func (r *Result) Close() {
	if r.release != nil {
		r.release()
		r.release = nil
		r.Binary = ""
	}
}

// EnvironmentError is a reason not to build that lies in neither the student's code nor cudalab: no Go, one that is
// too old, no place to write.
type EnvironmentError struct {
	Problem string // what was needed and what was found
	Fix     string // what to do about it
}

func (e *EnvironmentError) Error() string { return e.Problem + " " + e.Fix }

// Build makes the runner. Its error is an *EnvironmentError, the context's, or a fault of cudalab's own; what is wrong
// with the student's code is in the Result.
func Build(ctx context.Context, q Request) (*Result, error) {
	q, err := complete(q)
	if err != nil {
		return nil, err
	}
	api := newAPI(q.Root)
	s, err := read(q.Dir, q.Package, api)
	if err != nil {
		return nil, err
	}
	r := &Result{Refusals: s.refusals, Errors: s.errors, Notes: s.notes, Sources: newSourceMap(q, s)}
	if len(r.Refusals) > 0 || len(r.Errors) > 0 {
		return r, nil
	}
	work, err := newWorkspace(q, s)
	if err != nil {
		return nil, err
	}
	defer work.remove()
	out, err := claimOutput(q.Root, q.Package)
	if err != nil {
		return nil, err
	}
	if r.Errors, err = compile(ctx, q, s, work, out, api); err != nil || len(r.Errors) > 0 {
		out.release()
		if err != nil {
			return nil, err
		}
		return r, nil
	}
	r.Binary, r.release = out.path, out.release
	return r, nil
}

// complete checks a request and fills in what it leaves out.
func complete(q Request) (Request, error) {
	if !token.IsIdentifier(q.Package) {
		return q, fmt.Errorf("%q is not the name of an exercise's package", q.Package)
	}
	var err error
	if q.Root, err = filepath.Abs(q.Root); err != nil {
		return q, err
	}
	// The overlay goes by the paths that go build uses, which are free of links.
	if real, err := filepath.EvalSymlinks(q.Root); err == nil {
		q.Root = real
	}
	for _, needed := range []string{"go.mod", filepath.Join("exercises", q.Package)} {
		if _, err := os.Stat(filepath.Join(q.Root, needed)); err != nil {
			return q, &EnvironmentError{
				Problem: fmt.Sprintf("%s should be the course's folder, but has no %s.", q.Root, filepath.ToSlash(needed)),
				Fix:     "Start cudalab inside the folder that you unpacked or cloned.",
			}
		}
	}
	info, err := os.Stat(q.Dir)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !info.IsDir() {
		return q, &EnvironmentError{
			Problem: fmt.Sprintf("The exercise's files should be in %s, but there is no such folder.", q.Dir),
			Fix:     "Name the folder that holds the exercise's .go files.",
		}
	}
	if q.Limits.Wall == 0 {
		q.Limits.Wall = DefaultLimits.Wall
	}
	if q.Limits.Memory == 0 {
		q.Limits.Memory = DefaultLimits.Memory
	}
	return q, err
}

// SourceMap leads from the paths that a runner's stacks and panics name to the student's files.
type SourceMap struct {
	files map[string]string
}

func newSourceMap(q Request, s *submission) SourceMap {
	m := SourceMap{files: map[string]string{}}
	for _, f := range s.files {
		m.files[module+"/exercises/"+q.Package+"/"+f.name] = f.path
	}
	return m
}

// RealPath is the student's file behind a path in a stack of the runner, as a path under Request.Dir as it was given.
// It is not ok for any other file.
func (m SourceMap) RealPath(virtual string) (path string, ok bool) {
	path, ok = m.files[filepath.ToSlash(virtual)]
	return path, ok
}
