package classpage

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"time"

	"cudalab/grader/class"
	"cudalab/grader/report/gradebook"
	"cudalab/grader/report/look"
)

// WriteTimings is the writer of the page of what was measured, which goes beside the timings: everyone's figures
// against their limits, and how long grading took. Like the timings it is another one each time.
func WriteTimings(dir string, c *class.Class) error {
	var text bytes.Buffer
	if err := writeTimings(&text, c, readTimings(dir, c)); err != nil {
		return err
	}
	return class.WriteFile(filepath.Join(dir, "timings", "index.html"), text.Bytes())
}

// readTimings reads what was measured as far as it is there: a result without its timings is whole.
func readTimings(dir string, c *class.Class) []class.Timings {
	var all []class.Timings
	for _, s := range c.Students {
		if t := class.ReadTimings(dir, s.ID); t.ID != "" {
			all = append(all, t)
		}
	}
	return all
}

func writeTimings(w io.Writer, c *class.Class, timings []class.Timings) error {
	p := timingsContent{Class: c, Head: head{Title: "Times"}, Strips: strips(c, timings)}
	if s, ok := gradingTimes(timings); ok {
		p.Grading = &s
	}
	for _, t := range timings {
		if t.Attempts > 1 {
			p.Again = append(p.Again, sentence{ID: gradebook.Clean(t.ID), Text: fmt.Sprintf("%d attempts", t.Attempts)})
		}
	}
	return layouts().ExecuteTemplate(w, "timings.html.tmpl", p)
}

type timingsContent struct {
	Head    head
	Class   *class.Class
	Strips  []strip
	Grading *strip
	Again   []sentence // who needed more than one attempt
}

// strip is one figure of everyone: a dot for each student.
type strip struct {
	ID, Title, Check, Summary string
	Rows                      [][2]string // the same in words
	Dots                      []stripDot
	Ticks                     []stripTick
	Limit                     *stripTick // nil where none is asked for
	Low, Width, Median        look.Px    // of the middle half
	Beyond                    int        // dots at the edge, whose place is further right
}

type stripDot struct {
	X, Y   look.Px
	Beyond bool
	Tip    string
}

type stripTick struct {
	X     look.Px
	Label string
}

// measured is one student's figure.
type measured struct {
	id    string
	value float64
}

// series is everyone's of one name.
type series struct {
	exercise, check, name, unit string
	limit                       float64
	values                      []measured
}

// strips are the figures that have a limit, in the order of the course.
func strips(c *class.Class, timings []class.Timings) []strip {
	var all []*series
	for _, e := range c.Exercises {
		for _, t := range timings {
			for _, r := range t.Exercises {
				for _, check := range r.Checks {
					for _, m := range check.Measurements {
						if r.Exercise != e.Name || m.Limit == 0 || math.IsNaN(m.Value) || math.IsInf(m.Value, 0) {
							continue
						}
						at := slices.IndexFunc(all, func(s *series) bool {
							return s.exercise == e.Name && s.check == check.Name &&
								s.name == m.Name
						})
						if at < 0 {
							at = len(all)
							all = append(all, &series{exercise: e.Name, check: check.Name, name: m.Name, unit: m.Unit, limit: m.Limit})
						}
						all[at].values = append(all[at].values, measured{t.ID, m.Value})
					}
				}
			}
		}
	}
	var drawn []strip
	for i, s := range all {
		d := s.draw(func(v float64) string { return look.Decimal(v) + " " + s.unit })
		d.ID, d.Title, d.Check = fmt.Sprintf("strip%d", i+1), s.exercise+": "+s.name, s.check
		drawn = append(drawn, d)
	}
	return drawn
}

func gradingTimes(timings []class.Timings) (strip, bool) {
	s := series{}
	for _, t := range timings {
		s.values = append(s.values, measured{t.ID, float64(time.Duration(t.DurationMS) * time.Millisecond)})
	}
	if len(s.values) == 0 {
		return strip{}, false
	}
	d := s.draw(func(v float64) string { return look.Duration(int64(v)) })
	d.ID, d.Title = "grading", "Time for one submission, with the time it waited for the GPU"
	return d, true
}

// Measures of a strip; the drawing is in the template.
const (
	stripWidth = 820
	stripMid   = 62
	stripLanes = 9 // dots that would cover each other are spread over so many lanes
	laneHeight = 6
	// farthest is where the axis ends, as a multiple of the limit: few are far beyond it, and they would squeeze the rest.
	farthest = 4
)

func (s *series) draw(say func(float64) string) strip {
	slices.SortStableFunc(s.values, func(a, b measured) int {
		switch {
		case a.value < b.value:
			return -1
		case a.value > b.value:
			return 1
		}
		return 0
	})
	n := len(s.values)
	at := func(share float64) float64 { return s.values[int(share*float64(n-1)+0.5)].value }
	end := at(1)
	if s.limit > 0 {
		end = max(s.limit*1.25, min(end, s.limit*farthest))
	}
	if end <= 0 {
		end = 1
	}
	x := func(v float64) look.Px { return look.Round(stripWidth * min(max(v, 0), end) / end) }
	var d strip
	over := 0
	for i, m := range s.values {
		lane := i%stripLanes - stripLanes/2
		d.Dots = append(d.Dots, stripDot{X: x(m.value), Y: look.Px(stripMid + lane*laneHeight), Beyond: m.value > end,
			Tip: gradebook.Clean(m.id) + ": " + say(m.value)})
		if m.value > end {
			d.Beyond++
		}
		if s.limit > 0 && m.value > s.limit {
			over++
		}
	}
	d.Low, d.Median = x(at(0.25)), x(at(0.5))
	d.Width = max(x(at(0.75))-d.Low, 1)
	for i := range 5 {
		v := end * float64(i) / 4
		d.Ticks = append(d.Ticks, stripTick{x(v), say(v)})
	}
	d.Rows = [][2]string{{"students", fmt.Sprint(n)}, {"least", say(at(0))}, {"first quarter", say(at(0.25))},
		{"median", say(at(0.5))},
		{"third quarter", say(at(0.75))}, {"most", say(at(1))}}
	d.Summary = fmt.Sprintf("%s, from %s to %s, median %s.", look.Plural(n, "student"), say(at(0)), say(at(1)),
		say(at(0.5)))
	if s.limit > 0 {
		d.Limit = &stripTick{x(s.limit), "limit " + say(s.limit)}
		d.Rows = append(d.Rows, [2]string{"limit", say(s.limit)}, [2]string{"beyond it", fmt.Sprint(over)})
		d.Summary += fmt.Sprintf(" The limit is %s; %d lie beyond it.", say(s.limit), over)
	}
	if d.Beyond > 0 {
		d.Summary += fmt.Sprintf(" %d so far that circles at the edge stand for them.", d.Beyond)
	}
	return d
}
