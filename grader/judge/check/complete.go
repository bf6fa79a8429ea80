package check

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"cudalab/grader/judge/compile"
	"cudalab/grader/judge/edits"
	"cudalab/grader/suite/verdict"
)

// Complete writes the code into a folder, with each function that nothing is written in as the solution has it: what
// is written is judged as if the rest were right. It is not ok where there is no solution, or nothing of that kind is
// left.
func (c Code) Complete(root, dir string) (completed Code, ok bool) {
	e := c.Exercise
	if !e.HasSolution(root) {
		return c, false
	}
	skeleton, err := e.Skeleton()
	if err != nil {
		return c, false
	}
	solution, err := os.ReadFile(filepath.Join(root, e.SolutionFolder(), e.Package+".go"))
	if err != nil {
		return c, false
	}
	completed = Code{Exercise: e, Dir: dir, told: c.Folder(root)}
	files, err := filepath.Glob(filepath.Join(c.Folder(root), "*.go"))
	if err != nil {
		return c, false
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return c, false
		}
		if filled, functions, ok := edits.Complete(string(text), string(skeleton), string(solution)); ok {
			text = []byte(filled)
			for _, f := range functions {
				completed.solved = append(completed.solved, solved{inStack(f.FuncDecl), file, f.Line})
			}
		}
		if os.WriteFile(filepath.Join(dir, filepath.Base(file)), text, 0o600) != nil {
			return c, false
		}
	}
	return completed, len(completed.solved) > 0
}

// solved is a function that is the solution's, in one line.
type solved struct {
	name string // as a stack has it
	file string // the student's
	line int
}

// IsSolved reports whether a line is the solution's.
func (c Code) IsSolved(file string, line int) bool {
	return slices.ContainsFunc(c.solved, func(f solved) bool { return f.file == file && f.line == line })
}

// mostNamed is how many functions are named where it is said that they are the solution's.
const mostNamed = 3

// With says which functions are the solution's: "With Free and Close as the solution has them"; "" where all is the
// student's.
func (c Code) With() string {
	var names []string
	for _, f := range c.solved {
		names = append(names, f.name[strings.LastIndexByte(f.name, '.')+1:])
	}
	last := len(names) - 1
	switch {
	case last < 0:
		return ""
	case last == 0:
		return fmt.Sprintf("With %s as the solution has it", names[0])
	case last >= mostNamed:
		return "With the functions that are still to be written as the solution has them"
	}
	return fmt.Sprintf("With %s and %s as the solution has them", strings.Join(names[:last], ", "), names[last])
}

// Shown is a file of the code's as it is told: in the student's own folder.
func (c Code) Shown(file string) string {
	if rest, ok := strings.CutPrefix(file, c.Dir+string(filepath.Separator)); ok && c.told != "" {
		return filepath.Join(c.told, rest)
	}
	return file
}

// Completed checks unfinished code with the rest as the solution has it, in a folder that is the caller's. It is not ok
// where there is nothing to check.
func Completed(ctx context.Context, q Request, dir string) (Request, Result, bool) {
	c, ok := q.Code[0].Complete(q.Root, dir)
	if !ok {
		return q, Result{}, false
	}
	q.Code, q.NoTiming, q.Ahead, q.Pictures, q.Preparing = []Code{c}, true, false, false, nil
	results, err := Submission(ctx, q)
	if err != nil || results[0].Err != nil || results[0].Place == nil { // where it does not compile it says nothing
		return q, Result{}, false
	}
	return q, results[0], true
}

// complete adds to the report on unfinished code, in which nothing has failed, what comes of it with the rest as the
// solution has it. That costs nothing: who writes the rest to a plan of their own may be right all the same.
func complete(ctx context.Context, q Request, r *verdict.Report) {
	dir, leave, err := compile.Workplace(q.Root, "completed")
	if err != nil {
		return
	}
	defer leave()
	with, result, ok := Completed(ctx, q, dir)
	if !ok {
		return
	}
	passed, told, at := 0, 0, map[string]int{}
	for i, c := range r.Checks {
		at[c.ID] = i
	}
	r.Completed = &verdict.Completed{Text: with.Code[0].With()}
	for _, c := range result.Report.Checks {
		i, known := at[c.ID]
		if !known || r.Checks[i].Status == verdict.Passed {
			continue
		}
		switch c.Status {
		case verdict.Passed:
			passed++
		case verdict.Failed:
			r.Completed.Fails = append(r.Completed.Fails, c.ID)
			remarks := with.Code[0].remarks(c.Findings)
			r.Checks[i].Findings = append(r.Checks[i].Findings, remarks...)
			told += len(remarks)
		}
	}
	switch failed := len(r.Completed.Fails); {
	case told > 0:
		r.Message += fmt.Sprintf(" %s, %s: %s how. That counts nothing, and if these functions are to work in another way "+
			"it need not be a mistake.", r.Completed.Text, verdict.Count(failed, "more check fails", "more checks fail"),
			verdict.Count(told, "remark says", "remarks say"))
		r.Next = "look at the first remark above, then " + r.Next
	case failed == 0 && passed > 0:
		r.Message += fmt.Sprintf(" %s, %s.", r.Completed.Text, verdict.Count(passed, "more check passes",
			"more checks pass"))
	}
}

// remarks are the errors to begin with of a check of completed code. What stands in a function of the solution's has no
// line of the student's.
func (c Code) remarks(found []verdict.Finding) (all []verdict.Finding) {
	for _, f := range found {
		if !f.Root() {
			continue
		}
		f.Severity, f.Message = verdict.Remark, c.With()+": "+f.Message
		f.Record = -1 // its trace is not the report's
		f.Related = slices.DeleteFunc(slices.Clone(f.Related),
			func(r verdict.Related) bool { return c.IsSolved(r.File, r.Line) })
		if c.IsSolved(f.File, f.Line) {
			f.File, f.Line, f.Column = "", 0, 0
		}
		all = append(all, f)
	}
	return all
}
