package build

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"cudalab/grader/child"
)

// CompileError is one thing the compiler has to say about the student's code.
type CompileError struct {
	File    string // under Request.Dir as it was given; empty where no line is at fault
	Line    int    // from 1
	Col     int    // in bytes, from 1; 0: not known
	Message string // the compiler's own words
	Plain   string // what that means and what to do, in a sentence or two; empty where the compiler's words are plain
}

// compile runs go build. Errors that it finds in the student's code are not its error.
func compile(ctx context.Context, q Request, s *submission, w *workspace, out *output, api *api) ([]CompileError, error) {
	tool, err := goTool(q)
	if err != nil {
		return nil, err
	}
	// -trimpath gives every file the same name wherever the course lies; -s -w halve the time to link.
	p, err := child.Start(ctx, child.Command{
		Path:   tool,
		Args:   []string{"build", "-o", out.path, "-overlay", w.overlay, "-trimpath", "-ldflags=-s -w", w.main},
		Dir:    q.Root,
		Env:    environment(out.fallback),
		Limits: q.Limits,
	})
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, &EnvironmentError{
			Problem: fmt.Sprintf("The go command could not be started: %v.", err),
			Fix:     "Install Go from https://go.dev/dl, and see that `go version` answers.",
		}
	}
	r := p.Wait()
	switch {
	case r.Reason == child.Exited && r.ExitCode == 0:
		return nil, nil
	case r.Reason == child.Cancelled:
		return nil, ctx.Err()
	case r.Stopped():
		return []CompileError{stopped(r.Reason, q.Limits)}, nil
	}
	text := append(r.Stderr, r.Stdout...)
	if err := outdated(ctx, q, tool, text); err != nil {
		return nil, err
	}
	if bytes.Contains(text, []byte("no space left on device")) {
		return nil, &EnvironmentError{
			Problem: "go build ran out of disk space.",
			Fix:     "Free some, or set GOCACHE and TMPDIR to folders on another disk. `go clean -cache` empties Go's cache.",
		}
	}
	found, foreign := w.parse(q.Root, string(text))
	errors := explain(found, q, s, w, api)
	if len(errors) == 0 || foreign {
		return nil, fmt.Errorf("go build failed for a reason that is not in the exercise:\n%s", bytes.TrimSpace(text))
	}
	return errors, nil
}

// stopped says which limit a build ran into.
func stopped(reason child.Reason, l child.Limits) CompileError {
	limit := "ran into the limit on its " + string(reason)
	switch reason {
	case child.WallTime:
		limit = fmt.Sprintf("was not done after %v", l.Wall)
	case child.Memory:
		limit = fmt.Sprintf("needed more than %d MiB of memory", l.Memory>>20)
	}
	return CompileError{
		Message: "go build " + limit,
		Plain: "The compiler works out constants, arrays and type parameters while it compiles. Look for a huge array or " +
			"constant, or for a generic type that contains itself; if there is none the machine may be busy: try once more.",
	}
}

// diagnostic is one message of the compiler with its place.
type diagnostic struct {
	file      *file // nil: the runner's main function
	line, col int
	message   string
}

var (
	diagnosticLine = regexp.MustCompile(`^(\S.*?\.go):(\d+)(?::(\d+))?: (.*)$`)
	relatedLine    = regexp.MustCompile(`^\t(\S.*?\.go):(\d+)(?::\d+)?: (.*)$`)
)

// parse takes go build's output apart. Foreign is true if it complains about a file that is neither the student's nor
// the runner's main function.
func (w *workspace) parse(root, text string) (found []diagnostic, foreign bool) {
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if m := relatedLine.FindStringSubmatch(line); m != nil && len(found) > 0 {
			if f := w.files[absolute(root, m[1])]; f != nil {
				line = fmt.Sprintf("\t%s in %s, line %s", m[3], f.name, m[2])
			}
		}
		if strings.HasPrefix(line, "\t") {
			if len(found) > 0 {
				found[len(found)-1].message += "\n" + line
			}
			continue
		}
		m := diagnosticLine.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		d := diagnostic{message: m[4]}
		d.line, _ = strconv.Atoi(m[2])
		d.col, _ = strconv.Atoi(m[3])
		path := absolute(root, m[1])
		if d.file = w.files[path]; d.file == nil && !slices.Contains(w.mains, path) {
			foreign = true
			continue
		}
		found = append(found, d)
	}
	return found, foreign
}

// absolute undoes the shortening of paths in go build's output, which is relative to where it runs.
func absolute(root, path string) string {
	if !filepath.IsAbs(path) {
		path = filepath.Join(root, path)
	}
	return filepath.Clean(path)
}

// explain adds plain words, and turns errors in the runner's main function into what they mean: that a function of
// the student's is not what the contract asks for.
func explain(found []diagnostic, q Request, s *submission, w *workspace, api *api) []CompileError {
	var errors []CompileError
	for _, d := range found {
		e := CompileError{Line: d.line, Col: d.col, Message: d.message}
		if d.file != nil {
			e.File = d.file.path
			e.Plain = plain(d.message, d.file, api)
		} else if !s.mismatch(&e, q, w.mainFrom(d.line, d.col)) {
			continue
		}
		same := func(o CompileError) bool { return o.File == e.File && o.Line == e.Line && o.Message == e.Message }
		if !slices.ContainsFunc(errors, same) {
			errors = append(errors, e)
		}
	}
	return errors
}
