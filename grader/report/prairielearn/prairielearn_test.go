package prairielearn_test

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/grader/class"
	"cudalab/grader/proof/reporttest"
	"cudalab/grader/report/prairielearn"
	"cudalab/grader/suite/verdict"
)

var (
	text   = reporttest.Text(prairielearn.MaxSize)
	number = reporttest.Number(0, math.MaxFloat64)
	images = reporttest.List(reporttest.Object(map[string]reporttest.Field{"label": {Is: text}, "url": {Is: text, Required: true}}))
)

// documented are the fields of results.json as PrairieLearn's manual has them. Points are on all tests or on none.
var documented = reporttest.Object(map[string]reporttest.Field{
	"gradable":      {Is: reporttest.Bool},
	"score":         {Is: reporttest.Number(0, 1), Required: true},
	"format_errors": {Is: reporttest.List(text)},
	"message":       {Is: text},
	"output":        {Is: text},
	"images":        {Is: images},
	"tests": {Is: reporttest.List(reporttest.Object(map[string]reporttest.Field{
		"name":        {Is: text, Required: true},
		"description": {Is: text},
		"points":      {Is: number, Required: true},
		"max_points":  {Is: number, Required: true},
		"message":     {Is: text},
		"output":      {Is: text},
		"images":      {Is: images},
	}))},
})

type result struct {
	Gradable     bool
	Score        float64
	FormatErrors []string `json:"format_errors"`
	Tests        []struct {
		Points    float64
		MaxPoints float64 `json:"max_points"`
	}
}

func write(t *testing.T, c *class.Class, s *class.Student) ([]byte, result) {
	t.Helper()
	var out, again bytes.Buffer
	require.NoError(t, prairielearn.Write(&out, c, s))
	require.NoError(t, prairielearn.Write(&again, c, s))
	require.Equal(t, out.String(), again.String())
	var r result
	require.NoError(t, json.Unmarshal(out.Bytes(), &r))
	return out.Bytes(), r
}

func TestFieldsAreThoseDocumented(t *testing.T) {
	for _, c := range []*class.Class{reporttest.Sample(), reporttest.Partial(), reporttest.Hostile(), reporttest.Large(30)} {
		for i := range c.Students {
			s := &c.Students[i]
			text, r := write(t, c, s)
			require.NoError(t, reporttest.Check(text, documented), "%.40q", s.ID)
			require.LessOrEqual(t, len(text), prairielearn.MaxSize)
			if s.Status != class.Graded {
				require.False(t, r.Gradable)
				require.NotEmpty(t, r.FormatErrors)
				continue
			}
			var points, most float64
			for _, test := range r.Tests {
				points += test.Points
				most += test.MaxPoints
			}
			require.InDelta(t, points/most, r.Score, 1e-12)
			require.Equal(t, r.Gradable, r.FormatErrors == nil)
		}
	}
}

func TestOnlyWhatCannotBeGradedIsNotGradable(t *testing.T) {
	c := reporttest.Sample()
	gradable := map[string]bool{}
	for i := range c.Students {
		_, r := write(t, c, &c.Students[i])
		gradable[c.Students[i].ID] = r.Gradable
	}
	require.Equal(t, map[string]bool{
		"ada": true, "bob": true,
		"carl": false, // neither compiles nor may be run
		"dora": true,  // one of two does
		"emil": true, "zoë": true,
		"lost": false, // by no fault of theirs
		"torn": false,
	}, gradable)
	_, r := write(t, c, &c.Students[2])
	require.Len(t, r.FormatErrors, 2)
	require.Contains(t, r.FormatErrors[0], "declared and not used: y")
	require.Contains(t, r.FormatErrors[1], `The import of "os" is refused.`)
}

// However much there is to say, PrairieLearn gets no more than it takes.
func TestADocumentThatWouldBeTooLong(t *testing.T) {
	c := reporttest.Large(1)
	s := &c.Students[0]
	for i := range s.Exercises {
		r := &s.Exercises[i]
		r.Status, r.Message = verdict.Failed, strings.Repeat(`"`, 100_000)
		r.Checks = nil
		for _, k := range c.Exercises[i].Checks {
			r.Checks = append(r.Checks, verdict.Check{ID: k.ID, Status: verdict.Failed, Message: strings.Repeat("\x01\"\\", 50_000)})
		}
	}
	text, _ := write(t, c, s)
	require.NoError(t, reporttest.Check(text, documented))
	require.LessOrEqual(t, len(text), prairielearn.MaxSize)
	require.Contains(t, string(text), "[The rest is left out.]")
}

func TestOneStudent(t *testing.T) {
	c := reporttest.Sample()
	for i, name := range map[int]string{1: "bob.json", 2: "refused.json", 6: "lost.json"} {
		text, _ := write(t, c, &c.Students[i])
		reporttest.Golden(t, name, text)
	}
}
