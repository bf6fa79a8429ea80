package flips

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

// Margin is how far from the limit, as a factor, a verdict has to be certain.
const Margin = 1.2

// Point is what became of the checks of one program whose slowness is known.
type Point struct {
	Series   string
	Slowdown float64 // its time over the solution's, or how its cost grows
	Limit    float64
	Passed   int
	Unclear  int
	Failed   int
}

// Of is the slowdown as a multiple of the limit.
func (p Point) Of() float64 { return p.Slowdown / p.Limit }

// Checks is how many there were.
func (p Point) Checks() int { return p.Passed + p.Unclear + p.Failed }

// Flipped says in what a point breaks the promise: below the limit by the margin every check passes, beyond it by the
// margin every check fails. It is "" where it does not.
func (p Point) Flipped() string {
	switch {
	case p.Of() <= 1/Margin && p.Failed > 0:
		return fmt.Sprintf("%s: %d of %d checks fail a program at %.2f times the limit", p.Series, p.Failed, p.Checks(),
			p.Of())
	case p.Of() >= Margin && p.Failed < p.Checks():
		return fmt.Sprintf("%s: %d of %d checks pass a program at %.2f times the limit", p.Series, p.Checks()-p.Failed,
			p.Checks(), p.Of())
	}
	return ""
}

// String is a line of the form that ReadCurve reads.
func (p Point) String() string {
	return fmt.Sprintf("%s %.4g %g %d %d %d", p.Series, p.Slowdown, p.Limit, p.Passed, p.Unclear, p.Failed)
}

// ReadCurve reads what String wrote, a line each; lines that begin with # are comments. The points come by series and
// rising slowdown.
func ReadCurve(text string) ([]Point, error) {
	var all []Point
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		var p Point
		if _, err := fmt.Sscanf(line, "%s %g %g %d %d %d", &p.Series, &p.Slowdown, &p.Limit, &p.Passed, &p.Unclear,
			&p.Failed); err != nil {
			return nil, fmt.Errorf("not a point of the curve: %q", line)
		}
		all = append(all, p)
	}
	slices.SortStableFunc(all, func(a, b Point) int {
		return cmp.Or(cmp.Compare(a.Series, b.Series), cmp.Compare(a.Of(), b.Of()))
	})
	return all, nil
}

// Picture draws the curve of each series in a line of text: to the right goes the slowdown, from a half to twice the
// limit; a dot stands for checks that all passed, # for checks that all failed, and a digit for how many tenths failed:
// from 1 to 9.
func Picture(all []Series, points []Point) string {
	const left, right, width = 0.5, 2.0, 60
	column := func(of float64) int { return int(math.Round((of - left) / (right - left) * width)) }
	var b strings.Builder
	ruler := []rune(strings.Repeat(" ", width+4))
	for _, mark := range []struct {
		at   float64
		text string
	}{{left, "0.5"}, {1 / Margin, "1/1.2"}, {1, "1"}, {Margin, "1.2"}, {1.5, "1.5"}, {right, "2"}} {
		copy(ruler[column(mark.at):], []rune(mark.text))
	}
	fmt.Fprintf(&b, "%-26s%s\n", "of the limit:", strings.TrimRight(string(ruler), " "))
	for _, s := range all {
		line := bytes.Repeat([]byte(" "), width+1)
		drawn := map[int]Point{} // all the checks of what is too near to be drawn apart
		for _, p := range points {
			if p.Series != s.Name || p.Of() < left || p.Of() > right {
				continue
			}
			at := column(p.Of())
			sum := drawn[at]
			sum.Passed, sum.Unclear, sum.Failed = sum.Passed+p.Passed, sum.Unclear+p.Unclear, sum.Failed+p.Failed
			drawn[at], line[at] = sum, share(sum)
		}
		if len(drawn) > 0 {
			fmt.Fprintf(&b, "%-26s%s\n", s.Name, bytes.TrimRight(line, " "))
		}
	}
	return b.String()
}

// share is how a point is drawn.
func share(p Point) byte {
	switch {
	case p.Failed == 0:
		return '.'
	case p.Failed == p.Checks():
		return '#'
	}
	return '0' + byte(min(max(10*p.Failed/p.Checks(), 1), 9))
}

// Table says in Markdown, for each series, up to where every check passes a program and from where on every check fails
// it.
func Table(all []Series, points []Point) string {
	var b strings.Builder
	b.WriteString("| check | made slower by | limit | checks | all pass up to | all fail from " +
		"|\n|---|---|--:|--:|--:|--:|\n")
	for _, s := range all {
		of := slices.DeleteFunc(slices.Clone(points), func(p Point) bool { return p.Series != s.Name })
		if len(of) == 0 {
			continue
		}
		checks := 0
		for _, p := range of {
			checks += p.Checks()
		}
		doubted, fails := 0, len(of) // the first that not all pass, and the first of those that all fail
		for doubted < len(of) && of[doubted].Failed == 0 {
			doubted++
		}
		for fails > 0 && of[fails-1].Failed == of[fails-1].Checks() {
			fails--
		}
		fmt.Fprintf(&b, "| %s | %s | %g | %d | %s | %s |\n", s.Name, s.More, s.Limit, checks, at(of, doubted-1),
			at(of, fails))
	}
	return b.String()
}

// at is a point's slowdown, for a reader; "–" where there is no such point.
func at(points []Point, i int) string {
	if i < 0 || i >= len(points) {
		return "–"
	}
	return fmt.Sprintf("%.2f", points[i].Slowdown)
}
