package platforms_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/grader/class"
	"cudalab/grader/proof/reporttest"
	"cudalab/grader/report/platforms"
)

// codeGradeDocument are the messages that CodeGrade's own reporter writes.
func codeGradeDocument(tag string) reporttest.Kind {
	if tag == "points" {
		return reporttest.Object(map[string]reporttest.Field{"tag": {Is: reporttest.OneOf("points"), Required: true},
			"points": {Is: reporttest.Text(40), Required: true}})
	}
	testCase := reporttest.Object(map[string]reporttest.Field{
		"name": {Is: reporttest.Text(1 << 10), Required: true}, "status": {Is: reporttest.OneOf("success", "failure",
			"skipped"), Required: true},
		"description": {Is: reporttest.Text(1 << 10)}, "weight": {Is: reporttest.Number(0, 1000)},
		"reason": {Is: reporttest.Text(8 << 10)},
	})
	return reporttest.Object(map[string]reporttest.Field{"tag": {Is: reporttest.OneOf("unit-test"), Required: true},
		"results": {Required: true, Is: reporttest.List(reporttest.Object(map[string]reporttest.Field{
			"id": {Is: reporttest.Text(100), Required: true}, "name": {Is: reporttest.Text(1 << 10), Required: true},
			"weight":    {Is: reporttest.Number(0, 1000)},
			"testCases": {Is: reporttest.List(testCase), Required: true},
		}))}})
}

func codeGradeMessages(t *testing.T, c *class.Class, s *class.Student) []string {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, platforms.CodeGrade(&out, c, s))
	return strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
}

func TestCodeGradeDocuments(t *testing.T) {
	for _, c := range []*class.Class{reporttest.Sample(), reporttest.Partial(), reporttest.Hostile(),
		reporttest.Large(10)} {
		for i := range c.Students {
			s := &c.Students[i]
			if s.Status != class.Graded {
				continue
			}
			all := codeGradeMessages(t, c, s)
			require.Len(t, all, len(c.Exercises)+1)
			for k, m := range all {
				require.Less(t, len(m), platforms.MaxCodeGradeMessage)
				tag := "unit-test"
				if k == len(c.Exercises) {
					tag = "points"
				}
				require.NoError(t, reporttest.Check([]byte(m), codeGradeDocument(tag)), m)
			}
		}
	}
}

func TestCodeGradePoints(t *testing.T) {
	c := reporttest.Sample()
	all := codeGradeMessages(t, c, &c.Students[1])
	require.Equal(t, `{"tag":"points","points":"10/100"}`, all[2])
	require.Contains(t, all[0], `"status":"failure","weight":20,"reason":"error free-before-use`)
	partial := reporttest.Partial()
	require.Equal(t, `{"tag":"points","points":"97.5/100"}`, codeGradeMessages(t, partial, &partial.Students[0])[2])
}

func TestCodeGradeWithoutGradeHasNoPoints(t *testing.T) {
	c := reporttest.Sample()
	require.Equal(t, []string{"Not graded, by no fault of the submission's: the GPU is lost."}, codeGradeMessages(t, c,
		&c.Students[6]))
}
