package page

import (
	"fmt"
	"math"
	"strconv"

	"cudalab/grader/report/look"
	"cudalab/grader/report/timeline"
)

// arrow is a wait, or one that is missing.
type arrow struct {
	Path     string
	Missing  bool
	Label    string
	X, Y     px
	Tip      string
	Anchor   string // of the label, as in SVG
	From, To string
}

// faultNote is a finding below its figure.
type faultNote struct {
	N       string // the finding's number, or "!" where no check has it
	Rule    string
	Message string
	Link    string // to the finding's card
}

// arrows draws the waits, and for each fault the one that is missing.
func (f *sceneFigure) arrows(s timeline.Scene, card func(timeline.Fault) (int, string)) {
	for _, w := range f.t.Waits {
		from, to := f.barOf(w.From), f.barOf(w.To)
		if w.From < f.from || w.To >= f.to || from == nil || to == nil {
			continue
		}
		a := f.arrow(from, to)
		a.Tip = to.RowName + " waits here for what " + from.RowName + " had reached"
		f.Arrows = append(f.Arrows, a)
	}
	for _, n := range s.Faults {
		fault := f.t.Faults[n]
		at := f.barOf(fault.At)
		if at == nil {
			continue
		}
		note := faultNote{N: "!", Rule: fault.Rule, Message: fault.Message}
		if number, link := card(fault); number > 0 {
			note.N, note.Link = strconv.Itoa(number), link
		}
		f.Faults = append(f.Faults, note)
		at.in(note.N)
		if fault.Other < 0 {
			continue
		}
		other := f.barOf(fault.Other)
		if other == nil {
			continue
		}
		other.in(note.N)
		if other.Row == at.Row {
			continue
		}
		a := f.arrow(other, at)
		a.Missing, a.Label = true, "no wait"
		a.Tip = fmt.Sprintf("Nothing makes %s on %s wait for %s on %s.", at.Name, at.RowName, other.Name, other.RowName)
		f.Arrows = append(f.Arrows, a)
	}
}

// arrow goes from the end of one bar to the start of another.
func (f *sceneFigure) arrow(from, to *bar) arrow {
	x0, x1 := float64(from.X+from.W), float64(to.X)
	if from.Mark {
		x0 = float64(from.X + from.W/2)
	}
	if to.Mark {
		x1 = float64(to.X + to.W/2)
	}
	y0, y1 := float64(from.Y)+barHeight, float64(to.Y)-2
	if from.Row > to.Row {
		y0, y1 = float64(from.Y), float64(to.Y)+barHeight+2
	}
	a := arrow{From: from.RowName, To: to.RowName}
	if !from.Mark { // from inside its end, so that the line does not run along the bar's edge
		x0 -= min(10, float64(from.W)/3)
	}
	if !to.Mark {
		x1 += min(10, float64(to.W)/3)
	}
	bend := (y1 - y0) * 0.45
	a.Path = fmt.Sprintf("M%v %v C%v %v %v %v %v %v", look.Round(x0), look.Round(y0), look.Round(x0), look.Round(y0+bend),
		look.Round(x1), look.Round(y1-bend), look.Round(x1), look.Round(y1))
	a.label((x0+x1)/2, max(x0, x1), (y0+y1)/2+4, math.Abs(x1-x0))
	return a
}

// label places the words of an arrow: on it where it is long, else to its left, since numbers stand at bars' right
// ends.
func (a *arrow) label(middle, right, y, length float64) {
	const words = 60 // about as wide as they are
	left := right - length
	a.X, a.Y, a.Anchor = look.Round(left-8), look.Round(y), "end"
	switch {
	case length > 1.5*words:
		a.X, a.Anchor = look.Round(middle), "middle"
	case left < words:
		a.X, a.Anchor = look.Round(right+8), "start"
	}
}
