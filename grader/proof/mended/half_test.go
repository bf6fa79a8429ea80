//go:build unix

package mended

import (
	"context"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/grader/judge/check"
	"cudalab/grader/judge/compile"
	"cudalab/grader/judge/edits"
	"cudalab/grader/judge/run"
	"cudalab/grader/proof/corpus"
	"cudalab/grader/proof/sample"
	"cudalab/grader/suite/gaps"
	"cudalab/grader/suite/verdict"
	"cudalab/grader/suites/course"
)

// toAnotherPlan are right programs in which functions share their work otherwise than in the solution, so that halves
// of the two do not make a whole.
var toAnotherPlan = []string{"devicebump right/far-words", "streampool right/never-steals-only-merges"}

// TestHalfDone opens the second half of the gaps in right programs: with those functions as the solution has them, what
// is left of each is right, whatever its style, or does not compile with them.
func TestHalfDone(t *testing.T) {
	c, err := course.Open("../../..")
	require.NoError(t, err)
	type item struct {
		course.Exercise
		name, text string
	}
	var all []item
	for _, e := range c.Exercises {
		if *lesson != "" && *lesson != "all" && *lesson != e.Package {
			continue
		}
		programs, err := corpus.Programs(c.Root, e.Package)
		require.NoError(t, err)
		skeleton, err := corpus.Find(c.Root, e.Package, "skeleton")
		require.NoError(t, err)
		for _, p := range programs {
			if p.Kind != corpus.Right && p.Kind != corpus.Solution || !strings.Contains(p.String(), *only) {
				continue
			}
			if text, ok := opened(p.Text, skeleton.Text); ok {
				all = append(all, item{e, p.String(), text})
			}
		}
	}
	runs := sample.Of("half done", len(all), 2)
	tried, fits := 0, 0
	for i, p := range all {
		if *lesson == "" && !runs(i) || *lesson != "" && i%*every != 0 {
			continue
		}
		r := checked(t, c, p.Exercise, p.text)
		if r.Status == verdict.BuildFailed {
			continue // it has more that only what was opened needs
		}
		said := fmt.Sprintf("%s %s: %s", p.Package, p.name, r.Message)
		t.Log(said)
		failed := func(c verdict.Check) bool { return c.Status == verdict.Failed }
		if slices.ContainsFunc(r.Checks, failed) {
			t.Errorf("%s: right, but something has failed", said)
		}
		if tried++; r.Completed != nil {
			fits++
			for _, ch := range r.Checks {
				for _, f := range ch.Findings {
					t.Log("    ", f.Rule, f.Line, f.Message)
				}
			}
			if len(r.Completed.Fails) > 0 && !slices.Contains(toAnotherPlan, p.Package+" "+p.name) {
				t.Errorf("%s: right, but something is said", said)
			}
		}
	}
	t.Logf("%d programs, of which %d fit the solution's functions", tried, fits)
}

func checked(t *testing.T, c *course.Course, e course.Exercise, text string) verdict.Report {
	t.Helper()
	dir := filepath.Join(t.TempDir(), e.Package)
	require.NoError(t, os.Mkdir(dir, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, e.Package+".go"), []byte(text), 0o644))
	r := check.Exercise(context.Background(), check.Request{Course: compile.Course{Root: c.Root},
		Options: run.Options{Device: "sim", Seed: 42, NoTiming: true}, Code: []check.Code{{Exercise: e, Dir: dir}}})
	require.NoError(t, r.Err, text)
	return r.Report
}

// opened is a program with the functions of the skeleton's second half of gaps as the skeleton has them; not ok where
// it has not all of these functions.
func opened(text, skeleton string) (string, bool) {
	functions := func(text string) map[string]*ast.FuncDecl {
		all := map[string]*ast.FuncDecl{}
		file, err := parser.ParseFile(token.NewFileSet(), "", text, parser.SkipObjectResolution)
		if err != nil {
			return all
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok {
				all[edits.FunctionName(f)] = f
			}
		}
		return all
	}
	ids := gaps.Of([]byte(skeleton))
	open := false
	for name, given := range functions(skeleton) {
		if left := gaps.In(given); len(left) == 0 || slices.Min(left) < ids[len(ids)/2] {
			continue
		}
		f := functions(text)[name]
		if f == nil {
			return "", false
		}
		text = text[:f.Type.Pos()-1] + skeleton[given.Type.Pos()-1:given.End()-1] + text[f.End()-1:]
		open = true
	}
	code := regexp.MustCompile(`(?m)//.*$`).ReplaceAllString(text, "")
	text = regexp.MustCompile(`(?m)^\t"([\w/]+)"$`).ReplaceAllStringFunc(text, func(line string) string {
		name := filepath.Base(strings.Trim(line, "\t\""))
		if strings.Contains(code, name+".") {
			return line
		}
		return ""
	})
	if !strings.Contains(text, `"cudalab/exercises/contract"`) {
		text = strings.Replace(text, "\t\"cudalab/", "\t\"cudalab/exercises/contract\"\n\t\"cudalab/", 1)
	}
	return text, open
}
