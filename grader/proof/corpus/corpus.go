// Package corpus is the programs that the grader is held to. For each exercise there are, beside the solution and the
// skeleton, right ones in other styles, wrong ones, cheats and half-done ones. The comments of each say what a check of
// it must answer:
//
//	//cudalab:fails order placement   exactly these checks fail
//	//cudalab:may results             and these may, as luck has it on a device
//	//cudalab:refused                 the import policy refuses it
//	//cudalab:next 1c                 it is half done, and this gap comes next
//	//cudalab:remark because …        the finding in this gap is no more than a remark yet; see step
//	//cudalab:unseen because …        the mistake in this gap cannot be seen yet; see step
//	... // want: use-after-free       findings with these rules on this line
//
// A lesson's corpus lies beside its suite, in grader/suites/<package>/testdata/corpus. Most programs are edits of
// another one, in files named *.diff, so that one sees the mistake and nothing else:
//
//	-- wrong/too-small --
//	from right/plain
//	// Allocates a byte per element where each has four.
//	//cudalab:fails order
//
//	-		data, err := cuda.MallocAsync(int64(4*b.N), s)
//	+		data, err := cuda.MallocAsync(int64(b.N), s)
//
//	 		if err := kernels.Process(grid, 256, s, data, b.N, b.Work); err != nil { // want: out-of-bounds
//
// Such a program is edited from solution, skeleton, or any program that is whole: right/plain is right/plain.go. The
// comments take the place of those above its package clause. Then come hunks with an empty line before each: lines of
// the base in a row, of which "-" goes, "+" is new and " " stays, be it to say where or to be marked with what is
// wanted of it. A hunk is found by its lines, so they must stand in the base once and no more. Lines that begin with
// "#" are remarks.
//
// Only tests use this package.
package corpus

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
)

// kind is what a program is.
type kind string

const (
	Solution kind = "solution"
	Skeleton kind = "skeleton"
	Half     kind = "half" // not finished
	Right    kind = "right"
	Wrong    kind = "wrong"
	Cheat    kind = "cheat" // made to pass without being right

	slower kind = "slower" // in a file of its own; see Slower
	filled kind = "filled" // up to a gap; see Steps
	gap    kind = "gap"    // one gap filled wrongly; see Steps
)

// kinds are those of which a corpus has several, in the order in which Programs answers them.
var kinds = []kind{Half, Right, Wrong, Cheat}

// Program is one program of the corpus.
type Program struct {
	Kind kind
	Name string // "leak-on-error"; "" for the solution and the skeleton
	Base string // "right/plain": the program that it is edited from; "" where it has a file of its own
	Text string
}

// String is "wrong/leak-on-error", or "solution".
func (p Program) String() string { return path.Join(string(p.Kind), p.Name) }

// Folder is where the corpus of an exercise is, relative to the course's root.
func Folder(exercisePackage string) string {
	return path.Join("grader/suites", exercisePackage, "testdata/corpus")
}

// Find is the program "wrong/leak-on-error", "solution" or the like of an exercise, in the course at root.
func Find(root, exercisePackage, name string) (Program, error) {
	all, err := Programs(root, exercisePackage)
	if err != nil {
		return Program{}, err
	}
	for _, p := range all {
		if p.String() == name {
			return p, nil
		}
	}
	return Program{}, fmt.Errorf("%s has no program %s", Folder(exercisePackage), name)
}

// Programs are an exercise's programs, in the course at root: the solution, the skeleton, and the others by kind and
// name.
func Programs(root, exercisePackage string) ([]Program, error) {
	course := os.DirFS(root) // whatever signs of a pattern there may be in root
	programs, err := whole(course, exercisePackage)
	if err != nil {
		return nil, err
	}
	edited, err := applied(course, exercisePackage, programs)
	if err != nil {
		return nil, err
	}
	programs = append(programs, edited...)
	for _, kind := range kinds {
		if !slices.ContainsFunc(programs, func(p Program) bool { return p.Kind == kind }) {
			return nil, fmt.Errorf("%s has no program of kind %s: write one, in %[2]s.diff or as %[2]s/<name>.go",
				Folder(exercisePackage), kind)
		}
	}
	slices.SortStableFunc(programs, func(a, b Program) int {
		return cmp.Or(cmp.Compare(slices.Index(kinds, a.Kind), slices.Index(kinds, b.Kind)), cmp.Compare(a.Name+".go", b.Name+
			".go"))
	})
	return programs, nil
}

// Edited are the programs of another file of edits of an exercise's whole ones.
func Edited(root, exercisePackage, file string) ([]Program, error) {
	programs, err := whole(os.DirFS(root), exercisePackage)
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	edits, err := parse(file, string(text))
	if err != nil {
		return nil, err
	}
	return applyAll(edits, programs)
}

// whole are the programs with a file of their own, the solution and the skeleton before all others.
func whole(course fs.FS, exercisePackage string) ([]Program, error) {
	programs := []Program{{Kind: Solution}, {Kind: Skeleton}}
	files := []string{
		path.Join("solutions", exercisePackage, exercisePackage+".go"),
		path.Join("exercises", exercisePackage, exercisePackage+".go"),
	}
	for _, kind := range kinds {
		of, err := fs.Glob(course, path.Join(Folder(exercisePackage), string(kind), "*.go"))
		if err != nil {
			return nil, err
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

// applied are the programs that are edits of whole ones. Its error tells of every edit that is not right.
func applied(course fs.FS, exercisePackage string, whole []Program) ([]Program, error) {
	files, err := fs.Glob(course, path.Join(Folder(exercisePackage), "*.diff"))
	if err != nil {
		return nil, err
	}
	var edits []edit
	var faults []error
	for _, file := range files {
		if path.Base(file) == gapsFile {
			continue
		}
		text, err := fs.ReadFile(course, file)
		if err != nil {
			return nil, err
		}
		in, err := parse(file, string(text))
		edits, faults = append(edits, in...), append(faults, err)
	}
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	return applyAll(edits, whole)
}

// expectation is what a program's comments say about its check.
type expectation struct {
	Wrong   bool     // the program does not pass
	Fails   []string // checks that fail, and no others but May
	May     []string // further checks that may fail
	Refused bool
	Next    string // the gap that comes next, "1c"; "" where the program is not half done
	Wants   []want
}

// want is a finding.
type want struct {
	Rule string
	Line int // from 1 on
}

// Expect is what must come of the program.
func (p Program) Expect() expectation {
	if p.Kind == Skeleton {
		return expectation{Next: "1a"}
	}
	fails := p.directive("fails")
	x := expectation{Wrong: fails != nil, Fails: fails, May: p.directive("may"), Refused: p.directive("refused") != nil}
	if next := p.directive("next"); len(next) > 0 {
		x.Next = next[0]
	}
	for i, line := range strings.Split(p.Text, "\n") {
		if _, rules, ok := strings.Cut(line, mark); ok {
			for _, rule := range strings.Fields(rules) {
				x.Wants = append(x.Wants, want{rule, i + 1})
			}
		}
	}
	return x
}

// mark stands behind a line's code, and before the rules of what is to be found there.
const mark = "// want: "

// directive is the words behind "//cudalab:fails"; nil where there is no such comment.
func (p Program) directive(name string) []string {
	m := regexp.MustCompile(`(?m)^//cudalab:` + name + `(.*)$`).FindStringSubmatch(p.Text)
	if m == nil {
		return nil
	}
	return append([]string{}, strings.Fields(m[1])...)
}
