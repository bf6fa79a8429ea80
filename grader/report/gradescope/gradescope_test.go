package gradescope_test

import (
	"bytes"
	"encoding/json"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/grader/class"
	"cudalab/grader/proof/reporttest"
	"cudalab/grader/report/gradescope"
)

const longest = 8 << 10 // of what is said about one test, in bytes

var (
	visibility = reporttest.OneOf("hidden", "after_due_date", "after_published", "visible")
	format     = reporttest.OneOf("text", "html", "simple_format", "md", "ansi")
	number     = reporttest.Number(0, math.MaxFloat64)
)

// documented are the fields of results.json as Gradescope's specification has them.
var documented = reporttest.Object(map[string]reporttest.Field{
	"score":             {Is: number},
	"execution_time":    {Is: number},
	"output":            {Is: reporttest.Text(longest)},
	"output_format":     {Is: format},
	"visibility":        {Is: visibility},
	"stdout_visibility": {Is: visibility},
	"extra_data":        {Is: reporttest.Any},
	"tests": {Is: reporttest.List(reporttest.Object(map[string]reporttest.Field{
		"score":         {Is: number, Required: true},
		"max_score":     {Is: number, Required: true},
		"status":        {Is: reporttest.OneOf("passed", "failed"), Required: true},
		"name":          {Is: reporttest.Text(200), Required: true},
		"number":        {Is: reporttest.Text(8), Required: true},
		"output":        {Is: reporttest.Text(longest)},
		"output_format": {Is: format},
		"tags":          {Is: reporttest.List(reporttest.Text(100))},
		"visibility":    {Is: visibility},
		"extra_data":    {Is: reporttest.Any},
	}))},
	"leaderboard": {Is: reporttest.List(reporttest.Object(map[string]reporttest.Field{
		"name":  {Is: reporttest.Text(100), Required: true},
		"value": {Is: reporttest.Any, Required: true},
		"order": {Is: reporttest.OneOf("asc", "desc")},
	}))},
})

func write(t *testing.T, c *class.Class, s *class.Student) []byte {
	t.Helper()
	var out, again bytes.Buffer
	require.NoError(t, gradescope.Write(&out, c, s))
	require.NoError(t, gradescope.Write(&again, c, s))
	require.Equal(t, out.String(), again.String())
	return out.Bytes()
}

func TestFieldsAreThoseDocumented(t *testing.T) {
	for _, c := range []*class.Class{reporttest.Sample(), reporttest.Partial(), reporttest.Hostile(), reporttest.Large(30)} {
		for i := range c.Students {
			s := &c.Students[i]
			text := write(t, c, s)
			require.NoError(t, reporttest.Check(text, documented), "%.40q", s.ID)
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

func TestOneStudent(t *testing.T) {
	c := reporttest.Sample()
	reporttest.Golden(t, "bob.json", write(t, c, &c.Students[1]))
	reporttest.Golden(t, "refused.json", write(t, c, &c.Students[2]))
	reporttest.Golden(t, "lost.json", write(t, c, &c.Students[6]))
}
