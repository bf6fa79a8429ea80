package compile

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"cudalab/grader/machine/child"
)

// goBuild runs go build. Errors that it finds in a student's code go into that submission; unexplained is a failure of
// go build's without any. A limit is believed only once it is certain that nothing but the students' code was compiled.
func (b *builder) goBuild(ctx context.Context, submissions []*submission) (unexplained *failure, err error) {
	unexplained, err = b.goBuildOnce(ctx, submissions)
	if unexplained == nil || unexplained.limit == nil || err != nil {
		return unexplained, err
	}
	if news, err := b.prepare(ctx, true); err != nil || !news {
		return unexplained, err
	}
	return b.goBuildOnce(ctx, submissions)
}

func (b *builder) goBuildOnce(ctx context.Context, submissions []*submission) (unexplained *failure, err error) {
	if err := b.work.join(submissions); err != nil {
		return nil, err
	}
	r, said, err := b.build(ctx, submissions)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, &EnvironmentError{
			Problem: fmt.Sprintf("The go command could not be started: %v.", err),
			Fix:     "Install Go from https://go.dev/dl, and see that `go version` answers.",
		}
	}
	if good(r) {
		return nil, nil
	}
	if limit, err := ended(ctx, r, b.Limits); limit != nil || err != nil {
		return &failure{limit: limit}, err
	}
	return b.explainAll(ctx, submissions, said, string(r.Stderr))
}

// maxOutput is how much is kept of what Go's tools say: they quote what students write, which has at most maxSize
// bytes.
const maxOutput = 4 * maxSize

// ended is what it means that one of Go's tools came to an end before it was done: a limit of the student's, or the
// machine's doing. Where it ended by itself it is neither.
func ended(ctx context.Context, r child.Result, l child.Limits) (*CompileError, error) {
	switch {
	case r.Reason == child.Cancelled:
		return nil, ctx.Err()
	case r.Reason == child.WallTime:
		return nil, slow(l)
	case r.Stopped():
		return stopped(r.Reason, l), nil
	case r.Reason == child.Signalled:
		return nil, interrupted()
	}
	return nil, nil
}

// explainAll makes of what go build said what it means. Each submission is told what is said of its own package; where
// nothing is explained so, what is left is said by Go's tools themselves, and no student has a say in it.
func (b *builder) explainAll(ctx context.Context, submissions []*submission, said []output, stderr string) (*failure,
	error) {
	explained, foreign, placed, rest := false, false, false, stderr
	for _, o := range said {
		found, others := b.work.parse(o)
		ok := b.explain(found)
		explained, foreign, placed = explained || ok, foreign || others, placed || len(found) > 0
		if !ok {
			rest += o.text
		}
	}
	if explained && !foreign {
		return nil, nil
	}
	for _, s := range submissions {
		s.errors = nil
	}
	if err := outdated(ctx, b.Course, b.tool, []byte(rest)); err != nil {
		return nil, err
	}
	switch {
	case strings.Contains(rest, "no space left on device"):
		return nil, &EnvironmentError{
			Problem: "go build ran out of disk space.",
			Fix:     "Free some, or set GOCACHE and TMPDIR to folders on another disk. `go clean -cache` empties Go's cache.",
		}
	case strings.Contains(rest, "file too large"):
		return &failure{limit: beyond(fmt.Sprintf("wrote a file of more than %d MiB", b.Limits.FileSize>>20))}, nil
	case strings.Contains(rest, "signal: killed"), strings.Contains(rest, "cannot allocate memory"):
		return nil, interrupted()
	case !foreign && !placed && slices.ContainsFunc(said, b.brokeDown):
		return &failure{limit: broken(firstWords(rest))}, nil
	}
	return &failure{text: string(bytes.TrimSpace([]byte(rest)))}, nil
}

// brokeDown reports whether what is said about a package is that the compiler or the linker gave up on what the
// students wrote: it names no place, and everything else has been compiled before.
func (b *builder) brokeDown(o output) bool {
	if o.path == b.work.mainPath() {
		return true
	}
	for s := range b.work.texts {
		if importPath(s) == o.path {
			return true
		}
	}
	return false
}

// firstWords are the first line of what a tool says that is not about which package it is.
func firstWords(text string) string {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			return bounded(line)
		}
	}
	return "it does not say why"
}

// interrupted is the error where the system ended one of Go's tools.
func interrupted() error {
	return &EnvironmentError{
		Problem: "The build was ended by the system, most likely because the machine has run out of memory. That says " +
			"nothing about your code.",
		Fix: "Try again when less runs on it.",
	}
}
