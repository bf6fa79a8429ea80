package gradebook_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"cudalab/grader/class"
	"cudalab/grader/proof/reporttest"
	"cudalab/grader/report/gradebook"
	"cudalab/grader/suite/verdict"
)

func classes() map[string]*class.Class {
	return map[string]*class.Class{"sample": reporttest.Sample(), "partial": reporttest.Partial(),
		"hostile": reporttest.Hostile(),
		"large":   reporttest.Large(40), "empty": reporttest.Class()}
}

func TestEveryStudentHasTheSameTestsAndTheirOwnScore(t *testing.T) {
	for name, c := range classes() {
		for i := range c.Students {
			s := &c.Students[i]
			tests := gradebook.Tests(c, s)
			if s.Status != class.Graded {
				require.Empty(t, tests, "no grade is not a zero")
				continue
			}
			var points, most float64
			n := 0
			for _, e := range c.Exercises {
				for _, k := range e.Checks {
					require.Equal(t, e.Name+k.ID, tests[n].Exercise+tests[n].ID)
					points += tests[n].Points
					most += tests[n].MaxPoints
					require.True(t, tests[n].Status != verdict.Passed || tests[n].Points > 0, "%s: a pass without points", name)
					n++
				}
			}
			require.Len(t, tests, n)
			require.Equal(t, s.Score, points, s.ID)
			require.Equal(t, s.MaxScore, most, s.ID)
		}
	}
}

func testsOf(t *testing.T, id string) []gradebook.Test {
	t.Helper()
	c := reporttest.Sample()
	for i := range c.Students {
		if c.Students[i].ID == id {
			return gradebook.Tests(c, &c.Students[i])
		}
	}
	require.Fail(t, "no such student", id)
	return nil
}

func TestAFindingIsToldWhole(t *testing.T) {
	order := testsOf(t, "bob")[1]
	require.Equal(t, verdict.Failed, order.Status)
	require.Equal(t, "1.2", order.Number)
	require.Equal(t, reporttest.Race.File, order.File)
	require.Equal(t, reporttest.Race.Line, order.Line)
	require.Equal(t, `error free-before-use at asyncpipeline/asyncpipeline.go:41
FreeAsync on streams[1] frees what the launch of reduce on streams[0] reads.
Why: FreeAsync waits only for earlier work on its own stream.
Fix: Record an event on streams[0] and make streams[1] wait for it.
See also: used here, on streams[0], at asyncpipeline/asyncpipeline.go:44

streams[0]   reduce
               └┄┄┄┄┄┐  missing
streams[1]       FreeAsync`, order.Text)
}

func TestWhatWasNeverAskedSaysWhy(t *testing.T) {
	carl := testsOf(t, "carl")
	require.Equal(t, verdict.BuildFailed, carl[0].Status)
	require.Contains(t, carl[0].Text, "does not compile")
	require.Contains(t, carl[0].Text, "declared and not used: y")
	require.Equal(t, 3, carl[0].Line)
	require.Equal(t, "Not asked: the code does not compile. The first check of async-pipeline says more.", carl[1].Text)
	require.Equal(t, verdict.Refused, carl[3].Status)
	require.Contains(t, carl[3].Text, `The import of "os" is refused.`)
	require.Contains(t, testsOf(t, "zoë")[0].Text, "no folder asyncpipeline")
}

func TestSummarySaysWhatBecameOfEachExercise(t *testing.T) {
	c := reporttest.Sample()
	require.Equal(t, "async-pipeline: failed, 10 of 45 points.\nslab: not started, 0 of 55 points. "+
		"Not handed in: the submission has no folder slab with Go files.", gradebook.Summary(c, &c.Students[1]))
	torn := gradebook.Summary(c, &c.Students[7])
	require.True(t, strings.HasPrefix(torn, "The archive is damaged.\n"))
	require.Contains(t, torn, "Note: Left aside: notes.txt.")
}

// A text may be shown by a terminal, a browser or a program: it must not steer any of them.
func TestTextsHaveNoControlCharacters(t *testing.T) {
	c := reporttest.Hostile()
	for i := range c.Students {
		texts := []string{gradebook.Summary(c, &c.Students[i])}
		for _, test := range gradebook.Tests(c, &c.Students[i]) {
			texts = append(texts, test.Text, test.File)
		}
		for _, text := range texts {
			require.True(t, utf8.ValidString(text))
			require.Equal(t, -1, strings.IndexFunc(text, func(r rune) bool { return r != '\n' && !unicode.IsPrint(r) }), "%q",
				text)
		}
	}
}

func TestCut(t *testing.T) {
	require.Equal(t, "short", gradebook.Cut("short", 5))
	for limit := range 60 {
		cut := gradebook.Cut(strings.Repeat("ä", 40), limit)
		require.True(t, utf8.ValidString(cut))
		require.True(t, strings.HasSuffix(cut, "\n[The rest is left out.]"))
		require.LessOrEqual(t, len(cut), max(limit, 24))
	}
}
