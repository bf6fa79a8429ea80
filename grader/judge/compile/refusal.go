package compile

import (
	"fmt"
	"go/token"
	"path/filepath"
)

// Refusal is one place where a submission breaks the import policy.
type Refusal struct {
	File string // under Exercise.Dir as it was given; the folder itself where no one file is at fault
	Line int    // from 1; 0: the file as a whole
	Col  int    // in bytes, from 1; 0: the line as a whole
	Rule Rule
	// Message says what is there, Why why it may not be, Fix what to write instead.
	Message, Why, Fix string
}

// Rule is the stable name of one rule of the policy.
type Rule string

// The rules.
const (
	RuleImport      Rule = "import"           // imports outside the allow-list
	RuleDirective   Rule = "directive"        // comments that steer the compiler
	RuleConstraint  Rule = "build-constraint" // files that are left out on some platforms
	RuleFileKind    Rule = "file-kind"        // files that are not plain Go files
	RuleFileName    Rule = "file-name"        // names that Go's tools do not take
	RuleFileSize    Rule = "file-size"        // too large, or too many
	RuleEncoding    Rule = "encoding"         // not UTF-8
	RulePackage     Rule = "package-name"     // another package than the exercise's
	RuleNoFiles     Rule = "no-files"         // nothing to build
	RuleGoStatement Rule = "go-statement"     // goroutines
	RuleNoBody      Rule = "no-body"          // functions written elsewhere
	RuleEarlyCUDA   Rule = "early-cuda"       // CUDA calls before the exercise is called
	RuleForeignVar  Rule = "foreign-variable" // changing another package's variables
)

// maxRefusals is how many are listed; whoever mends those will be told of the rest.
const maxRefusals = 20

// refuseAt is refuse for a place in a parsed file. Positions are those in the file as it is, whatever line
// directives say.
func (s *submission) refuseAt(f *file, pos token.Pos, r Refusal) {
	s.refuse(f.name, s.set.PositionFor(pos, false), r)
}

// refuse completes a refusal with its place. An empty name is the folder itself.
func (s *submission) refuse(name string, at token.Position, r Refusal) {
	if len(s.refusals) == maxRefusals {
		return
	}
	r.File = filepath.Join(s.Dir, name)
	r.Line, r.Col = at.Line, at.Column
	s.refusals = append(s.refusals, r)
}

func foreignFile(name string) Refusal {
	return Refusal{
		Rule: RuleFileKind,
		Message: fmt.Sprintf("The folder should hold Go files only, but %s is something else that Go's build would compile "+
			"or link.", name),
		Why: "An exercise is Go alone: it builds without a C compiler or the CUDA toolkit, and every access to the device " +
			"goes through package cuda, which is what is graded.",
		Fix: fmt.Sprintf("Delete %s, and call the kernels that package kernels offers.", name),
	}
}

func irregularFile(name string) Refusal {
	return Refusal{
		Rule:    RuleFileKind,
		Message: fmt.Sprintf("The folder should hold plain files, but %s is a link or a special file.", name),
		Why:     "What it leads to may be another file for the grader than for you.",
		Fix:     "Put the file itself into the folder.",
	}
}

func badName(name string) Refusal {
	return Refusal{
		Rule:    RuleFileName,
		Message: fmt.Sprintf("A Go file needs a name that Go's tools accept, but %q is none.", name),
		Why:     "The name is part of every message about the file, and Go's build refuses some characters.",
		Fix:     "Rename it with letters, digits and underscores.",
	}
}

func platformName(name string) Refusal {
	return Refusal{
		Rule: RuleConstraint,
		Message: fmt.Sprintf("Every file should be part of every build, but because of its name Go builds %s on some "+
			"platforms only.", name),
		Why: "An exercise has to be the same program wherever it is graded.",
		Fix: "Rename it without the ending that names an operating system or a processor.",
	}
}

func tooLarge(name string, limit int) Refusal {
	return Refusal{
		Rule:    RuleFileSize,
		Message: fmt.Sprintf("An exercise should have at most %d KiB of source, but with %s there is more.", limit>>10, name),
		Why:     "A solution takes a few hundred lines; a table that large is not one.",
		Fix:     "Compute what the file holds, and keep only the exercise's files in the folder.",
	}
}

func tooManyFiles() Refusal {
	return Refusal{
		Rule:    RuleFileSize,
		Message: fmt.Sprintf("An exercise should have at most %d Go files, but the folder holds more.", maxFiles),
		Why:     "An exercise takes one file, or a few.",
		Fix:     "Keep only the exercise's files in the folder.",
	}
}

func badEncoding(name string) Refusal {
	return Refusal{
		Rule:    RuleEncoding,
		Message: fmt.Sprintf("%s should be UTF-8 text, but has bytes that are not.", name),
		Why:     "Go source is UTF-8 by definition.",
		Fix:     "Save the file as UTF-8 in your editor.",
	}
}

func noFiles(dir, pkg string) Refusal {
	return Refusal{
		Rule:    RuleNoFiles,
		Message: fmt.Sprintf("%s should hold the exercise's .go files, but there is none.", dir),
		Why:     "The exercise is built from the folder's own files, not from the skeleton.",
		Fix:     fmt.Sprintf("Put %s.go there, or name the folder that it is in.", pkg),
	}
}
