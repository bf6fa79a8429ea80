package authoring

import (
	"fmt"
	"go/ast"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"cudalab/grader/suite"
	"cudalab/lessons"
)

// lesson looks at one lesson; s is nil where it has no suite.
func (r *review) lesson(e lessons.Exercise, s *suite.Suite) {
	if want := suite.PackageOf(e.Name); e.Package != want {
		r.add("lessons/course.toml", fmt.Sprintf("%s is in the package %s, which should be called like the lesson", e.Name,
			e.Package), fmt.Sprintf("Write package = %q", want))
	}
	if e.About == "" {
		r.add("lessons/course.toml", fmt.Sprintf("nothing says what %s is about", e.Name),
			"Give the exercise a line about = \"...\", a sentence for the table of contents")
	}
	solution := r.solution(e)
	r.kernel(e)
	gaps := r.skeleton(e, solution)
	if !r.ambiguous[e.Name] {
		r.suite(e, s, gaps)
	}
	r.corpus(e)
	r.recorded(e)
	r.chapter(e)
	r.hints(e, gaps)
	r.walkthrough(e)
}

// suite looks at what a lesson asks.
func (r *review) suite(e lessons.Exercise, s *suite.Suite, gaps []string) {
	folder := "grader/suites/" + e.Package
	if s == nil && r.clash {
		return // it may be one of those that bear the name of another
	}
	if s == nil {
		r.add(registry, fmt.Sprintf("there is no suite of %s", e.Name),
			fmt.Sprintf("Declare a suite.Lesson in %s, and add %s.Lesson.Judging() here", folder, e.Package))
		return
	}
	file := folder + "/suite.go"
	sum, list := 0, "lessons/course.toml"
	asked := map[string]bool{}
	for _, q := range s.Checks {
		asked[q.ID] = true
		if _, ok := e.Points[q.ID]; !ok {
			r.add(list, fmt.Sprintf("the check %s of %s is worth no points", q.ID, e.Name),
				fmt.Sprintf("Add a line %s = ... to its [exercise.points]", q.ID))
		}
	}
	for _, id := range slices.Sorted(maps.Keys(e.Points)) {
		sum += e.Points[id]
		if !asked[id] {
			r.add(list, fmt.Sprintf("%s has points for %q, which is no check of its suite", e.Name, id),
				"Delete the line, or correct it: the suite asks "+strings.Join(slices.Sorted(maps.Keys(asked)), ", "))
		}
	}
	if sum != 100 {
		r.add(list, fmt.Sprintf("the points of %s add up to %d instead of 100", e.Name, sum),
			"Share 100 points out among its checks")
	}
	waiting := map[string][]string{} // cases, by the gap that there is not
	for _, c := range s.Cases {
		if c.After != "" && gaps != nil && !slices.Contains(gaps, c.After) {
			waiting[c.After] = append(waiting[c.After], c.ID)
		}
	}
	for _, gap := range slices.Sorted(maps.Keys(waiting)) {
		who := "the case " + waiting[gap][0] + " waits"
		if len(waiting[gap]) > 1 {
			who = "the cases " + strings.Join(waiting[gap], ", ") + " wait"
		}
		r.add(file, fmt.Sprintf("%s for the gap %s, which the skeleton does not have", who, gap), "Name one of "+
			strings.Join(gaps, ", "))
	}
	for _, w := range s.WaysOut {
		if gaps != nil && !slices.Contains(gaps, w.Gap) {
			r.add(file, fmt.Sprintf("WaysOut names the gap %s, which the skeleton does not have", w.Gap), "Name one of "+
				strings.Join(gaps, ", "))
		}
	}
	if len(s.Functions) == 0 {
		r.add(file, "the lesson names no function that the exercise exports", "Fill in Functions")
	}
	for _, room := range []string{"exercises", "solutions"} {
		source := r.parse(room, e)
		for _, name := range s.Functions {
			if source != nil && !slices.ContainsFunc(source.file.Decls, func(d ast.Decl) bool {
				f, ok := d.(*ast.FuncDecl)
				return ok && f.Recv == nil && f.Name.Name == name
			}) {
				r.add(source.path, fmt.Sprintf("there is no function %s, which the suite calls", name),
					"Declare it, or correct Functions in "+file)
			}
		}
	}
	if tests, _ := fs.Glob(r.course, folder+"/*_test.go"); len(tests) == 0 {
		r.add(folder+"/lesson_test.go", "nothing tests the lesson",
			fmt.Sprintf("Write a test that calls lessontest.Run(t, %q), so that go test checks its corpus", e.Name))
	}
}

// kinds are the programs that a corpus should have, and what for.
var kinds = [][2]string{
	{"right", "a right program in another style than the solution's, which has to pass"},
	{"wrong", "a program with the mistake that the lesson is about, which has to fail for it"},
	{"half", "a skeleton that is half done, which is to be told the next gap"},
	{"cheat", "a program that looks right without doing the work, which has to fail"},
}

// corpus looks for the programs that the grader is held to.
func (r *review) corpus(e lessons.Exercise) {
	folder := testdata(e) + "/corpus"
	for _, kind := range kinds {
		whole, _ := fs.Glob(r.course, path.Join(folder, kind[0], "*.go"))
		edits, _ := fs.ReadFile(r.course, path.Join(folder, kind[0]+".diff"))
		if len(whole) == 0 && !strings.Contains("\n"+string(edits), "\n-- "+kind[0]+"/") {
			r.add(path.Join(folder, kind[0]+".diff"), fmt.Sprintf("the corpus has no program of kind %s", kind[0]), "Write "+
				kind[1])
		}
	}
}

// testdata is what a lesson's test reads and writes.
func testdata(e lessons.Exercise) string { return path.Join("grader/suites", e.Package, "testdata") }

// records are what a lesson's test writes, and others read.
var records = []string{"words.txt", "matrix/sim.txt", "orders.txt"}

func (r *review) recorded(e lessons.Exercise) {
	for _, name := range records {
		file := testdata(e) + "/" + name
		if _, err := fs.Stat(r.course, file); err != nil {
			r.add(file, "nothing is recorded of what the checks say of the lesson's programs",
				fmt.Sprintf("Run go test ./grader/suites/%s -record, and read what it has written", e.Package))
			return
		}
	}
}

// hints looks at the help with the gaps.
func (r *review) hints(e lessons.Exercise, gaps []string) {
	file := "lessons/" + e.Name + ".hints.md"
	text, ok := r.text(file, "file of hints",
		"Write a section ## 1a for each gap, with one to three hints, ### Hint 1 and so on")
	if !ok {
		return
	}
	r.shown(file, text)
	hints, err := e.Hints()
	if err != nil {
		r.add(file, err.Error(), "Write them")
		return
	}
	var hinted []string
	for _, h := range hints {
		hinted = append(hinted, h.TODO)
		if gaps != nil && !slices.Contains(gaps, h.TODO) {
			r.add(file, fmt.Sprintf("there are hints for the gap %q, which the skeleton does not have", h.TODO), "Name one of "+
				strings.Join(gaps, ", "))
		}
		if len(h.Text) < 1 || len(h.Text) > 3 || slices.Contains(h.Text, "") {
			r.add(file, fmt.Sprintf("the gap %s has %d hints, or an empty one", h.TODO, len(h.Text)),
				"Write one to three below its heading, each under ### Hint 1 and so on, from a nudge to nearly the code")
		}
		for _, rule := range h.Rules {
			if !r.known(rule) {
				r.add(file, fmt.Sprintf("no finding has the rule %q, which the hints for %s name", rule, h.TODO),
					"Correct the name, or leave it out")
			}
		}
	}
	for _, gap := range gaps {
		if !slices.Contains(hinted, gap) {
			r.add(file, fmt.Sprintf("there is no hint for the gap %s", gap),
				fmt.Sprintf("Add a section ## %s with one to three hints", gap))
		}
	}
}

// walkthrough looks at what is read behind the solution.
func (r *review) walkthrough(e lessons.Exercise) {
	file := "lessons/" + e.Name + ".solution.md"
	if text, ok := r.text(file, "walk-through of the solution", "Say in it why the solution is written as it is"); ok {
		r.heading(file, text, e.Title+": the solution")
		r.shown(file, text)
	}
}
