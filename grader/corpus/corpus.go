// Package corpus is the programs that the grader is held to. For each exercise there are, beside the solution and the
// skeleton, right ones in other styles, wrong ones, cheats and half-done ones, each in a file under testdata whose comments
// say what a check of it must answer:
//
//	//cudalab:fails order placement   exactly these checks fail
//	//cudalab:may results             and these may, as luck has it on a device
//	//cudalab:refused                 the import policy refuses it
//	//cudalab:next 1c                 it is half done, and this gap comes next
//	... // want: use-after-free       findings with these rules on this line
//
// Only tests use it.
package corpus

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"regexp"
	"strings"
)

// Kind is what a program is.
type Kind string

const (
	Solution Kind = "solution"
	Skeleton Kind = "skeleton"
	Half     Kind = "half" // not finished
	Right    Kind = "right"
	Wrong    Kind = "wrong"
	Cheat    Kind = "cheat" // made to pass without being right
)

// kinds are those with a folder each, in the order in which Programs answers them.
var kinds = []Kind{Half, Right, Wrong, Cheat}

// Program is one program of the corpus.
type Program struct {
	Kind Kind
	Name string // of its file, without ".go"; "" for the solution and the skeleton
	Text string
}

// String is "wrong/leak-on-error", or "solution".
func (p Program) String() string { return path.Join(string(p.Kind), p.Name) }

// Programs are an exercise's programs, in the course at root: the solution, the skeleton, and the others by kind and name.
func Programs(root, exercisePackage string) ([]Program, error) {
	programs := []Program{{Kind: Solution}, {Kind: Skeleton}}
	course := os.DirFS(root) // whatever signs of a pattern there may be in root
	files := []string{
		path.Join("solutions", exercisePackage, exercisePackage+".go"),
		path.Join("exercises", exercisePackage, exercisePackage+".go"),
	}
	for _, kind := range kinds {
		of, err := fs.Glob(course, path.Join("grader/corpus/testdata", exercisePackage, string(kind), "*.go"))
		if err != nil {
			return nil, err
		}
		if len(of) == 0 {
			return nil, fmt.Errorf("the corpus of %s has nothing of kind %s", exercisePackage, kind)
		}
		for _, file := range of {
			programs = append(programs, Program{Kind: kind, Name: strings.TrimSuffix(path.Base(file), ".go")})
		}
		files = append(files, of...)
	}
	for i, file := range files {
		text, err := fs.ReadFile(course, file)
		if err != nil {
			return nil, err
		}
		programs[i].Text = string(text)
	}
	return programs, nil
}

// Expectation is what a program's comments say about its check.
type Expectation struct {
	Wrong   bool     // the program does not pass
	Fails   []string // checks that fail, and no others but May
	May     []string // further checks that may fail
	Refused bool
	Next    string // the gap that comes next, "1c"; "" where the program is not half done
	Wants   []Want
}

// Want is a finding.
type Want struct {
	Rule string
	Line int // from 1 on
}

// Expect is what must come of the program.
func (p Program) Expect() Expectation {
	if p.Kind == Skeleton {
		return Expectation{Next: "1a"}
	}
	fails := p.directive("fails")
	x := Expectation{Wrong: fails != nil, Fails: fails, May: p.directive("may"), Refused: p.directive("refused") != nil}
	if next := p.directive("next"); len(next) > 0 {
		x.Next = next[0]
	}
	for i, line := range strings.Split(p.Text, "\n") {
		if _, rules, ok := strings.Cut(line, "// want: "); ok {
			for _, rule := range strings.Fields(rules) {
				x.Wants = append(x.Wants, Want{rule, i + 1})
			}
		}
	}
	return x
}

// directive is the words behind "//cudalab:fails"; nil where there is no such comment.
func (p Program) directive(name string) []string {
	m := regexp.MustCompile(`(?m)^//cudalab:` + name + `(.*)$`).FindStringSubmatch(p.Text)
	if m == nil {
		return nil
	}
	return append([]string{}, strings.Fields(m[1])...)
}
