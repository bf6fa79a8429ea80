package platforms_test

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/grader/class"
	"cudalab/grader/proof/reporttest"
	"cudalab/grader/report/platforms"
	"cudalab/grader/suite/verdict"
)

var (
	prairieLearnText   = reporttest.Text(platforms.MaxPrairieLearnSize)
	prairieLearnNumber = reporttest.Number(0, math.MaxFloat64)
	prairieLearnImages = reporttest.List(reporttest.Object(map[string]reporttest.Field{"label": {Is: prairieLearnText},
		"url": {Is: prairieLearnText, Required: true}}))
)

// prairieLearnDocument are the fields of results.json as PrairieLearn's manual has them. Points are on all tests or on
// none.
var prairieLearnDocument = reporttest.Object(map[string]reporttest.Field{
	"gradable":      {Is: reporttest.Bool},
	"score":         {Is: reporttest.Number(0, 1), Required: true},
	"format_errors": {Is: reporttest.List(prairieLearnText)},
	"message":       {Is: prairieLearnText},
	"output":        {Is: prairieLearnText},
	"images":        {Is: prairieLearnImages},
	"tests": {Is: reporttest.List(reporttest.Object(map[string]reporttest.Field{
		"name":        {Is: prairieLearnText, Required: true},
		"description": {Is: prairieLearnText},
		"points":      {Is: prairieLearnNumber, Required: true},
		"max_points":  {Is: prairieLearnNumber, Required: true},
		"message":     {Is: prairieLearnText},
		"output":      {Is: prairieLearnText},
		"images":      {Is: prairieLearnImages},
	}))},
})

type prairieLearnResult struct {
	Gradable     bool
	Score        float64
	FormatErrors []string `json:"format_errors"`
	Tests        []struct {
		Points    float64
		MaxPoints float64 `json:"max_points"`
	}
}

func writePrairieLearn(t *testing.T, c *class.Class, s *class.Student) ([]byte, prairieLearnResult) {
	t.Helper()
	var out, again bytes.Buffer
	require.NoError(t, platforms.PrairieLearn(&out, c, s))
	require.NoError(t, platforms.PrairieLearn(&again, c, s))
	require.Equal(t, out.String(), again.String())
	var r prairieLearnResult
	require.NoError(t, json.Unmarshal(out.Bytes(), &r))
	return out.Bytes(), r
}

func TestPrairieLearnDocuments(t *testing.T) {
	for _, c := range []*class.Class{reporttest.Sample(), reporttest.Partial(), reporttest.Hostile(),
		reporttest.Large(30)} {
		for i := range c.Students {
			s := &c.Students[i]
			text, r := writePrairieLearn(t, c, s)
			require.NoError(t, reporttest.Check(text, prairieLearnDocument), "%.40q", s.ID)
			require.LessOrEqual(t, len(text), platforms.MaxPrairieLearnSize)
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

func TestPrairieLearnGradable(t *testing.T) {
	c := reporttest.Sample()
	gradable := map[string]bool{}
	for i := range c.Students {
		_, r := writePrairieLearn(t, c, &c.Students[i])
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
	_, r := writePrairieLearn(t, c, &c.Students[2])
	require.Len(t, r.FormatErrors, 2)
	require.Contains(t, r.FormatErrors[0], "declared and not used: y")
	require.Contains(t, r.FormatErrors[1], `The import of "os" is refused.`)
}

// However much there is to say, PrairieLearn gets no more than it takes.
func TestPrairieLearnDocumentThatWouldBeTooLong(t *testing.T) {
	c := reporttest.Large(1)
	s := &c.Students[0]
	for i := range s.Exercises {
		r := &s.Exercises[i]
		r.Status, r.Message = verdict.Failed, strings.Repeat(`"`, 100_000)
		r.Checks = nil
		for _, k := range c.Exercises[i].Checks {
			r.Checks = append(r.Checks, verdict.Check{ID: k.ID, Status: verdict.Failed, Message: strings.Repeat("\x01\"\\",
				50_000)})
		}
	}
	text, _ := writePrairieLearn(t, c, s)
	require.NoError(t, reporttest.Check(text, prairieLearnDocument))
	require.LessOrEqual(t, len(text), platforms.MaxPrairieLearnSize)
	require.Contains(t, string(text), "[The rest is left out.]")
}

func TestPrairieLearnGolden(t *testing.T) {
	c := reporttest.Sample()
	for i, name := range map[int]string{1: "bob", 2: "refused", 6: "lost"} {
		text, _ := writePrairieLearn(t, c, &c.Students[i])
		reporttest.Golden(t, "prairielearn-"+name+".json", text)
	}
}
