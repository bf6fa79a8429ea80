package platforms_test

import (
	"bytes"
	"encoding/json"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/grader/class"
	"cudalab/grader/proof/reporttest"
	"cudalab/grader/report/platforms"
)

const longestGradescopeOutput = 8 << 10 // of what is said about one test, in bytes

var (
	gradescopeVisibility = reporttest.OneOf("hidden", "after_due_date", "after_published", "visible")
	gradescopeFormat     = reporttest.OneOf("text", "html", "simple_format", "md", "ansi")
	gradescopeNumber     = reporttest.Number(0, math.MaxFloat64)
)

// gradescopeDocument are the fields of results.json as Gradescope's specification has them.
var gradescopeDocument = reporttest.Object(map[string]reporttest.Field{
	"score":             {Is: gradescopeNumber},
	"execution_time":    {Is: gradescopeNumber},
	"output":            {Is: reporttest.Text(longestGradescopeOutput)},
	"output_format":     {Is: gradescopeFormat},
	"visibility":        {Is: gradescopeVisibility},
	"stdout_visibility": {Is: gradescopeVisibility},
	"extra_data":        {Is: reporttest.Any},
	"tests": {Is: reporttest.List(reporttest.Object(map[string]reporttest.Field{
		"score":         {Is: gradescopeNumber, Required: true},
		"max_score":     {Is: gradescopeNumber, Required: true},
		"status":        {Is: reporttest.OneOf("passed", "failed"), Required: true},
		"name":          {Is: reporttest.Text(200), Required: true},
		"number":        {Is: reporttest.Text(8), Required: true},
		"output":        {Is: reporttest.Text(longestGradescopeOutput)},
		"output_format": {Is: gradescopeFormat},
		"tags":          {Is: reporttest.List(reporttest.Text(100))},
		"visibility":    {Is: gradescopeVisibility},
		"extra_data":    {Is: reporttest.Any},
	}))},
	"leaderboard": {Is: reporttest.List(reporttest.Object(map[string]reporttest.Field{
		"name":  {Is: reporttest.Text(100), Required: true},
		"value": {Is: reporttest.Any, Required: true},
		"order": {Is: reporttest.OneOf("asc", "desc")},
	}))},
})

func writeGradescope(t *testing.T, c *class.Class, s *class.Student) []byte {
	t.Helper()
	var out, again bytes.Buffer
	require.NoError(t, platforms.Gradescope(&out, c, s))
	require.NoError(t, platforms.Gradescope(&again, c, s))
	require.Equal(t, out.String(), again.String())
	return out.Bytes()
}

func TestGradescopeDocuments(t *testing.T) {
	for _, c := range []*class.Class{reporttest.Sample(), reporttest.Partial(), reporttest.Hostile(),
		reporttest.Large(30)} {
		for i := range c.Students {
			s := &c.Students[i]
			text := writeGradescope(t, c, s)
			require.NoError(t, reporttest.Check(text, gradescopeDocument), "%.40q", s.ID)
			var r struct {
				Score *float64
				Tests []struct{ Score, MaxScore float64 }
			}
			require.NoError(t, json.Unmarshal(text, &r))
			if s.Status != class.Graded {
				require.Nil(t, r.Score, "without a score and tests Gradescope says that the autograder failed, and gives no zero")
				require.Empty(t, r.Tests)
				continue
			}
			sum := 0.0
			for _, test := range r.Tests {
				sum += test.Score
			}
			require.Equal(t, s.Score, *r.Score)
			require.Equal(t, s.Score, sum)
		}
	}
}

func TestGradescopeGolden(t *testing.T) {
	c := reporttest.Sample()
	reporttest.Golden(t, "gradescope-bob.json", writeGradescope(t, c, &c.Students[1]))
	reporttest.Golden(t, "gradescope-refused.json", writeGradescope(t, c, &c.Students[2]))
	reporttest.Golden(t, "gradescope-lost.json", writeGradescope(t, c, &c.Students[6]))
}
