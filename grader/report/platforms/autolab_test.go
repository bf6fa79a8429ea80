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

// autolabLines are the feedback and the scores of a student, held to what Autolab documents: the scores are the last
// line.
func autolabLines(t *testing.T, c *class.Class, s *class.Student) (feedback, scores []byte) {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, platforms.Autolab(&out, c, s))
	all := bytes.Split(bytes.TrimSuffix(out.Bytes(), []byte("\n")), []byte("\n"))
	require.Len(t, all, 2)
	most := map[string]reporttest.Field{}
	outcome := reporttest.Object(map[string]reporttest.Field{"passed": {Is: reporttest.Bool, Required: true},
		"hint": {Is: reporttest.Text(2 << 10)}})
	document := map[string]reporttest.Field{"_presentation": {Is: reporttest.OneOf("semantic"), Required: true}}
	var stages []string
	for _, e := range c.Exercises {
		most[e.Name] = reporttest.Field{Is: reporttest.Number(0, e.MaxScore), Required: true}
		outcomes := map[string]reporttest.Field{}
		for _, k := range e.Checks {
			outcomes[k.ID] = reporttest.Field{Is: outcome, Required: true}
		}
		document[e.Name] = reporttest.Field{Is: reporttest.Object(outcomes), Required: true}
		stages = append(stages, e.Name)
	}
	document["stages"] = reporttest.Field{Is: reporttest.List(reporttest.OneOf(stages...)), Required: true}
	require.NoError(t, reporttest.Check(all[0], reporttest.Object(document)))
	require.NoError(t, reporttest.Check(all[1],
		reporttest.Object(map[string]reporttest.Field{"scores": {Is: reporttest.Object(most), Required: true}})))
	return all[0], all[1]
}

func TestAutolabDocuments(t *testing.T) {
	for _, c := range []*class.Class{reporttest.Sample(), reporttest.Partial(), reporttest.Hostile(),
		reporttest.Large(10)} {
		for i := range c.Students {
			if s := &c.Students[i]; s.Status == class.Graded {
				autolabLines(t, c, s)
			}
		}
	}
}

func TestAutolabScores(t *testing.T) {
	c := reporttest.Sample()
	feedback, scores := autolabLines(t, c, &c.Students[1])
	require.Equal(t, `{"scores":{"async-pipeline":10,"slab":0}}`, string(scores))
	require.Contains(t, string(feedback),
		`"order":{"passed":false,"hint":"error free-before-use at asyncpipeline/asyncpipeline.go:41`)
}

func TestAutolabWithoutGradeHasNoScores(t *testing.T) {
	c := reporttest.Sample()
	var out bytes.Buffer
	require.NoError(t, platforms.Autolab(&out, c, &c.Students[6]))
	require.Equal(t, "Not graded, by no fault of the submission's: the GPU is lost.\n", out.String())
	require.False(t, strings.Contains(out.String(), "scores"))
}
