package lessons

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// lineWidth is how wide the lines of a chapter are.
const lineWidth = 120

// place is where in its course an exercise stands. No chapter's file says so: a new lesson would change them all.
type place struct {
	number, of   int
	before, next *Exercise // nil at either end
}

// Next is the exercise behind this one in its course, if there is one.
func (e Exercise) Next() (next Exercise, ok bool) {
	if e.place.next == nil {
		return Exercise{}, false
	}
	return *e.place.next, true
}

// in is a chapter with the exercise's place below its heading, and the next lesson at the end of what to read next.
func (p place) in(chapter string) string {
	if p.number == 0 {
		return chapter
	}
	heading, text, _ := strings.Cut(chapter, "\n\n")
	text = heading + "\n\n" + p.line() + "\n\n" + text
	if p.next == nil || !strings.Contains(text, "\n## What to read next\n") { // which is a chapter's last section
		return text
	}
	return strings.TrimRight(text, "\n") + "\n- The next lesson: " + p.next.link() + ".\n"
}

// line is the place in words, with links, wrapped like a chapter's text.
func (p place) line() string {
	line := fmt.Sprintf("Lesson %d of %d · [the course](README.md)", p.number, p.of)
	width := utf8.RuneCountInString(line)
	add := func(word string) {
		between := " "
		if width += 1 + utf8.RuneCountInString(word); width > lineWidth {
			between, width = "\n", utf8.RuneCountInString(word)
		}
		line += between + word
	}
	if p.before != nil {
		add("· before:")
		add(p.before.link())
	}
	if p.next != nil {
		add("· next:")
		add(p.next.link())
	}
	return line
}

// link leads from a chapter to the exercise's own.
func (e *Exercise) link() string { return fmt.Sprintf("[%s](%s.md)", e.Title, e.Name) }
