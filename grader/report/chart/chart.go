// Package chart draws a benchmark's figures as one SVG file: a bar with its interval for every contender, workload by
// workload, on a logarithmic axis. The file needs nothing else, follows the reader's light or dark mode, and says in
// words all that colour says.
package chart

import (
	"embed"
	"encoding/xml"
	"io"
	"math"
	"strconv"
	"strings"
	"text/template"
	"unicode/utf8"

	"cudalab/grader/report"
	"cudalab/grader/suite/verdict"
)

//go:embed chart.svg.tmpl
var files embed.FS

var drawing = template.Must(template.New("chart.svg.tmpl").Funcs(template.FuncMap{"xml": escape}).ParseFS(files,
	"chart.svg.tmpl"))

// Measures of the drawing, in pixels of the SVG's own. A letter is about seven wide.
const (
	width     = 860
	margin    = 16
	letter    = 7
	head      = 64 // title and subtitle
	titleRow  = 30 // of a workload
	barRow    = 24
	bar       = 14
	axisRow   = 26
	panelGap  = 18
	valueRoom = 150 // behind the longest bar, for its value
	noteRow   = 18
	noteWords = 118 // letters in a line of notes
)

// Write draws a report.
func Write(w io.Writer, r verdict.BenchReport) error { return drawing.Execute(w, newFigure(r)) }

// px is a place, without a fraction that nobody sees.
type px float64

func (v px) String() string { return strconv.FormatFloat(math.Round(float64(v)*10)/10, 'f', -1, 64) }

type figure struct {
	Title, Subtitle, Summary string
	Width, Height            px
	Left                     px // where the text begins
	Panels                   []panel
	Notes                    []note
}

type note struct {
	Y    px
	Text string
}

// panel is the workloads of one unit over their common axis.
type panel struct {
	Top, Bottom px
	Ticks       []tick
	Groups      []group
}

type tick struct {
	X, LabelY px
	Label     string
}

type group struct {
	Name   string
	X, Y   px
	Labels px // where the contenders' names end
	Bars   []barOf
}

type barOf struct {
	Class, Name, Value string
	X, Y, W, H, Mid    px
	Low, High          px // of the interval; equal where there is none
	TextX, TextY       px
}

// CapTop is the upper end of the whisker's caps.
func (b barOf) CapTop() px { return b.Mid - 4 }

// CapBottom is the lower end of the whisker's caps.
func (b barOf) CapBottom() px { return b.Mid + 4 }

// HasInterval reports whether there is a whisker to draw.
func (b barOf) HasInterval() bool { return b.High > b.Low }

func newFigure(r verdict.BenchReport) *figure {
	where := r.Device.Name
	if r.Device.Driver != "" {
		where += ", CUDA " + r.Device.Driver
	}
	f := &figure{Title: r.Exercise + ", side by side", Subtitle: "on " + where +
		": medians with their 99 % intervals, on a logarithmic axis",
		Width: width, Left: margin}
	names := 0
	var units []string
	byUnit := map[string][]verdict.Comparison{}
	for _, w := range r.Workloads {
		if byUnit[w.Unit] == nil {
			units = append(units, w.Unit)
		}
		byUnit[w.Unit] = append(byUnit[w.Unit], w)
		for _, s := range w.Standings {
			names = max(names, utf8.RuneCountInString(nameOf(s)))
		}
		f.Summary += summary(w)
	}
	left := px(margin + letter*names + 10)
	y := px(head)
	for _, unit := range units {
		p := newPanel(byUnit[unit], unit, left, y)
		f.Panels = append(f.Panels, p)
		y = p.Bottom + axisRow + panelGap
	}
	for _, text := range []string{report.ClockNote(r), r.Message} {
		for _, line := range report.Wrap(text, noteWords) {
			if line != "" {
				f.Notes = append(f.Notes, note{y, line})
				y += noteRow
			}
		}
	}
	f.Height = y + margin/2
	return f
}

// nameOf is a contender's name with the mark of the clock's note.
func nameOf(s verdict.Standing) string {
	if s.Clock == verdict.CPU {
		return s.Contender + " *"
	}
	return s.Contender
}

// summary is a workload in words.
func summary(w verdict.Comparison) string {
	text := w.Name + ", per " + w.Operation
	for i, s := range w.Standings {
		sign := ", "
		if i == 0 {
			sign = ": "
		}
		text += sign + nameOf(s) + " " + report.Written(s.Value, w.Unit)
	}
	return text + ". "
}

// newPanel draws the workloads of one unit, the names of the contenders left of left.
func newPanel(ws []verdict.Comparison, unit string, left, top px) panel {
	least, most := math.Inf(1), math.Inf(-1)
	for _, w := range ws {
		for _, s := range w.Standings {
			if s.Low > 0 {
				least = min(least, s.Low)
			}
			most = max(most, s.High)
		}
	}
	if math.IsInf(least, 1) { // nothing costs anything
		least, most = 1, 1
	}
	// Whole decades, and the shortest bar still has a length.
	low, high := math.Floor(math.Log10(least*0.999)), math.Ceil(math.Log10(most))
	x := func(v float64) px {
		share := (math.Log10(max(v, math.Pow(10, low))) - low) / (high - low)
		return left + px(share)*(width-valueRoom-left)
	}
	p := panel{Top: top}
	y := top
	for _, w := range ws {
		g := group{Name: w.Name + ", per " + w.Operation, X: margin, Y: y + titleRow - 10, Labels: left - 8}
		y += titleRow
		for _, s := range w.Standings {
			b := barOf{Class: classOf(s.Contender), Name: nameOf(s), Value: report.Written(s.Value, unit), X: left, Y: y +
				(barRow-bar)/2,
				W: x(s.Value) - left, H: bar, Mid: y + barRow/2, Low: x(s.Low), High: x(s.High), TextY: y + barRow/2 + 4}
			if s.Ratio != nil {
				b.Value += " (" + report.Number(s.Ratio.Value) + " x)"
			}
			b.TextX = max(b.X+b.W, b.High) + 8
			g.Bars = append(g.Bars, b)
			y += barRow
		}
		p.Groups = append(p.Groups, g)
	}
	p.Bottom = y + 6
	for decade := low; decade <= high; decade++ {
		v := math.Pow(10, decade)
		scale, name := report.ScaleOf(v, unit)
		p.Ticks = append(p.Ticks, tick{X: x(v), LabelY: p.Bottom + 16, Label: strconv.FormatFloat(v/scale, 'g', 6, 64) + " " +
			name})
	}
	return p
}

// classOf is the contender's style.
func classOf(contender string) string {
	switch contender {
	case verdict.Yours, verdict.Solution:
		return contender
	}
	return "other"
}

// escape makes text safe inside of XML.
func escape(text string) (string, error) {
	var b strings.Builder
	err := xml.EscapeText(&b, []byte(text))
	return b.String(), err
}
