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

// samplesFigure is the times of one function's contenders, each sample a dot over the box of the middle half.
type samplesFigure struct {
	ID, Title, Summary string
	Width, Height      px
	LabelWidth         px
	Rows               []sampleRow
	Ticks              []tick
	Limit              *tick // how long the student's code may take; nil where that is not judged
}

type sampleRow struct {
	Name                string
	Y, Mid              px
	Low, Median, High   px // the quartiles
	First, Last         px
	BoxY, BoxH, BoxW    px
	Dots                []dot
	Count               int
	MinText, MedianText string
	MaxText             string
}

type dot struct{ X, Y px }

// BoxEnd is the lower edge of the box.
func (r sampleRow) BoxEnd() px { return r.BoxY + r.BoxH }

// TextX is where the median is written, behind the slowest run.
func (r sampleRow) TextX() px { return r.Last + 8 }

const (
	samplesWidth = 760.0
	sampleRowH   = 44.0
	samplesTop   = 24.0
)

// newSamplesFigures draws the series of a timed case. Series of several functions stand behind their names: "Share: yours".
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
	var most, allowed int64
	for _, s := range series {
		most = max(most, slices.Max(n.Samples[s]))
		if contender(s) == "solution" {
			allowed = int64(limit * measure.MedianOf(n.Samples[s]).Value)
		}
	}
	most = max(most, allowed)
	f := &samplesFigure{Width: samplesWidth, Height: px(samplesTop + sampleRowH*float64(len(series)) + 4)}
	x := func(v int64) px { return look.Round(8 + (samplesWidth-110)*float64(v)/float64(max(most, 1))) }
	var said []string
	for i, s := range series {
		sorted := slices.Sorted(slices.Values(n.Samples[s]))
		quantile := func(q float64) int64 { return sorted[int(q*float64(len(sorted)-1)+0.5)] }
		top := samplesTop + sampleRowH*float64(i)
		row := sampleRow{Name: contender(s), Y: px(top), Mid: px(top + sampleRowH/2), Count: len(sorted),
			Low: x(quantile(0.25)), Median: x(quantile(0.5)), High: x(quantile(0.75)),
			First: x(sorted[0]), Last: x(sorted[len(sorted)-1]), BoxY: px(top + 10), BoxH: sampleRowH - 20,
			MinText: look.Duration(sorted[0]), MedianText: look.Duration(quantile(0.5)), MaxText: look.Duration(sorted[len(sorted)-1])}
		row.BoxW = max(row.High-row.Low, 2)
		for j, v := range n.Samples[s] {
			// Dots that would cover each other are spread over the row.
			row.Dots = append(row.Dots, dot{x(v), px(top + sampleRowH/2 + float64(j%5-2)*4)})
		}
		f.Rows = append(f.Rows, row)
		said = append(said, fmt.Sprintf("%s: median %s", row.Name, row.MedianText))
	}
	for i := range 5 {
		v := most * int64(i) / 4
		f.Ticks = append(f.Ticks, tick{X: x(v), Label: look.Duration(v)})
	}
	var names []string
	for _, r := range f.Rows {
		names = append(names, r.Name)
	}
	f.LabelWidth = labelWidth(names)
	f.Summary = strings.Join(said, "; ") + "."
	if allowed > 0 {
		f.Limit = &tick{X: x(allowed), Label: "limit " + look.Duration(allowed)}
		f.Summary += fmt.Sprintf(" At most %s times the solution's time is asked for: %s.", look.Figure(limit), look.Duration(allowed))
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

// limitFigure is a measurement with its interval against its limit.
type limitFigure struct {
	Name, Value, Interval, Limit string
	X, Low, W, LimitX, Width     px
}

// newLimitFigures draws the measurements of a check that have a limit.
func newLimitFigures(c verdict.Check) []limitFigure {
	const width = 420.0
	var all []limitFigure
	for _, m := range c.Measurements {
		if m.Limit == 0 {
			continue
		}
		most := max(m.Limit, m.High) * 1.15
		x := func(v float64) px { return look.Round(width * v / most) }
		all = append(all, limitFigure{Name: m.Name, Value: look.Decimal(m.Value) + " " + m.Unit,
			Interval: look.Decimal(m.Low) + " to " + look.Decimal(m.High), Limit: look.Decimal(m.Limit) + " " + m.Unit,
			X: x(m.Value), Low: x(m.Low), W: max(x(m.High)-x(m.Low), 2), LimitX: x(m.Limit), Width: width})
	}
	return all
}
