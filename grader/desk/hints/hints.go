// Package hints chooses the hint that helps now: with the first gap that is left in an exercise, or with the fault that
// the last check found, and of its hints the one that has not been given yet.
package hints

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"cudalab/grader/desk/progress"
	"cudalab/grader/suite/gaps"
	"cudalab/grader/suite/verdict"
	"cudalab/grader/suites/course"
	"cudalab/lessons"
)

// Hint is one hint, with its place among the hints of its TODO.
type Hint struct {
	TODO   string
	Number int // counted from 1
	Of     int
	Text   string // Markdown
	// Finding is what the hint was chosen for; nil if it is simply the next gap's, or was asked for.
	Finding *progress.Finding
	Handout bool // the course is one, without a solution to look at after the last hint
	Why     bool // cudalab why may find more about the finding
}

// Markdown is the hint as a student reads it: what it is for, its text, and how to get more. It is one of the hints of
// the given exercise.
func (h Hint) Markdown(exercise string) string {
	head := fmt.Sprintf("### Hint %d of %d for TODO(%s) of %s", h.Number, h.Of, h.TODO, exercise)
	if h.Finding != nil {
		head += fmt.Sprintf("\n\nThe last check found `%s`", h.Finding.Rule)
		if h.Finding.Line > 0 {
			head += fmt.Sprintf(" at %s:%d", h.Finding.File, h.Finding.Line)
		}
		head += ", and that belongs here."
	}
	end := "Ask again for the next one."
	if h.Number == h.Of {
		end = fmt.Sprintf("That was the last hint for TODO(%s). ", h.TODO)
		if h.Handout {
			end += "If it does not get you on, ask your instructor."
		} else {
			end += fmt.Sprintf("`cudalab solution %s --give-up` shows the whole solution.", exercise)
		}
	}
	if h.Why {
		end += fmt.Sprintf(" `cudalab why %s` looks for the line where one change is enough.", exercise)
	}
	return head + "\n\n" + h.Text + "\n\n" + end + "\n"
}

// NoTODO is the error for a TODO that the exercise does not have.
type NoTODO struct {
	Exercise, TODO string
	All            []string // the TODOs that it has
}

func (e *NoTODO) Error() string {
	return fmt.Sprintf("%s has no TODO %q, only %s", e.Exercise, e.TODO, strings.Join(e.All, ", "))
}

// Nothing is the error where no hint suggests itself.
type Nothing struct{ Why string }

func (e *Nothing) Error() string { return e.Why }

// Next is the next hint with a TODO of an exercise, or, where todo is "", with what keeps the exercise from passing. It
// is remembered as given. Its error is a *NoTODO, a *Nothing, or says why the exercise cannot be read.
func Next(ctx context.Context, root string, e course.Exercise, todo string) (Hint, error) {
	all, err := e.Hints()
	if err != nil {
		return Hint{}, err
	}
	var finding *progress.Finding
	if todo == "" {
		if todo, finding, err = choose(root, e, all, progress.Load(root)[e.Name]); err != nil {
			return Hint{}, err
		}
	}
	return give(ctx, root, e, all, todo, finding)
}

// About is the next hint with the TODO that a finding belongs to. It is as Next, but that its error is a *Nothing where
// it belongs to none.
func About(ctx context.Context, root string, e course.Exercise, f progress.Finding) (Hint, error) {
	all, err := e.Hints()
	if err != nil {
		return Hint{}, err
	}
	within, err := functions(filepath.Join(root, e.Folder()), e)
	if err != nil {
		return Hint{}, err
	}
	todo, finding := match(all, []progress.Finding{f}, within)
	if todo == "" {
		return Hint{}, &Nothing{"No hint belongs to " + f.Rule + " here."}
	}
	return give(ctx, root, e, all, todo, finding)
}

// give is the next hint with a TODO; it is remembered as given.
func give(ctx context.Context, root string, e course.Exercise, all []lessons.Hint, todo string,
	finding *progress.Finding) (Hint, error) {
	of, err := find(e.Name, all, todo)
	if err != nil {
		return Hint{}, err
	}
	h := Hint{TODO: of.TODO, Of: len(of.Text), Finding: finding, Handout: !e.HasSolution(root),
		Why: finding != nil && e.Why > 0}
	// the file is the student's, and may say anything
	given := min(max(progress.Load(root)[e.Name].Hints[of.TODO], 0), h.Of)
	h.Number = min(given+1, h.Of)
	h.Text = of.Text[h.Number-1]
	// Where nothing can be written, the same hint comes again: better than none.
	_ = progress.Hinted(ctx, root, e.Name, of.TODO, h.Number)
	return h, nil
}

// All is every hint with a TODO of an exercise, or with each of them where todo is "". Nothing is remembered.
func All(e course.Exercise, todo string) ([]lessons.Hint, error) {
	all, err := e.Hints()
	if err != nil || todo == "" {
		return all, err
	}
	of, err := find(e.Name, all, todo)
	return []lessons.Hint{of}, err
}

func find(exercise string, all []lessons.Hint, todo string) (lessons.Hint, error) {
	wanted := strings.ToLower(strings.TrimSuffix(strings.TrimPrefix(strings.ToUpper(todo), "TODO("), ")"))
	unknown := &NoTODO{Exercise: exercise, TODO: todo}
	for _, h := range all {
		if h.TODO == wanted {
			return h, nil
		}
		unknown.All = append(unknown.All, h.TODO)
	}
	return lessons.Hint{}, unknown
}

// choose says which TODO needs help: the first that is still a gap, else the one that the last check's findings lead
// to.
func choose(root string, e course.Exercise, all []lessons.Hint, last progress.Entry) (string, *progress.Finding,
	error) {
	dir := filepath.Join(root, e.Folder())
	left, err := gaps.Find(dir)
	if err != nil {
		return "", nil, err
	}
	for _, gap := range left {
		if _, err := find(e.Name, all, gap.ID); err == nil {
			return gap.ID, nil, nil
		}
	}
	switch {
	case last.Status == verdict.Passed:
		return "", nil, &Nothing{e.Name + " has passed: there is nothing to help with."}
	case len(last.Findings) == 0:
		return "", nil, &Nothing{"Every gap of " + e.Name + " is filled, and no check has found a fault yet."}
	}
	within, err := functions(dir, e)
	if err != nil {
		return "", nil, err
	}
	if todo, finding := match(all, last.Findings, within); todo != "" {
		return todo, finding, nil
	}
	return "", nil, &Nothing{"No hint belongs to what the last check of " + e.Name + " found."}
}

// match finds the TODO that a finding belongs to: by its rule, and among several by the function that it is in; where
// no rule is known, by the function alone. A finding with a line says more than one without.
func match(all []lessons.Hint, findings []progress.Finding, within func(progress.Finding) []string) (string,
	*progress.Finding) {
	findings = slices.Clone(findings)
	slices.SortStableFunc(findings, func(a, b progress.Finding) int {
		return min(b.Line, 1) - min(a.Line, 1)
	})
	for i, f := range findings {
		var candidates []string
		for _, h := range all {
			if slices.Contains(h.Rules, f.Rule) {
				candidates = append(candidates, h.TODO)
			}
		}
		for _, todo := range within(f) {
			if slices.Contains(candidates, todo) {
				return todo, &findings[i]
			}
		}
		if len(candidates) > 0 {
			return candidates[0], &findings[i]
		}
	}
	for i, f := range findings {
		if todos := within(f); len(todos) > 0 {
			return todos[0], &findings[i]
		}
	}
	return "", nil
}
