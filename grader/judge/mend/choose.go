package mend

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"
	"strings"

	"cudalab/grader/judge/check"
	"cudalab/grader/judge/edits"
	"cudalab/grader/suite/verdict"
)

// Cause is what is to be told of a failed check.
type Cause struct {
	*Edit
	Check verdict.Check // that would pass
	With  string        // which functions are the solution's, of code that is not finished
	Apart bool          // several changes would do that are not alike, so that there is no more to say than the place

	before, after []*verdict.CaseNotes     // of the cases that decide
	figures       [2][]verdict.Measurement // before and after, where time decides
}

// Likely is what a report holds of a cause: its place and a question, and nothing of the change.
func (c *Cause) Likely() *verdict.Likely {
	return &verdict.Likely{File: c.Place.File, Line: c.Place.Line, Function: c.Place.Func, Check: c.Check.ID,
		Where: c.Where(), Question: c.Question()}
}

// seeds is by how many more workloads an edit is confirmed.
const seeds = 3

// choose is the cause that the edits agree on.
func (s *Search) choose(ctx context.Context, err error) (*Cause, error) {
	if err != nil {
		return nil, err
	}
	found := slices.Clone(s.Found)
	if guided := only(found, func(e *Edit) bool { return e.guided }); len(guided) > 0 {
		found = guided
	}
	slices.SortStableFunc(found, func(a, b *Edit) int { return cmp.Compare(a.size(), b.size()) })
	for len(found) > 0 {
		for _, e := range found[1:] {
			if !e.beside(found[0]) {
				return nil, nil
			}
		}
		ok, err := s.confirmed(ctx, found[0])
		if err != nil {
			return nil, err
		}
		if ok {
			apart := !found[0].guided && len(found) > 1 && found[1].what != found[0].what
			return s.trials.compare(ctx, &Cause{Edit: found[0], Check: s.target.check, With: s.Code[0].With(),
				Apart: apart})
		}
		found = found[1:]
	}
	return nil, nil
}

// only are those of some for which something is so.
func only[T any](all []T, is func(T) bool) (some []T) {
	for _, e := range all {
		if is(e) {
			some = append(some, e)
		}
	}
	return some
}

// size is how much an edit changes.
func (e *Edit) size() int {
	was, now := e.Lines()
	return len(was) + len(now)
}

// beside reports whether two edits are in the same place, or places.
func (e *Edit) beside(other *Edit) bool {
	a, b := e.changes[0], other.changes[0]
	if a.From == a.To && b.From == b.To && a.Text == b.Text && e.function == other.function {
		return true // the same is put in, and there is some choice of where
	}
	if (e.second == nil) != (other.second == nil) || e.second != nil && !e.second.near(other.second) {
		return false
	}
	return e.Place.File == other.Place.File && e.near(other.candidate)
}

// near reports whether two candidates lie within two lines of each other.
func (c *candidate) near(other *candidate) bool {
	from, to := c.span()
	otherFrom, otherTo := other.span()
	return from <= otherTo+2 && otherFrom <= to+2
}

// span are the lines that a candidate is about: one that is put in stands anywhere between the code before it and the
// code behind it.
func (c *candidate) span() (from, to int) {
	from = c.line()
	if at := c.changes[0]; at.From < at.To {
		return from, from
	}
	lines := strings.Split(c.function.file.Text, "\n")
	for to = from + 1; to < len(lines); to++ {
		if text := strings.TrimSpace(lines[to-1]); text != "" && !strings.HasPrefix(text, "//") {
			break
		}
	}
	return from, to
}

// place is where a candidate begins, as a finding would say it.
func (s *Search) place(c *candidate) verdict.Place {
	line, behind := c.span()
	if lines := strings.Split(c.function.file.Text, "\n"); closes(lines[line-1]) && !closes(lines[behind-1]) {
		line = behind
	}
	return verdict.Place{File: s.path(c.function), Line: line, Func: c.function.name}
}

// closes reports whether a line only ends what has begun above it.
func closes(line string) bool {
	line = strings.TrimSpace(line)
	return line != "" && strings.Trim(line, "})") == ""
}

// confirmed reports whether the whole check says so, in a program of its own and with other workloads.
func (s *Search) confirmed(ctx context.Context, e *Edit) (bool, error) {
	texts, ok := alone(s.code, s.trials.imports(), e.candidate)
	if !ok {
		return false, nil
	}
	dir := filepath.Join(s.trials.folder, "alone", s.Code[0].Exercise.Package)
	if err := writeAll(dir, texts); err != nil {
		return false, err
	}
	for i := range uint64(1 + seeds) {
		seed := max((s.Result.Report.Seed+i*0x9E3779B9)&check.MaxSeed, 1)
		q := check.Request{Course: s.Course, Options: s.options(seed)}
		q.Code = []check.Code{{Exercise: s.Code[0].Exercise, Dir: dir}}
		rs, err := check.Submission(ctx, q)
		if err != nil {
			return false, err
		}
		if rs[0].Err != nil || len(rs[0].Report.Checks) < 2 {
			return false, nil
		}
		for _, c := range rs[0].Report.Checks {
			if !s.enough(c) && (c.ID == s.target.check.ID || !s.Code[0].Exercise.Suite.IsTimed(c.ID)) {
				return false, nil
			}
		}
	}
	return true, nil
}

// Text is the file with the edit.
func (s *Search) Text(e *Edit) string {
	texts, _ := alone(s.code, s.trials.imports(), e.candidate)
	return texts[e.function.file.Name]
}

// Hunk is one place of an edit: the lines that it takes away, and those that it puts in their place.
type Hunk struct{ Was, Now []string }

// Hunks are an edit's places, in the code's order.
func (e *Edit) Hunks() (all []Hunk) {
	changes := slices.Clone(e.changes)
	slices.SortStableFunc(changes, func(a, b edits.Change) int { return cmp.Compare(a.From, b.From) })
	code := e.function.Code
	for from := 0; from < len(changes); {
		to := from + 1
		for to < len(changes) && lineOf(code, changes[to].From) <= lineOf(code, changes[to-1].To) {
			to++
		}
		for _, f := range code.Files {
			if f.Syntax.FileStart <= changes[from].From && changes[from].From <= f.Syntax.FileEnd {
				all = append(all, hunkOf(f.Text, withChanges(f, f.Syntax.FileStart, f.Syntax.FileEnd, changes[from:to])))
			}
		}
		from = to
	}
	return all
}

// hunkOf is where two texts differ.
func hunkOf(before, after string) Hunk {
	was, now := strings.Split(before, "\n"), strings.Split(after, "\n")
	for len(was) > 0 && len(now) > 0 && was[0] == now[0] {
		was, now = was[1:], now[1:]
	}
	for len(was) > 0 && len(now) > 0 && was[len(was)-1] == now[len(now)-1] {
		was, now = was[:len(was)-1], now[:len(now)-1]
	}
	return Hunk{was, now}
}

// Lines are those of all hunks.
func (e *Edit) Lines() (was, now []string) {
	for _, h := range e.Hunks() {
		was, now = append(was, h.Was...), append(now, h.Now...)
	}
	return was, now
}
