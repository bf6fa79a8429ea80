package suite

import (
	"fmt"
	"slices"
	"strings"

	"cudalab/grader/suite/verdict"
)

// What a call has done to what is not its own, by the names of these things: slices that it was given, and what earlier
// calls of the case have returned.
const (
	noteGivenChanged    = "given changed"
	noteReturnedChanged = "returned changed"
)

// loan is something that a call has to leave as it is.
type loan struct {
	name    string
	length  int
	changed func() int // the first of its elements that is not; -1: it is as it was
}

// Given is a slice to be given to the code, a fresh one, of which it is noted whether a call has changed it, or what
// its memory holds behind its end; see Good.Kept. When the call is over, its caller changes it: code that has kept the
// slice shows. Where it is empty, it is not nil, as that of a caller who has taken all out: so does code that asks for
// nil alone.
func Given[T comparable](s *Stage, name string, slice []T) []T {
	return GivenOf(s, name, slice, func(a, b T) bool { return a == b })
}

// GivenOf is Given for elements of which same tells whether two are one.
func GivenOf[T any](s *Stage, name string, slice []T, same func(a, b T) bool) []T {
	given := append(make([]T, 0, len(slice)+spare), slice...)
	s.given = append(s.given, loan{name, len(slice), func() int {
		whole := given[:len(slice)+spare]
		defer clear(whole)
		return firstChanged(whole, append(slices.Clip(slice), make([]T, spare)...), same)
	}})
	return given
}

// spare is how many elements more than its own a slice that is lent has memory for, which hold zeros: what is appended
// to it is written there.
const spare = 3

// Returned keeps a slice that a call has returned while the case's next call is made, of which it is then noted whether
// it has changed it.
func Returned[T comparable](s *Stage, name string, slice []T) {
	was := slices.Clone(slice)
	same := func(a, b T) bool { return a == b }
	s.returned = append(s.returned, loan{name, len(slice), func() int { return firstChanged(slice, was, same) }})
}

// firstChanged is the first element that is another one than before; -1 where there is none.
func firstChanged[T any](now, was []T, same func(a, b T) bool) int {
	for i := range was {
		if !same(now[i], was[i]) {
			return i
		}
	}
	return -1
}

// noteChanged notes the first thing that a call has changed of those that it was given, and of those that calls before
// have returned.
func (s *Stage) noteChanged() {
	s.TakeBack()
	s.look(noteReturnedChanged, s.Bench.returned)
	s.Bench.returned, s.returned = s.returned, nil
}

// TakeBack ends the loan of what Given has lent so far, where what was made with it lives on: its caller changes it.
func (s *Stage) TakeBack() {
	s.look(noteGivenChanged, s.given)
	s.given = nil
}

// look notes the first thing that is another than it was.
func (s *Stage) look(note string, things []loan) {
	for _, k := range things {
		i := k.changed()
		if i < 0 || s.noted[note] != nil {
			continue
		}
		what := fmt.Sprintf("%s[%d]", k.name, i)
		if i >= k.length {
			what += ", behind their end,"
		}
		s.Note(note, runes(what))
	}
}

// runes are a text to be noted.
func runes(text string) (values []uint64) {
	for _, r := range text {
		values = append(values, uint64(r))
	}
	return values
}

// Kept finds calls that changed a slice that they were given, or one that an earlier call had returned.
func (g *Good[Code, W]) Kept(e *Evidence) (found []verdict.Finding) {
	for _, m := range g.Made(e) {
		for _, f := range m.changed() {
			if g.Of != nil {
				f.Function = g.Of(m.W)
			}
			found = append(found, f)
		}
	}
	return verdict.Unique(found)
}

// changed finds what the call has changed that it had to leave as it is.
func (m *Made[W]) changed() (found []verdict.Finding) {
	if what := text(m.Noted(noteGivenChanged)); what != "" {
		name, _, _ := strings.Cut(what, "[")
		found = append(found, m.Finding(-1, Rule{ID: "argument-changed",
			Why: "A slice is a view of its caller's memory: what is written to it, sorted in it or appended to it is so for " +
				"the caller as well, who goes on with it.",
			Fix: "Make a copy first (slices.Clone), and change that."},
			"the caller's %s should be left as they are, but %s is another behind the call.", name, what))
	}
	if what := text(m.Noted(noteReturnedChanged)); what != "" {
		name, _, _ := strings.Cut(what, "[")
		found = append(found, m.Finding(-1, Rule{ID: "result-changed",
			Why: "A slice is a view of memory: where two calls return the same memory, the later one changes what the earlier " +
				"one has said.",
			Fix: "Make a new slice in every call, and keep none from one call to the next."},
			"%s of the call before should say what it said, but this call has changed %s.", name, what))
	}
	return found
}

// text is what runes has noted.
func text(values []uint64) string {
	var all []rune
	for _, v := range values {
		all = append(all, rune(v))
	}
	return string(all)
}
