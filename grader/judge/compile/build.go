// Package compile turns a student's folders, one for each exercise, into one runner. It first holds them to the
// import policy, then has `go build` compile them in the exercises' places, through an overlay: nothing is copied
// into the course's tree or changed there. Where everything else is known to be compiled, as it is from the second
// check on, compiler and linker do it alone for code that compiles. What the compiler has to say comes back as
// data, in the compiler's words and in plain ones.
//
// Build, in build.go, reads the folders (submission.go, policy.go) and goes on in compile.go, which has assemble.go
// or gobuild.go make the runner; both rest on workspace.go, slot.go and gotool.go. Precompile and Recall are in
// precompiled.go and remember.go.
package compile

import (
	"context"
	"path/filepath"
	"slices"

	"cudalab/grader/suite/gaps"
)

// Exercise is a student's code for one exercise.
type Exercise struct {
	Package string // the exercise's, "asyncpipeline"
	Dir     string // the student's folder, which may be the exercise's own
	// Main is the expression that makes the suite in the runner. In it, exercise and suite name the packages
	// exercises/PACKAGE and grader/suites/PACKAGE, and so does solution with Solution set:
	// "suite.New(exercise.Run, solution.Run)".
	Main     string
	Solution bool // link solutions/PACKAGE
	// Skeleton is the exercise's file as it is handed out: what a submission lacks of it counts as a gap. Without it that
	// is an error.
	Skeleton []byte
	Stepwise bool // have the code count its steps, so that it can be stopped from within; see package steps
	// Number tells programs of one exercise apart that share a runner; 0 where it is the only one.
	Number int
}

// Result is a runner of the exercises that can be run, and why the others cannot.
type Result struct {
	Binary    string   // the runner, until Close; empty if there is no exercise to run
	Exercises []Linked // as they were given

	release func()
}

// Linked is what became of one exercise. What keeps it from being run says nothing about the others: it comes out as if
// it had been built alone.
type Linked struct {
	// Refusals are what breaks the import policy. Nothing was compiled if there are any.
	Refusals []Refusal
	Errors   []CompileError
	Notes    []string // what was left aside in the student's folder, one sentence each
	// Gaps are those of functions that the code lacks, each of which answers its first.
	Gaps []gaps.Gap
	// Added are arguments that the code's calls lack, and Mended the files with them, by their paths.
	Added   []Addition
	Mended  map[string][]byte
	Sources SourceMap
	// ImportPath is that of the exercise's package.
	ImportPath string
	// Starts says that some of the exercise's code runs when the runner starts, whichever exercise is asked about.
	Starts bool
	// Apart says that it is not in the runner and is to be built alone: it is too much for one program with the others, or
	// is one of several of its exercise and Starts.
	Apart bool
	// Err is a reason that does not lie in the student's code: an *EnvironmentError, or a fault of cudalab's own.
	Err error
}

// Build makes one runner of all the exercises, each package once, that obey the policy and compile. Its error is an
// *EnvironmentError, the context's, or a fault of cudalab's own; what is wrong with one exercise is in the Result.
func Build(ctx context.Context, c Course, exercises ...Exercise) (*Result, error) {
	c, err := complete(c, exercises)
	if err != nil {
		return nil, err
	}
	api := newAPI(c.Root)
	submissions := make([]*submission, len(exercises))
	var clean []*submission
	for i, e := range exercises {
		s := read(e, api)
		s.apart = s.Number > 0 && s.starts
		if submissions[i] = s; !s.bad() && !s.apart {
			clean = append(clean, s)
		}
	}
	r := &Result{}
	if len(clean) > 0 {
		if r.Binary, r.release, err = link(ctx, c, clean, api, slotName(exercises)); err != nil {
			return nil, err
		}
	}
	for _, s := range submissions {
		r.Exercises = append(r.Exercises, Linked{Refusals: s.refusals, Errors: s.errors, Notes: s.notes, Gaps: s.gaps,
			Added: s.added, Mended: s.mended(), Err: s.err,
			Sources: newSourceMap(s), ImportPath: importPath(s), Starts: s.starts, Apart: s.apart})
	}
	return r, nil
}

// slotName is the name of the slots of these exercises' runners.
func slotName(exercises []Exercise) string {
	name := exercises[0].Package
	if slices.ContainsFunc(exercises, func(e Exercise) bool { return e.Package != name }) {
		return "together"
	}
	return name
}

// OK reports whether the exercise is in the runner.
func (l *Linked) OK() bool {
	return len(l.Refusals) == 0 && len(l.Errors) == 0 && l.Err == nil && !l.Apart
}

// Close gives the runner's file up, for the next build to use. It must not run any more.
func (r *Result) Close() {
	if r.release != nil {
		r.release()
		r.release = nil
		r.Binary = ""
	}
}

// SourceMap leads from the paths that a runner's stacks and panics name to the student's files.
type SourceMap struct {
	files map[string]string
}

func newSourceMap(s *submission) SourceMap {
	m := SourceMap{files: map[string]string{}}
	for _, f := range s.files {
		m.files[importPath(s)+"/"+f.name] = f.path
	}
	return m
}

// RealPath is the student's file behind a path in a stack of the runner, as a path under Exercise.Dir as it was given.
// It is not ok for any other file.
func (m SourceMap) RealPath(virtual string) (path string, ok bool) {
	path, ok = m.files[filepath.ToSlash(virtual)]
	return path, ok
}
