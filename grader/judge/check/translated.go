package check

import (
	"errors"
	"os"
	"path/filepath"

	"cudalab/grader/judge/ptx"
	"cudalab/grader/judge/visible"
	"cudalab/grader/suite"
	"cudalab/grader/suite/verdict"
)

// translated is a function of the code in dir as the threads of a GPU carry it out, or what keeps it from them. A file
// that cannot be read, and a function that is not there, are for the compiler to tell.
func translated(dir, function string) *suite.Translation {
	if function == "" {
		return nil
	}
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil
	}
	files := map[string][]byte{}
	for _, name := range names {
		if text, err := os.ReadFile(name); err == nil {
			files[name] = text
		}
	}
	text, err := ptx.Translate(files, function, "alloc")
	if refusal := (*ptx.Refusal)(nil); errors.As(err, &refusal) {
		fix := refusal.Instead
		if fix == "" {
			fix = "Write it with integers, booleans, if, for and switch, functions of this package, and the operations of w."
		}
		return &suite.Translation{Refused: []verdict.Finding{{Rule: "not-on-device", Severity: verdict.Error, Record: -1, Function: function,
			File: refusal.Position.Filename, Line: refusal.Position.Line, Column: refusal.Position.Column,
			Message: visible.Line(function + " should use what a thread of a GPU has, but here is " + refusal.What + "."),
			Why: "Threads of a GPU carry out this function, too. They have registers and what w stands for, but none of Go's " +
				"memory, and nothing of the package's.",
			Fix: visible.Line(fix)}}}
	}
	return &suite.Translation{PTX: text}
}
