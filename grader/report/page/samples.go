package page

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"cudalab/grader/report/look"
	"cudalab/grader/suite/measure"
	"cudalab/grader/suite/verdict"
)

// samplesFigure is the times of one function's contenders: a bar to the median of each, from nothing on.
type samplesFigure struct {
	ID, Title string
	bars
	Rows []sampleRow
}

// bars are lanes from nothing on, with a limit.
type bars struct {
	Whole     lanes
	WholeAxis axis
	Limit     *axisTick // nil where there is none
	Slow      bool      // it is exceeded
}

// limitAt is a limit at a share of the axis.
func limitAt(at float64, label string) *axisTick {
	tick := &axisTick{At: share(at), Label: label}
	switch {
	case at < 0.12:
		tick.Class = "first"
	case at > 0.88:
		tick.Class = "last"
	}
	return tick
}

// barTo is a bar from nothing to a share of the axis, with the words in it or behind it.
func barTo(at float64, class, words string) []box {
	if at < 0.6 {
		return []box{{Width: at, Class: class}, {From: at, Width: 1 - at, Class: "words", Labels: []string{words}}}
	}
	return []box{{Width: at, Class: class, Labels: []string{words}}}
}

// sampleRow is a contender as a table has it.
type sampleRow struct {
	Name                         string
	Count                        int
	Min, Lower, Median, Up, Most string
}

// newSamplesFigures draws the series of a timed case. Series of several functions stand behind their names: "Share:
// yours".
func newSamplesFigures(prefix string, n *verdict.CaseNotes, checks []verdict.Check) []*samplesFigure {
	groups := map[string][]string{}
	for series := range n.Samples {
		function, _, found := strings.Cut(series, ": ")
		if !found {
			function = ""
		}
		groups[function] = append(groups[function], series)
	}
	var names []string
	for name := range groups {
		names = append(names, name)
	}
	slices.Sort(names)
	var figures []*samplesFigure
	for i, name := range names {
		f := newSamplesFigure(n, groups[name], limitOf(checks, name))
		f.ID = fmt.Sprintf("%s%d", prefix, i+1)
		f.Title = n.ID
		if name != "" {
			f.Title = name
		}
		figures = append(figures, f)
	}
	return figures
}

// contenders in the order in which they are drawn; others follow.
var contenders = []string{"yours", "solution", "baseline"}

func contender(series string) string {
	if _, name, found := strings.Cut(series, ": "); found {
		return name
	}
	return series
}

func newSamplesFigure(n *verdict.CaseNotes, series []string, limit float64) *samplesFigure {
	rank := func(s string) int {
		if i := slices.Index(contenders, contender(s)); i >= 0 {
			return i
		}
		return len(contenders)
	}
	slices.SortFunc(series, func(a, b string) int { return cmp.Or(rank(a)-rank(b), cmp.Compare(a, b)) })
	var most, allowed, took int64
	for _, x := range series {
		median := int64(measure.MedianOf(n.Samples[x]).Value)
		most = max(most, median)
		switch contender(x) {
		case verdict.Solution:
			allowed = int64(limit * float64(median))
		case verdict.Yours:
			took = median
		}
	}
	most = max(most, allowed, 1)
	f := &samplesFigure{}
	var said []string
	for _, x := range series {
		sorted := slices.Sorted(slices.Values(n.Samples[x]))
		quantile := func(q float64) string { return look.Duration(sorted[int(q*float64(len(sorted)-1)+0.5)]) }
		row := sampleRow{contender(x), len(sorted), quantile(0), quantile(0.25), quantile(0.5), quantile(0.75), quantile(1)}
		f.Rows = append(f.Rows, row)
		class := "host"
		if row.Name == verdict.Yours {
			class = "kernel"
		}
		median := measure.MedianOf(n.Samples[x]).Value
		f.Whole.Lanes = append(f.Whole.Lanes, newLane(row.Name, barTo(median/float64(most), class, row.Median)))
		said = append(said, fmt.Sprintf("%s: median %s", row.Name, row.Median))
	}
	f.WholeAxis = newAxis(most)
	f.Whole.Said = strings.Join(said, "; ") + "."
	if allowed > 0 {
		f.Limit, f.Slow = limitAt(float64(allowed)/float64(most), "limit "+look.Duration(allowed)), took > allowed
		f.Whole.Said += fmt.Sprintf(" At most %g times the solution's time is asked for: %s.", limit, look.Duration(allowed))
	}
	return f
}

// limitOf is how many times the solution's time a function's may be; 0 where no check asks for that.
func limitOf(checks []verdict.Check, function string) float64 {
	name := "time / solution's time"
	if function != "" {
		name = function + ": " + name
	}
	for _, c := range checks {
		for _, m := range c.Measurements {
			if m.Name == name {
				return m.Limit
			}
		}
	}
	return 0
}

// limitFigure is a measurement with its interval against its limit, in percent of the width.
type limitFigure struct {
	Name, Value, Interval, Limit string
	At, Low, Wide, Most          px
	Beyond                       bool
}

// newLimitFigures draws the measurements of a check that have a limit.
func newLimitFigures(c verdict.Check) []limitFigure {
	var all []limitFigure
	for _, m := range c.Measurements {
		if m.Limit == 0 {
			continue
		}
		most := max(m.Limit, m.High) * 1.15
		all = append(all, limitFigure{Name: m.Name, Value: look.Decimal(m.Value) + " " + m.Unit,
			Interval: look.Decimal(m.Low) + " to " + look.Decimal(m.High), Limit: fmt.Sprintf("%g %s", m.Limit, m.Unit),
			At: share(m.Value / most), Low: share(m.Low / most), Wide: share((m.High - m.Low) / most),
			Most: share(m.Limit / most), Beyond: m.Low > m.Limit})
	}
	return all
}
