// Package authoring is for those who write lessons. It says in plain words what a lesson lacks, in the order in which
// to mend it, makes the folders of a new one, and writes what follows from course.toml and from what tests have
// recorded: the lists of lessons, the skeletons' copies, the instructors' tables.
//
// It works on any course that is laid out like this one; a course outside of this repository calls Check in a test of
// its own.
package authoring

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"cudalab/grader/judge/compile"
	"cudalab/grader/suite"
	"cudalab/lessons"
)

// Problem is one thing that a lesson lacks.
type Problem struct {
	File    string // below the course's root
	Missing string // what is missing or wrong, in a sentence without its full stop
	Do      string // what to do about it, likewise
}

func (p Problem) String() string { return fmt.Sprintf("%s: %s. %s.", p.File, p.Missing, p.Do) }

// Check fails a test with everything that the lessons of the course at root lack.
func Check(t *testing.T, root string, suites []*suite.Suite) {
	t.Helper()
	wrong, err := snippets(root, t.TempDir())
	if err != nil {
		t.Error(err)
	}
	for _, p := range append(Problems(os.DirFS(root), os.DirFS(compile.Cudalab(root)), suites), wrong...) {
		t.Error(p)
	}
}

// Problems are everything that the lessons of a course lack. Rules of findings are looked up in the course and in
// module cudalab, which may be the same.
func Problems(course, cudalab fs.FS, suites []*suite.Suite) []Problem {
	const list = "lessons/course.toml"
	texts, err := fs.Sub(course, "lessons")
	var exercises []lessons.Exercise
	if err == nil {
		exercises, err = lessons.Read(texts)
	}
	if err != nil {
		return []Problem{{list, strings.TrimPrefix(err.Error(), "course.toml: "),
			"Mend the file: nothing else can be looked at before"}}
	}
	r := &review{course: course, rules: rules(course, cudalab), ambiguous: map[string]bool{}}
	var inOrder, registered []string
	packages := map[string]string{}
	for _, e := range exercises {
		if other := packages[e.Package]; other != "" {
			r.add(list, fmt.Sprintf("%s and %s are both in the package %s", other, e.Name, e.Package),
				"Give each a package of its own")
		}
		packages[e.Package] = e.Name
		inOrder = append(inOrder, e.Name)
	}
	bySuite := map[string]*suite.Suite{}
	for _, s := range suites {
		switch {
		case bySuite[s.Exercise] != nil:
			r.add(registry, fmt.Sprintf("two suites are of the lesson %s%s", s.Exercise, r.named(s.Exercise)),
				"Keep one of the lines, and give the other lesson its own name")
			r.clash, r.ambiguous[s.Exercise] = true, true
		case !slices.Contains(inOrder, s.Exercise):
			r.add(registry, fmt.Sprintf("there is a suite of %s, which is no exercise of course.toml", s.Exercise),
				fmt.Sprintf("Add an [[exercise]] with the name %q to %s, or correct the name in the suite", s.Exercise, list))
		default:
			registered = append(registered, s.Exercise)
		}
		bySuite[s.Exercise] = s
	}
	if len(registered) == len(inOrder) && !slices.Equal(registered, inOrder) {
		r.add(registry, "the suites are in another order than the exercises of course.toml", "Put them in this order: "+
			strings.Join(inOrder, ", "))
	}
	for _, e := range exercises {
		r.lesson(e, bySuite[e.Name])
	}
	r.launchers()
	r.contents(exercises)
	r.pages()
	r.generated()
	return r.problems
}

// registry is where a course lists its suites.
const registry = "grader/suites/suites.go"

// review is a look at a course's lessons.
type review struct {
	course   fs.FS
	rules    string // the sources in which the names of rules stand
	problems []Problem
	// ambiguous are the lessons of which there are several suites; clash says that there are any.
	ambiguous map[string]bool
	clash     bool
}

func (r *review) add(file, missing, do string) {
	r.problems = append(r.problems, Problem{file, missing, do})
}

// named are the files that declare a lesson of this name, to go behind a sentence.
func (r *review) named(lesson string) string {
	declared := regexp.MustCompile(`\bName:\s*` + regexp.QuoteMeta(strconv.Quote(lesson)))
	var found []string
	files, _ := fs.Glob(r.course, "grader/suites/*/*.go")
	for _, file := range files {
		if text, err := fs.ReadFile(r.course, file); err == nil && declared.Match(text) {
			found = append(found, file)
		}
	}
	if len(found) == 0 {
		return ""
	}
	return ", in " + strings.Join(found, " and ")
}

// text is a file's; a problem where there is none.
func (r *review) text(file, what, do string) (string, bool) {
	text, err := fs.ReadFile(r.course, file)
	if err != nil {
		r.add(file, "there is no "+what, do)
		return "", false
	}
	return string(text), true
}

// rules are the sources of the suites and the judge, as one text.
func rules(trees ...fs.FS) string {
	var all strings.Builder
	for _, tree := range trees {
		// Where there is no such folder there are no rules.
		_ = fs.WalkDir(tree, "grader", func(file string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() && (e.Name() == "testdata" || e.Name() == "proof") {
				return cmp.Or(err, fs.SkipDir)
			}
			if strings.HasSuffix(file, ".go") && !strings.HasSuffix(file, "_test.go") {
				text, err := fs.ReadFile(tree, file)
				all.Write(text)
				return err
			}
			return nil
		})
	}
	return all.String()
}

// known reports whether a finding may have the rule.
func (r *review) known(rule string) bool {
	return strings.Contains(r.rules, `"`+rule+`"`) || strings.Contains(r.rules, `"`+strings.TrimSuffix(rule, "-on-error")+
		`"`)
}
