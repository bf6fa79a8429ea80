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
	changed func() int // the first of its elements that is not; -1: it is as it was
}

// Given is a slice to be given to the code, a fresh one, of which it is noted whether a call has changed it; see
// Good.Kept. Where it is empty, it is not nil, as that of a caller who has taken all out: code that asks for nil alone
// shows.
func Given[T comparable](s *Stage, name string, slice []T) []T {
	return GivenOf(s, name, slice, func(a, b T) bool { return a == b })
}

// GivenOf is Given for elements of which same tells whether two are one.
func GivenOf[T any](s *Stage, name string, slice []T, same func(a, b T) bool) []T {
	given := append(make([]T, 0, len(slice)), slice...)
	s.given = append(s.given, loan{name, func() int { return firstChanged(given, slice, same) }})
	return given
}

// Returned keeps a slice that a call has returned while the case's next call is made, of which it is then noted whether
// it has changed it.
func Returned[T comparable](s *Stage, name string, slice []T) {
	was := slices.Clone(slice)
	s.returned = append(s.returned, loan{name, func() int { return firstChanged(slice, was, func(a, b T) bool { return a == b }) }})
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
	look := func(note string, things []loan) {
		for _, k := range things {
			if i := k.changed(); i >= 0 {
				s.Note(note, runes(fmt.Sprintf("%s[%d]", k.name, i)))
				return
			}
		}
	}
	look(noteGivenChanged, s.given)
	look(noteReturnedChanged, s.Bench.returned)
	s.given, s.Bench.returned, s.returned = nil, s.returned, nil
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
	if name := text(m.Noted(noteGivenChanged)); name != "" {
		found = append(found, m.Finding(-1, Rule{ID: "argument-changed",
			Why: "A slice is a view of its caller's memory: what is written to it, or sorted in it, is so for the caller as well, who goes on with it.",
			Fix: "Make a copy first (slices.Clone), and change that."},
			"the caller's %s should be left as they are, but %s is another behind the call.", strings.TrimRight(name, "[0123456789]"), name))
	}
	if name := text(m.Noted(noteReturnedChanged)); name != "" {
		found = append(found, m.Finding(-1, Rule{ID: "result-changed",
			Why: "A slice is a view of memory: where two calls return the same memory, the later one changes what the earlier one has said.",
			Fix: "Make a new slice in every call, and keep none from one call to the next."},
			"%s of the call before should say what it said, but this call has changed %s.", strings.TrimRight(name, "[0123456789]"), name))
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
