// Package cause answers the question for the cause of a failure, step by step, wherever it is asked: on the command
// line, in watch, in an editor. Package mend looks for the cause; here is when it is looked for, and what is said.
//
// Ask and Likely are in cause.go; what is said is in words.go.
package cause

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"cudalab/grader/desk/progress"
	"cudalab/grader/judge/check"
	"cudalab/grader/judge/compile"
	"cudalab/grader/judge/mend"
	"cudalab/grader/machine/lock"
	"cudalab/grader/suite/verdict"
)

// Answer is what there is to say. Its Parts come one below the other.
type Answer struct {
	Parts  []Part
	Result check.Result // of the check that was made first
}

// Part is a paragraph, or lines of code.
type Part struct {
	Text string `json:"text"`
	Code bool   `json:"code,omitempty"`
}

// Unasked is the error where nothing can be looked for, by no fault of the code.
type Unasked struct{ Why string }

func (e *Unasked) Error() string { return e.Why }

// Ask checks the student's code, and where that fails looks for the cause. It says one step more each time that it is
// asked about the same code. Its error is an *Unasked, or the context's, or a fault of cudalab's own.
func Ask(ctx context.Context, q check.Request, checked func(context.Context, check.Request) check.Result) (a Answer,
	err error) {
	e := q.Code[0].Exercise
	if e.Why == 0 {
		return a, &Unasked{"this course is taken without `cudalab why`, as its course.toml says. `cudalab hint " + e.Name +
			"` helps with what the last check found."}
	}
	release, err := alone(q.Root)
	if err != nil {
		return a, err
	}
	defer release()
	folder := q.Code[0].Folder(q.Root)
	code := digest(folder)
	a.Result = checked(ctx, q)
	if ctx.Err() != nil {
		return a, ctx.Err()
	}
	if text := nothing(q.Root, e, a.Result); text != "" {
		a.say(text)
		return a, nil
	}
	q.Seed = a.Result.Report.Seed
	cause, err := find(ctx, q, a.Result)
	switch {
	case err != nil:
		return a, err
	case digest(folder) != code:
		a.say("Your code was changed while cudalab was looking. Ask once more: `cudalab why " + e.Name + "`.")
		return a, nil
	case cause == nil:
		a.say(notFound(q.Root, e, a.Result))
		return a, nil
	}
	steps, err := progress.Asked(ctx, q.Root, e.Name, code, e.Why)
	if err != nil {
		steps = min(2, e.Why) // where nothing can be written nothing is remembered
	}
	a.tell(cause, steps, e.Why)
	return a, nil
}

// find looks for the cause of a failed check, in code that is not finished with the rest as the solution has it. What
// goes wrong meanwhile is a fault, but for the end of ctx.
func find(ctx context.Context, q check.Request, r check.Result) (*mend.Cause, error) {
	dir, leave, err := compile.Workplace(q.Root, "completed")
	if err != nil {
		return nil, err
	}
	defer leave()
	with, completed, ok := check.Completed(ctx, q, dir)
	switch {
	case ok:
		q, r = with, completed
	case r.Report.Unfinished():
		return nil, ctx.Err()
	}
	cause, err := (&mend.Search{Request: q, Result: r}).Cause(ctx)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, fmt.Errorf("looking for the cause: %w", err)
	}
	return cause, nil
}

// unasked is how long somebody is kept waiting behind a verdict who has not asked for it.
const unasked = 10 * time.Second

// Likely looks for the cause behind a verdict; nil where there is none to be told. Who has asked waits as long as it
// takes.
func Likely(ctx context.Context, q check.Request, r check.Result, asked bool) *verdict.Likely {
	if e := q.Code[0].Exercise; e.Why == 0 || nothing(q.Root, e, r) != "" || ctx.Err() != nil {
		return nil
	}
	if !asked {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeout(ctx, unasked)
		defer stop()
	}
	q.Preparing, q.Seed = nil, r.Report.Seed
	cause, err := find(ctx, q, r)
	if err != nil || cause == nil {
		return nil // a search that was ended, or went wrong, says nothing
	}
	likely := cause.Likely()
	if q.Code[0].Exercise.Why < 2 {
		likely.Question = ""
	}
	return likely
}

// alone sees to it that one search is made in a course at a time: two would each take twice as long.
func alone(root string) (release func(), err error) {
	file := filepath.Join(root, progress.Folder, "why.lock")
	if os.MkdirAll(filepath.Dir(file), 0o755) != nil {
		return func() {}, nil
	}
	release, ok, err := lock.Try(file)
	switch {
	case err != nil:
		return func() {}, nil // where no lock can be had nobody else has it
	case !ok:
		return nil, &Unasked{"another `cudalab why` is looking already, in this course: wait for it, or end it with Ctrl-C."}
	}
	return release, nil
}

// digest tells the code in a folder from any other.
func digest(dir string) string {
	h := sha256.New()
	files := os.DirFS(dir)
	names, _ := fs.Glob(files, "*.go") // of a folder that cannot be read the check tells
	for _, name := range names {
		text, _ := fs.ReadFile(files, name)
		fmt.Fprintf(h, "%s %d %s", name, len(text), text)
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// Text is an answer in lines, as wrap breaks a paragraph.
func (a *Answer) Text(wrap func(string) []string) string {
	text := ""
	for i, p := range a.Parts {
		if i > 0 {
			text += "\n"
		}
		lines := wrap(p.Text)
		if p.Code {
			lines = indented(p.Text)
		}
		for _, line := range lines {
			text += line + "\n"
		}
	}
	return text
}

// IsUnasked reports whether an error is one that says why nothing is looked for, and says that.
func IsUnasked(err error) (string, bool) {
	e := (*Unasked)(nil)
	if errors.As(err, &e) {
		return e.Why, true
	}
	return "", false
}
