package classpage

import (
	"bytes"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/grader/class"
	"cudalab/grader/proof/reporttest"
	"cudalab/grader/report/look"
	"cudalab/grader/suite/verdict"
)

// measuredClass has a ratio with a limit of 1.5 for every student, from 1.00 up in steps of 0.01; the last is far
// beyond it.
func measuredClass(c *class.Class) []class.Timings {
	var all []class.Timings
	for i, s := range c.Students {
		ratio := 1 + float64(i)/100
		if i == len(c.Students)-1 {
			ratio = 210
		}
		all = append(all, class.Timings{Schema: class.SchemaVersion, ID: s.ID, Attempts: 1 + i/5%2,
			DurationMS: int64(4000 + 100*i),
			Exercises: []verdict.Report{{Exercise: c.Exercises[0].Name,
				Checks: []verdict.Check{{ID: "speed", Name: "as fast as may be",
					Measurements: []verdict.Measurement{
						{Name: "time / solution's time", Unit: "x", Value: ratio, Limit: 1.5},
						{Name: "your time", Unit: "µs", Value: 20},
					}}}}}})
	}
	return all
}

func TestAStripShowsEveryoneAgainstTheLimit(t *testing.T) {
	c := reporttest.Large(101)
	drawn := strips(c, measuredClass(c))
	require.Len(t, drawn, 1, "a figure without a limit is not drawn")
	s := drawn[0]
	require.Equal(t, "exercise-1: time / solution's time", s.Title)
	require.Equal(t, "101 students, from 1.00 x to 210 x, median 1.50 x. The limit is 1.50 x; 50 lie beyond it. "+
		"1 so far that circles at the edge stand for them.", s.Summary)
	require.Len(t, s.Dots, 101)
	last := look.Px(-1)
	for _, d := range s.Dots {
		require.GreaterOrEqual(t, d.X, last)
		require.LessOrEqual(t, d.X, look.Px(stripWidth))
		last = d.X
	}
	require.Equal(t, s.Median, s.Limit.X)
}

func TestFiguresThatAreNone(t *testing.T) {
	c := reporttest.Large(3)
	all := measuredClass(c)
	for i, v := range []float64{math.NaN(), math.Inf(1), -1} {
		all[i].Exercises[0].Checks[0].Measurements[0].Value = v
	}
	s := strips(c, all)[0]
	require.Len(t, s.Dots, 1)
	require.Equal(t, look.Px(0), s.Dots[0].X)
	var out bytes.Buffer
	require.NoError(t, writeTimings(&out, c, all))
	holdsTogether(t, parse(t, out.Bytes()), 0, []string{"../report.html"})
}

func TestTheTimesOfAClassWithoutAny(t *testing.T) {
	var out bytes.Buffer
	c := reporttest.Hostile()
	require.NoError(t, writeTimings(&out, c, nil))
	root := parse(t, out.Bytes())
	holdsTogether(t, root, 0, []string{"../report.html"})
	require.Contains(t, textOf(root), "Nothing was measured.")
}
