package report

import (
	"fmt"
	"io"
	"strings"

	"cudalab/grader/suite/verdict"
)

// levels are what compilers call a finding's severity; their readers, in editors and elsewhere, know no others.
var levels = map[verdict.Severity]string{verdict.Error: "error", verdict.Remark: "warning", verdict.Unwritten: "info",
	verdict.Consequence: "info", verdict.Suspected: "info"}

// Lines writes what a report says about lines as compilers do, for programs that read their output: FILE:LINE:COLUMN:
// SEVERITY: TEXT [RULE]. The column is in bytes, and 1 where it is not known. Behind a finding come the other places
// that it is about. Main is the exercise's file, whose first line stands for no line in particular. A pass without
// remarks writes nothing.
func Lines(w io.Writer, r verdict.Report, main string) error {
	var b strings.Builder
	line := func(file string, n, column int, level, text, rule string) {
		fmt.Fprintf(&b, "%s:%d:%d: %s: %s [%s]\n", Harmless(file), n, max(column, 1), level, oneLine(text), rule)
	}
	for _, f := range r.Notices(main) {
		text := f.Message
		if f.Fix != "" {
			text += " Fix: " + f.Fix
		}
		line(f.File, f.Line, f.Column, levels[f.Severity], text, f.Rule)
		for _, other := range f.Related {
			if other.File != "" {
				line(other.File, max(other.Line, 1), 0, "info", other.Message, f.Rule)
			}
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// oneLine is text without line breaks or anything else that would end a line early.
func oneLine(text string) string {
	return Harmless(strings.Join(strings.Fields(text), " "))
}

// Verdict is a report in one line: what became of the exercise, and its points.
func Verdict(r verdict.Report) string {
	text := r.Exercise + ": " + string(r.Status)
	if r.Status != verdict.Errored && r.MaxScore > 0 {
		text += fmt.Sprintf(", %s of %s points", points(r.Score), points(r.MaxScore))
	}
	return text
}
