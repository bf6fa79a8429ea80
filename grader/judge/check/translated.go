package check

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"cudalab/grader/judge/ptx"
	"cudalab/grader/judge/visible"
	"cudalab/grader/suite"
	"cudalab/grader/suite/verdict"
)

// translated is a function of the code in dir as the threads of a GPU carry it out; nil where there is none to be
// translated. A file that cannot be read, and a function that is not there, are for the compiler to tell.
func translated(dir, function string) *suite.Translation {
	if function == "" {
		return nil
	}
	text, err := ptx.Translate(texts(dir), function, "alloc")
	return &suite.Translation{PTX: text, Refused: refused(function, err)}
}

// Explained is the code's function that threads of a GPU carry out, in PTX with the lines of Go beside it, or what
// keeps it from being translated.
func (c Code) Explained(root string) (text string, found []verdict.Finding, err error) {
	function := c.Exercise.Suite.OnDevice
	text, err = ptx.Explain(texts(c.Folder(root)), function, "alloc")
	if found = refused(function, err); len(found) > 0 {
		err = nil
	}
	return text, found, err
}

// texts are the Go files in a folder.
func texts(dir string) map[string][]byte {
	names, _ := filepath.Glob(filepath.Join(dir, "*.go"))
	files := map[string][]byte{}
	for _, name := range names {
		if text, err := os.ReadFile(name); err == nil {
			files[name] = text
		}
	}
	return files
}

// refused tells why a function was not translated, where that is for what it does.
func refused(function string, err error) []verdict.Finding {
	refusal := (*ptx.Refusal)(nil)
	if !errors.As(err, &refusal) {
		return nil
	}
	if gap := "contract.TODO"; strings.HasPrefix(refusal.What, gap) {
		return []verdict.Finding{{Rule: "not-on-device", Severity: verdict.Error, Record: -1, Function: function,
			File: refusal.Position.Filename, Line: refusal.Position.Line,
			Message: fmt.Sprintf("%s should be written before it is translated, but here is a gap.", function),
			Why:     "A gap panics, which a thread of a GPU cannot do.",
			Fix:     "Fill the gap first."}}
	}
	fix := refusal.Instead
	if fix == "" {
		fix = "Write it with integers, booleans, if, for and switch, functions of this package, and the operations of w."
	}
	return []verdict.Finding{{Rule: "not-on-device", Severity: verdict.Error, Record: -1, Function: function,
		File: refusal.Position.Filename, Line: refusal.Position.Line, Column: refusal.Position.Column,
		Message: visible.Line(function + " should use what a thread of a GPU has, but here is " + refusal.What + "."),
		Why: "Threads of a GPU carry out this function, too. They have registers and what w stands for, but none of Go's " +
			"memory, and nothing of the package's.",
		Fix: visible.Line(fix)}}
}
