package page

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"cudalab/grader/report/look"
	"cudalab/grader/report/timeline"
	"cudalab/native/device"
)

// sceneFigure is one scene drawn: the host's and the streams' rows, and the memory below.
type sceneFigure struct {
	ID            string // for anchors, "s1"
	Title         string // "shapes: 3 batches on 1 stream"
	Summary       string // for those who cannot see it
	Note          string // what is left out, if anything
	Measured      bool
	Width, Height px
	Bottom        px // of the last row
	LabelWidth    px
	Rows          []row
	Bars          []bar
	Arrows        []arrow
	Ticks         []tick
	Breaks        []tick
	Faults        []faultNote
	Memory        *memoryFigure
	Pools         []poolFigure

	t     *timeline.Timeline
	scale *scale
	from  int // the calls that are drawn
	to    int
}

// row is a label with the height of its row.
type row struct {
	Name   string
	Y, Mid px
}

// bar is a call on the host, or its work in a stream.
type bar struct {
	Call          int
	Row           int
	X, Y, W       px
	TextX, TextY  px
	Class, Label  string
	Tip           string // all there is to say of it
	Link          string // to the line, "#L44", or ""
	Line          string
	When, Took    string
	Mark          bool   // a point in time rather than work
	Fault         string // the numbers of the findings it is in, "1,2"; "" for none
	RowName, Name string
}

// in notes that a bar is in a finding.
func (b *bar) in(number string) {
	if b.Fault != "" {
		number = b.Fault + "," + number
	}
	b.Fault = number
}

// BadgeX is where the number of a bar's finding stands.
func (b bar) BadgeX() px { return b.X + b.W - 6 }

// BadgeY is how high it stands: above a point, of which it would cover the sign.
func (b bar) BadgeY() px {
	if b.Mark {
		return b.Y - 8
	}
	return b.Y
}

// BadgeW is how wide the number's badge is.
func (b bar) BadgeW() px { return px(15 + 7*(len(b.Fault)-1)) }

// BadgeLeft is where the badge begins, seen from its middle.
func (b bar) BadgeLeft() px { return -b.BadgeW() / 2 }

type tick struct {
	X       px
	Label   string
	Written bool // there is room for the label
}

const (
	rowHeight   = 38.0
	barHeight   = 24.0
	topSpace    = 26.0 // for the times
	bottomSpace = 18.0 // for what was cut
	rowLetter   = 7.4  // width of a character of a row's name
	letter      = 6.6  // width of a character at the labels' size
	labelPad    = 12.0
	markWidth   = 14.0
	mostCalls   = 48 // in one figure
	hostName    = "host"
	tickApart   = 110.0
	leastZoom   = 0.6 // of the script, when a page is opened
)

// newSceneFigure draws a scene. link gives a call's line an anchor, card a fault its finding.
func newSceneFigure(id string, t *timeline.Timeline, s timeline.Scene, link func(*timeline.Call) string,
	card func(timeline.Fault) (number int, link string)) *sceneFigure {
	f := &sceneFigure{ID: id, Title: t.Case + ": " + s.Label, t: t}
	f.window(s)
	f.Measured = !slices.ContainsFunc(t.Calls[f.from:f.to], func(c timeline.Call) bool {
		return c.Work && c.Code == 0 &&
			!c.Measured
	})
	f.layOut(link)
	f.arrows(s, card)
	f.memory()
	f.Summary = f.summary(s)
	return f
}

// window chooses the calls that are drawn: of many, those around the first fault.
func (f *sceneFigure) window(s timeline.Scene) {
	f.from, f.to = s.From, s.To
	total := s.To - s.From
	if total <= mostCalls {
		return
	}
	middle := s.From
	if len(s.Faults) > 0 {
		fault := f.t.Faults[s.Faults[0]]
		middle = fault.At
		if fault.Other >= 0 && fault.At-fault.Other < mostCalls-4 {
			middle = (fault.At + fault.Other) / 2
		}
	}
	f.from = min(max(middle-mostCalls/2, s.From), s.To-mostCalls)
	f.to = f.from + mostCalls
	f.Note = fmt.Sprintf("%d of %d calls are drawn; --trace FILE writes all of them.", mostCalls, total)
}

// layOut places rows and bars.
func (f *sceneFigure) layOut(link func(*timeline.Call) string) {
	rows := map[string]int{hostName: 0}
	names := []string{hostName}
	for _, st := range f.t.Streams {
		used := slices.ContainsFunc(f.t.Calls[f.from:f.to], func(c timeline.Call) bool {
			return c.InStream &&
				c.Stream == st.ID
		})
		if used {
			rows[st.Name] = len(names)
			names = append(names, st.Name)
		}
	}
	var items []item
	var bars []bar
	for i := f.from; i < f.to; i++ {
		c := &f.t.Calls[i]
		st := styleOf(c.Op)
		name := st.Name
		if name == "" {
			name = c.Name
		}
		label := strings.TrimSpace(st.Sign + " " + name)
		if c.Code != 0 {
			label = "✗ " + name
		}
		b := bar{Call: i, Class: st.Class, Label: label, Name: c.Name, Link: link(c), Line: c.Line(), Tip: f.tip(c)}
		if len(c.Places) == 0 {
			b.Class += " grader"
		}
		if c.Code != 0 {
			b.Class += " failed"
		}
		width := float64(utf8.RuneCountInString(label))*letter + labelPad
		items = append(items, item{row: 0, from: c.Time, to: c.Time + c.Took, width: width})
		b.Row, b.RowName = 0, hostName
		bars = append(bars, b)
		if !c.InStream || c.Code != 0 {
			continue
		}
		b.Row = rows[f.t.StreamName(c.Stream)]
		b.RowName = f.t.StreamName(c.Stream)
		it := item{row: b.Row, from: c.Start, to: c.End, width: width}
		if !c.Work {
			b.Mark, b.Label = true, st.Sign
			it.width = markWidth
		} else if !c.Measured {
			it.to = it.from // nobody knows how long it took
		}
		items = append(items, it)
		bars = append(bars, b)
	}
	f.scale = newScale(items)
	var began int64
	if len(items) > 0 {
		began = slices.MinFunc(items, func(a, b item) int { return int(a.from - b.from) }).from
	}
	for i := range bars {
		b, it := &bars[i], items[i]
		b.X, b.W = look.Round(it.x0), look.Round(it.x1-it.x0)
		b.Y = px(topSpace + float64(b.Row)*rowHeight + (rowHeight-barHeight)/2)
		b.TextX, b.TextY = look.Round(it.x0+labelPad/2), b.Y+barHeight/2+4
		if b.Mark {
			b.TextX = look.Round(it.x0 + (it.x1-it.x0)/2)
		}
		b.When = "+" + look.Duration(it.from-began)
		b.Took = look.Duration(it.to - it.from)
		if b.Mark || b.Row > 0 && !f.t.Calls[b.Call].Measured {
			b.Took = "–"
		}
	}
	f.Bars = bars
	for i, name := range names {
		y := topSpace + float64(i)*rowHeight
		f.Rows = append(f.Rows, row{name, px(y), px(y + rowHeight/2)})
	}
	for _, i := range f.scale.ticks(tickApart) {
		if f.scale.x[i] < f.scale.width-tickApart/2 {
			f.Ticks = append(f.Ticks, tick{X: look.Round(f.scale.x[i]), Label: "+" + look.Duration(f.scale.times[i]-began)})
		}
	}
	written := 0.0
	for _, g := range f.scale.breaks {
		b := tick{X: look.Round(g.x), Label: look.Duration(g.skipped) + " cut"}
		half := float64(utf8.RuneCountInString(b.Label)) * letter / 2
		x := g.x * leastZoom
		if b.Written = x-half > written && x+half < f.scale.width*leastZoom; b.Written {
			written = x + half + labelPad
		}
		f.Breaks = append(f.Breaks, b)
	}
	f.Width = look.Round(f.scale.width)
	f.Bottom = px(topSpace + float64(len(names))*rowHeight)
	f.Height = f.Bottom + bottomSpace
	f.LabelWidth = labelWidth(names)
}

// labelWidth is the room that the names of rows take.
func labelWidth(names []string) px {
	longest := 0
	for _, name := range names {
		longest = max(longest, utf8.RuneCountInString(name))
	}
	return look.Round(max(rowLetter*float64(longest), 56) + 14)
}

// tip is all there is to say of a call, in lines.
func (f *sceneFigure) tip(c *timeline.Call) string {
	lines := []string{f.t.Title(c)}
	if c.Size > 0 {
		lines[0] += ", " + bytes(c.Size)
	}
	lines = append(lines, fmt.Sprintf("The call took the host %s.", look.Duration(c.Took)))
	if c.Work && c.Measured {
		lines = append(lines, fmt.Sprintf("The device worked on it for %s, from %s after the call on.",
			look.Duration(c.End-c.Start), look.Duration(max(c.Start-c.Time, 0))))
	}
	if c.Code != 0 {
		answer := "It answered " + device.Code(c.Code).String()
		if c.Faked {
			answer += ", as the grader let it"
		}
		lines = append(lines, answer+".")
	}
	if line := c.Line(); line != "" {
		lines = append(lines, line)
	} else {
		lines = append(lines, "the grader's own call")
	}
	return strings.Join(lines, "\n")
}

// barOf is a call's bar: that of its work if there is one.
func (f *sceneFigure) barOf(call int) *bar {
	var found *bar
	for i := range f.Bars {
		if f.Bars[i].Call == call {
			found = &f.Bars[i]
		}
	}
	return found
}

// summary says what the figure shows.
func (f *sceneFigure) summary(s timeline.Scene) string {
	text := look.Plural(f.to-f.from, "call") + " on the host."
	if streams := len(f.Rows) - 1; streams > 0 {
		text = look.Plural(f.to-f.from, "call") + " on the host and in " + look.Plural(streams, "stream") + "."
	}
	if s.Overlap > 0 {
		text += fmt.Sprintf(" Your work ran in several streams at the same time for %s.", look.Duration(s.Overlap))
	}
	for _, a := range f.Arrows {
		if a.Missing {
			text += " " + a.Tip
		}
	}
	return text
}

// has reports whether a kind of call is in the figure.
func (f *sceneFigure) has(class string) bool {
	return slices.ContainsFunc(f.Bars, func(b bar) bool { return strings.HasPrefix(b.Class, class) })
}

// Legend is the kinds of calls in the figure.
func (f *sceneFigure) Legend() []style {
	all := []style{{"kernel", "", "kernel"}, {"alloc", "+", "allocation"}, {"free", "−", "free"},
		{"copy", "⇄ =", "copy, memset"},
		{"event", "● ◆", "event recorded, waited for"}, {"sync", "‖", "the host waits or asks"}, {"other", "", "other call"}}
	return slices.DeleteFunc(all, func(s style) bool { return !f.has(s.Class) })
}
