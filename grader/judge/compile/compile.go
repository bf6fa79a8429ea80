package compile

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"cudalab/grader/machine/child"
)

// CompileError is one thing the compiler has to say about the student's code.
type CompileError struct {
	File    string // under Exercise.Dir as it was given; empty where no line is at fault
	Line    int    // from 1
	Col     int    // in bytes, from 1; 0: not known
	Message string // the compiler's own words
	Plain   string // what that means and what to do, in a sentence or two; empty where the compiler's words are plain
}

// A builder makes one runner.
type builder struct {
	Request
	api  *api
	tool string
	slot *slot
	work *workspace
}

// link makes one runner of as many of the submissions as can be, which is at binary until release. What keeps the others
// out of it goes into them. There is no binary if that is all of them.
func link(ctx context.Context, q Request, submissions []*submission, api *api) (binary string, release func(), err error) {
	b := &builder{Request: q, api: api}
	if b.tool, err = goTool(q); err != nil {
		return "", nil, err
	}
	if b.slot, err = claimSlot(q.Root, slotName(q.Exercises)); err != nil {
		return "", nil, err
	}
	linked := false
	if b.work, err = newWorkspace(api, b.slot.work, submissions); err != nil {
		err = noPlace(err)
	} else if _, err = b.prepare(ctx, false); err == nil {
		linked, err = b.linkMost(ctx, submissions)
	}
	if err != nil || !linked {
		b.slot.release()
		return "", nil, err
	}
	return b.slot.binary, b.slot.release, nil
}

// slotName is the name of the slots of these exercises' runners.
func slotName(exercises []Exercise) string {
	if len(exercises) == 1 {
		return exercises[0].Package
	}
	return "together"
}

// linkMost builds without those that turn out not to compile, until the rest does; it reports whether there is a rest.
// Whatever assemble does not make go build does, or says why not.
// What no place in anyone's code explains, a limit among it, is put down to those that show it when built alone.
func (b *builder) linkMost(ctx context.Context, submissions []*submission) (linked bool, err error) {
	for apart := false; len(submissions) > 0; {
		if b.assemble(ctx, submissions) {
			return true, nil
		}
		unexplained, err := b.compile(ctx, submissions)
		switch {
		case err != nil:
			return false, err
		case unexplained == nil && !slices.ContainsFunc(submissions, (*submission).bad):
			return true, nil
		case unexplained == nil:
		case len(submissions) == 1:
			unexplained.blame(submissions[0])
		case apart:
			return false, fmt.Errorf("exercises that compile one by one do not compile together: %w", unexplained)
		default:
			apart = true
			for i := range submissions {
				alone, err := b.compile(ctx, submissions[i:i+1])
				if err != nil {
					return false, err
				}
				if alone != nil {
					alone.blame(submissions[i])
				}
			}
		}
		submissions = slices.DeleteFunc(slices.Clone(submissions), (*submission).bad)
	}
	return false, nil
}

// compile runs go build. Errors that it finds in a student's code go into that submission; unexplained is a failure of go
// build's without any. A limit is believed only once it is certain that nothing but the students' code was compiled.
func (b *builder) compile(ctx context.Context, submissions []*submission) (unexplained *failure, err error) {
	unexplained, err = b.goBuild(ctx, submissions)
	if unexplained == nil || unexplained.limit == nil || err != nil {
		return unexplained, err
	}
	if news, err := b.prepare(ctx, true); err != nil || !news {
		return unexplained, err
	}
	return b.goBuild(ctx, submissions)
}

func (b *builder) goBuild(ctx context.Context, submissions []*submission) (unexplained *failure, err error) {
	if err := b.work.join(submissions); err != nil {
		return nil, err
	}
	// -trimpath gives every file the same name wherever the course lies; -s -w halve the time to link. -e has the compiler
	// list every error in the runner's main package, so that no exercise's are left out for another's.
	p, err := child.Start(ctx, child.Command{
		Path: b.tool,
		Args: []string{"build", "-o", b.slot.binary, "-overlay", b.work.overlay, "-trimpath", "-gcflags=-e", "-ldflags=-s -w",
			b.work.mainPath()},
		Dir:    b.Root,
		Env:    environment(b.slot.fallback),
		Limits: b.Limits,
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
	case r.Reason == child.WallTime:
		return nil, slow(b.Limits)
	case r.Stopped():
		limit := stopped(r.Reason, b.Limits)
		return &failure{limit: &limit}, nil
	}
	text := append(r.Stderr, r.Stdout...)
	if err := outdated(ctx, b.Request, b.tool, text); err != nil {
		return nil, err
	}
	if bytes.Contains(text, []byte("no space left on device")) {
		return nil, &EnvironmentError{
			Problem: "go build ran out of disk space.",
			Fix:     "Free some, or set GOCACHE and TMPDIR to folders on another disk. `go clean -cache` empties Go's cache.",
		}
	}
	if bytes.Contains(text, []byte("file too large")) {
		limit := beyond(fmt.Sprintf("wrote a file of more than %d MiB", b.Limits.FileSize>>20))
		return &failure{limit: &limit}, nil
	}
	found, foreign := b.work.parse(b.Root, string(text))
	explained := b.explain(found)
	if foreign || !explained {
		for _, s := range submissions {
			s.errors = nil
		}
		return &failure{text: string(bytes.TrimSpace(text))}, nil
	}
	return nil, nil
}

// failure is go build's where it names no place in a student's code.
type failure struct {
	limit *CompileError // the limit that it ran into, if that is why
	text  string        // what it said
}

func (f *failure) Error() string {
	if f.limit != nil {
		return f.limit.Message
	}
	return "go build failed for a reason that is not in the exercise:\n" + f.text
}

// blame puts a failure down to the only submission that was there.
func (f *failure) blame(s *submission) {
	if f.limit != nil {
		s.errors = []CompileError{*f.limit}
	} else {
		s.err = f
	}
}

// stopped says which limit a build ran into.
func stopped(reason child.Reason, l child.Limits) CompileError {
	limit := "ran into the limit on its " + string(reason)
	switch reason {
	case child.CPUTime:
		limit = fmt.Sprintf("was not done after %v of CPU time", l.CPU)
	case child.Memory:
		limit = fmt.Sprintf("needed more than %d MiB of memory", l.Memory>>20)
	}
	return beyond(limit)
}

// beyond is what is said of code that a build ran into a limit with.
func beyond(limit string) CompileError {
	return CompileError{
		Message: "go build " + limit,
		Plain: "The compiler works out constants, arrays and type parameters while it compiles. Look for a huge array or " +
			"constant, or for a generic type that contains itself.",
	}
}

// diagnostic is one message of the compiler with its place.
type diagnostic struct {
	submission *submission
	file       *file // nil: what the runner's main package says about the submission
	line, col  int
	message    string
}

var (
	diagnosticLine = regexp.MustCompile(`^(\S.*?\.go):(\d+)(?::(\d+))?: (.*)$`)
	relatedLine    = regexp.MustCompile(`^\t(\S.*?\.go):(\d+)(?::\d+)?: (.*)$`)
)

// parse takes go build's output apart. Foreign is true if it complains about a file that is neither a student's nor an
// exercise's in the runner's main package.
func (w *workspace) parse(root, text string) (found []diagnostic, foreign bool) {
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if m := relatedLine.FindStringSubmatch(line); m != nil && len(found) > 0 {
			if p := w.sources[absolute(root, m[1])]; p.file != nil {
				line = fmt.Sprintf("\t%s in %s, line %s", m[3], p.file.name, m[2])
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
		p, known := w.sources[absolute(root, m[1])]
		if !known {
			foreign = true
			continue
		}
		d := diagnostic{submission: p.submission, file: p.file, message: m[4]}
		d.line, _ = strconv.Atoi(m[2])
		d.col, _ = strconv.Atoi(m[3])
		found = append(found, d)
	}
	return found, foreign
}

// absolute undoes the shortening of paths in go build's output, which is relative to where it runs. Where a path only begins
// like that folder's, go build puts a dot for the beginning all the same: /home/ada/course-tmp/a.go becomes .-tmp/a.go.
func absolute(root, path string) string {
	rest, dot := strings.CutPrefix(path, ".")
	switch {
	case filepath.IsAbs(path):
	case dot && rest != "" && !os.IsPathSeparator(rest[0]) && rest[0] != '.':
		path = root + rest
	default:
		path = filepath.Join(root, path)
	}
	return filepath.Clean(path)
}

// explain gives every submission what the compiler found in it, with plain words, and turns errors in the runner's main
// package into what they mean: that a function of the student's is not what the contract asks for. It reports whether it
// could make something of at least one.
func (b *builder) explain(found []diagnostic) bool {
	explained := false
	for _, d := range found {
		e := CompileError{Line: d.line, Col: d.col, Message: d.message}
		if d.file != nil {
			e.File = d.file.path
			e.Plain = plain(d.message, d.file, b.api)
		} else if !d.submission.mismatch(&e, b.Root, b.work.mainFrom(d.submission, d.line, d.col)) {
			continue
		}
		explained = true
		same := func(o CompileError) bool { return o.File == e.File && o.Line == e.Line && o.Message == e.Message }
		if s := d.submission; !slices.ContainsFunc(s.errors, same) {
			s.errors = append(s.errors, e)
		}
	}
	return explained
}
