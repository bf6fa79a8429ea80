package platforms_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"math"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/grader/class"
	"cudalab/grader/proof/reporttest"
	"cudalab/grader/report/platforms"
)

var (
	classroomStatus = reporttest.OneOf("pass", "fail", "error")
	classroomNumber = reporttest.Number(0, math.MaxFloat64)
)

// classroomDocument are the fields that the reporter and its runners share.
var classroomDocument = reporttest.Object(map[string]reporttest.Field{
	"version":   {Is: reporttest.Number(1, 1), Required: true},
	"status":    {Is: classroomStatus, Required: true},
	"max_score": {Is: classroomNumber, Required: true},
	"tests": {Required: true, Is: reporttest.List(reporttest.Object(map[string]reporttest.Field{
		"name":      {Is: reporttest.Text(200), Required: true},
		"status":    {Is: classroomStatus, Required: true},
		"score":     {Is: classroomNumber, Required: true},
		"message":   {Is: reporttest.Text(2 << 10)},
		"test_code": {Is: reporttest.Text(0)},
		"filename":  {Is: reporttest.Text(255)},
		"line_no":   {Is: reporttest.Number(0, math.MaxInt32), Required: true},
		"duration":  {Is: reporttest.Number(0, 0)},
	}))},
})

// variable is what a line NAME=VALUE of $GITHUB_ENV may be.
var variable = regexp.MustCompile(`^[A-Z0-9_-]+$`)

// readClassroom does what the reporter does with its environment.
func readClassroom(t *testing.T, c *class.Class, s *class.Student) []platforms.ClassroomResult {
	t.Helper()
	var out, again bytes.Buffer
	require.NoError(t, platforms.Classroom(&out, c, s))
	require.NoError(t, platforms.Classroom(&again, c, s))
	require.Equal(t, out.String(), again.String())
	var environment map[string]string
	require.NoError(t, json.Unmarshal(out.Bytes(), &environment))
	total := 0
	for name, value := range environment {
		require.Regexp(t, variable, name)
		require.NotContains(t, value, "\n")
		require.Less(t, len(value), 128<<10, "Linux takes no longer variable")
		total += len(name) + len(value)
	}
	require.Less(t, total, 1<<20)
	var results []platforms.ClassroomResult
	runners := strings.Split(environment[platforms.ClassroomRunners], ",")
	require.Len(t, environment, 1+len(runners))
	for _, name := range runners {
		text, err := base64.StdEncoding.DecodeString(environment[strings.ToUpper(name)+"_RESULTS"])
		require.NoError(t, err)
		require.NoError(t, reporttest.Check(text, classroomDocument))
		var r platforms.ClassroomResult
		require.NoError(t, json.Unmarshal(text, &r))
		results = append(results, r)
	}
	return results
}

// The reporter's notice adds scores up, its table takes the passed part of each runner's tests times its maximum.
func TestClassroomReadersAgree(t *testing.T) {
	for _, c := range []*class.Class{reporttest.Sample(), reporttest.Partial(), reporttest.Hostile(),
		reporttest.Large(30)} {
		for i := range c.Students {
			s := &c.Students[i]
			var notice, table, most float64
			for _, r := range readClassroom(t, c, s) {
				passed := 0
				for _, test := range r.Tests {
					notice += test.Score
					if test.Status == "pass" {
						passed++
					}
				}
				table += float64(passed) / float64(len(r.Tests)) * r.MaxScore
				most += r.MaxScore
			}
			require.InDelta(t, s.Score, notice, 1e-9, s.ID)
			require.InDelta(t, s.Score, table, 1e-9, s.ID)
			require.Equal(t, s.MaxScore, most)
		}
	}
}

func TestClassroomFailureNamesItsLine(t *testing.T) {
	c := reporttest.Sample()
	order := readClassroom(t, c, &c.Students[1])[1]
	require.Equal(t, "fail", order.Status)
	require.Equal(t, 41, order.Tests[0].LineNo)
	require.Equal(t, "asyncpipeline/asyncpipeline.go", order.Tests[0].Filename)
	require.Contains(t, order.Tests[0].Message, "free-before-use")
}

func TestClassroomPartOfThePointsIsPartOfTheTests(t *testing.T) {
	c := reporttest.Partial()
	speed := readClassroom(t, c, &c.Students[0])[2]
	require.Len(t, speed.Tests, 6, "12.5 of 15 points are 5 of 6 parts")
	require.Equal(t, 2.5, speed.Tests[4].Score)
	require.Equal(t, "fail", speed.Tests[5].Status)
}

func TestClassroomWithoutGradeIsAnError(t *testing.T) {
	c := reporttest.Sample()
	results := readClassroom(t, c, &c.Students[6])
	require.Len(t, results, 1)
	require.Equal(t, "error", results[0].Status)
	require.Contains(t, results[0].Tests[0].Message, "the GPU is lost")
}
