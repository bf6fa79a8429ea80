package check_test

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/grader/check"
	"cudalab/grader/course"
	"cudalab/grader/suite"
)

var onDevice = flag.String("device", "sim", "the `device` on which the lessons and their corpora are checked: sim or gpu")

// TestLessons holds the grader to every lesson's own sources and to its corpus, the programs under testdata of its
// suite: the solution passes in full, the skeleton is not started, a half-done skeleton is told the next gap, right
// programs in other styles pass, and wrong ones and cheats fail for the right reason on the right line.
//
// A program's comments say what is expected of it:
//
//	//cudalab:fails order placement   exactly these checks fail
//	//cudalab:may results             and these may, as luck has it on a device
//	//cudalab:refused                 the import policy refuses it
//	//cudalab:next 1c                 it is half done, and this gap comes next
//	... // want: use-after-free       findings with these rules on this line
//
// What the checks say of them all on the simulator is kept in testdata/words; -record-words writes it.
func TestLessons(t *testing.T) {
	c, err := course.Open("../..")
	require.NoError(t, err)
	for _, e := range c.Exercises {
		t.Run(e.Name, func(t *testing.T) {
			said := transcript{told: map[string]bool{}}
			checked := func(t *testing.T, program, dir string) suite.Report {
				r := checkFolder(t, c, e, dir)
				said.add(program, dir, r)
				return r
			}
			programs := 2
			t.Run("solution", func(t *testing.T) {
				r := checked(t, "solution", filepath.Join(c.Root, e.SolutionFolder()))
				require.Equal(t, suite.Passed, r.Status, describe(r))
				require.Equal(t, r.MaxScore, r.Score)
				require.Equal(t, 100.0, r.MaxScore)
				require.Len(t, r.Checks, len(e.Lesson.Suite.Checks))
			})
			t.Run("skeleton", func(t *testing.T) {
				r := checked(t, "skeleton", filepath.Join(c.Root, e.Folder()))
				require.Equal(t, suite.NotStarted, r.Status, describe(r))
				require.Contains(t, r.Next, "TODO(1a)")
				require.Zero(t, r.Score)
			})
			for _, kind := range []string{"half", "right", "wrong", "cheat"} {
				files, err := filepath.Glob(filepath.Join(c.Root, "grader/suites", e.Package, "testdata", kind, "*.go"))
				require.NoError(t, err)
				require.NotEmptyf(t, files, "the corpus has nothing of kind %s", kind)
				programs += len(files)
				for _, file := range files {
					program := kind + "/" + strings.TrimSuffix(filepath.Base(file), ".go")
					t.Run(program, func(t *testing.T) {
						dir := t.TempDir()
						text, err := os.ReadFile(file)
						require.NoError(t, err)
						require.NoError(t, os.WriteFile(filepath.Join(dir, e.Package+".go"), text, 0o644))
						expect(t, string(text), checked(t, program, dir))
					})
				}
			}
			t.Run("words", func(t *testing.T) {
				if *onDevice != "sim" || said.programs < programs {
					t.Skip("what is said is compared where every program was checked, on the simulator")
				}
				said.compare(t, e.Name)
			})
		})
	}
}

func checkFolder(t *testing.T, c *course.Course, e course.Exercise, dir string) suite.Report {
	t.Helper()
	r := check.Exercise(context.Background(), check.Request{Root: c.Root, Exercise: e, Dir: dir, Device: *onDevice, Seed: 42})
	require.NoError(t, r.Err)
	require.Equal(t, *onDevice, r.Report.Device.Kind)
	return r.Report
}

// directive finds "//cudalab:fails order placement" in a program's comments.
func directive(text, name string) (words []string, found bool) {
	m := regexp.MustCompile(`(?m)^//cudalab:` + name + `(.*)$`).FindStringSubmatch(text)
	if m == nil {
		return nil, false
	}
	return strings.Fields(m[1]), true
}

// expect compares a report with what the program's comments say.
func expect(t *testing.T, text string, r suite.Report) {
	t.Helper()
	if _, refused := directive(text, "refused"); refused {
		require.Equal(t, suite.Refused, r.Status, describe(r))
	} else if next, half := directive(text, "next"); half {
		require.Equal(t, suite.Failed, r.Status, describe(r))
		require.Contains(t, r.Next, "TODO("+next[0]+")")
	} else {
		fails, wrong := directive(text, "fails")
		may, _ := directive(text, "may")
		require.Equal(t, wrong, r.Status != suite.Passed, describe(r))
		for _, ch := range r.Checks {
			if ch.Status == suite.Failed && slices.Contains(may, ch.ID) {
				continue
			}
			require.Equalf(t, slices.Contains(fails, ch.ID), ch.Status == suite.Failed, "check %s\n%s", ch.ID, describe(r))
		}
	}
	for _, w := range wants(text) {
		require.Truef(t, has(r, w), "no %s on line %d\n%s", w.rule, w.line, describe(r))
	}
	for _, ch := range r.Checks {
		for _, f := range ch.Findings {
			require.NotEmpty(t, f.Message)
			require.NotEmpty(t, f.Fix)
		}
	}
}

type want struct {
	rule string
	line int
}

// wants are the findings that the program's lines ask for.
func wants(text string) []want {
	var found []want
	for i, line := range strings.Split(text, "\n") {
		if _, rules, ok := strings.Cut(line, "// want: "); ok {
			for _, rule := range strings.Fields(rules) {
				found = append(found, want{rule, i + 1})
			}
		}
	}
	return found
}

func has(r suite.Report, w want) bool {
	return slices.ContainsFunc(r.Checks, func(ch suite.Check) bool {
		return slices.ContainsFunc(ch.Findings, func(f suite.Finding) bool { return f.Rule == w.rule && f.Line == w.line })
	})
}

// describe is a report in lines, for a failing test.
func describe(r suite.Report) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %g/%g %s\n", r.Status, r.Score, r.MaxScore, r.Message)
	for _, ch := range r.Checks {
		fmt.Fprintf(&b, "  %s: %s %s\n", ch.ID, ch.Status, ch.Message)
		for _, f := range ch.Findings {
			fmt.Fprintf(&b, "    %s:%d: %s %s: %s\n", filepath.Base(f.File), f.Line, f.Severity, cmp.Or(f.Rule, "?"), f.Message)
		}
	}
	return b.String()
}
