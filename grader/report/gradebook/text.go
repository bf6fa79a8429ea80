package gradebook

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"cudalab/grader/class"
	"cudalab/grader/report"
	"cudalab/grader/report/look"
	"cudalab/grader/suite/verdict"
)

// Text is what a check says: its message and its findings, in lines that hold no control characters.
func Text(c verdict.Check) string {
	var parts []string
	if c.Message != "" {
		parts = append(parts, Clean(c.Message))
	}
	for _, f := range c.Findings {
		parts = append(parts, finding(f))
	}
	return strings.Join(parts, "\n\n")
}

func finding(f verdict.Finding) string {
	head := fmt.Sprintf("%s %s", f.Severity, f.Rule)
	if at := Place(f.File, f.Line); at != "" {
		head += " at " + at
	}
	if f.Follows != nil {
		return Clean(head + ", " + f.Origin() + ": " + f.Message)
	}
	lines := []string{head, f.Message}
	if f.Why != "" {
		lines = append(lines, "Why: "+f.Why)
	}
	if f.Fix != "" {
		lines = append(lines, "Fix: "+f.Fix)
	}
	for _, r := range f.Related {
		line := "See also: " + r.Message
		if at := Place(r.File, r.Line); at != "" {
			line += ", at " + at
		}
		lines = append(lines, line)
	}
	if f.Picture != "" {
		lines = append(lines, "", f.Picture)
	}
	return Clean(strings.Join(lines, "\n"))
}

// Place is a position as editors and terminals have it.
func Place(file string, line int) string {
	if file == "" || line == 0 {
		return file
	}
	return fmt.Sprintf("%s:%d", file, line)
}

// Clean makes text safe for whatever shows it.
func Clean(text string) string { return strings.TrimRight(report.Harmless(text), "\n ") }

// Summary is what there is to say about a submission as a whole: a line for each exercise, and what was left aside.
func Summary(c *class.Class, s *class.Student) string {
	var lines []string
	if s.Problem != "" {
		lines = append(lines, Clean(s.Problem))
	}
	for i, r := range s.Exercises {
		line := fmt.Sprintf("%s: %s, %s of %s points.", r.Exercise, Word(r.Status), look.Points(r.Score),
			look.Points(c.Exercises[i].MaxScore))
		if _, decided := s.Report(i); !decided {
			line = fmt.Sprintf("%s: %s.", r.Exercise, Word(r.Status))
		}
		if r.Message != "" && r.Message != s.Problem {
			line += " " + Clean(r.Message)
		}
		lines = append(lines, line)
	}
	for _, step := range s.How() {
		lines = append(lines, Clean(step))
	}
	for _, note := range s.Notes {
		lines = append(lines, "Note: "+Clean(note))
	}
	return strings.Join(lines, "\n")
}

// leftOut ends a text that was cut.
const leftOut = "\n[The rest is left out.]"

// Cut shortens a text to at most limit bytes, between characters, and says so at its end.
func Cut(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	end := max(limit-len(leftOut), 0)
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + leftOut
}
