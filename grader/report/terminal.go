// Package report shows what a check found: on a terminal, and as JSON for programs. It decides nothing.
package report

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/fatih/color"

	"cudalab/grader/suite/verdict"
)

// Options say how a report is shown on a terminal.
type Options struct {
	Color  bool
	Width  int  // characters in a line; 0: 80, and lines are never made longer than 100
	Height int  // lines of the screen, for a film; 0: any number
	Links  bool // make positions links to their files, for terminals that know OSC 8
	// Brief says everything about the first error alone: of the findings after it, what and where; nothing of what passed.
	Brief bool
	// Source returns the text of a line of a file as the report names it, "" where it cannot be had. Nil quotes nothing.
	Source func(file string, line int) string
}

const (
	defaultWidth = 80
	maxWidth     = 100 // longer lines are harder to read
	minWidth     = 40
	outputLines  = 20 // of what the student's code printed
)

// Terminal writes a report for a person to read. All that colour says is said in words too.
func Terminal(w io.Writer, r verdict.Report, o Options) error {
	p := newPrinter(r, o)
	p.headline()
	for i, c := range r.Checks {
		// A check without findings takes a line or two; those with findings are set apart from their neighbours.
		if i > 0 && (len(c.Findings) > 0 || len(r.Checks[i-1].Findings) > 0) {
			p.line("")
		}
		// What is said of several checks in a row is said once, after the last.
		again := i+1 < len(r.Checks) && r.Checks[i+1].Status == c.Status && r.Checks[i+1].Message == c.Message
		p.check(c, c.Message != "" && !again && !(o.Brief && c.Status == verdict.Passed))
	}
	p.output()
	p.conclusion()
	_, err := w.Write(p.text.Bytes())
	return err
}

// palette holds the colours; without colour each leaves its text as it is.
type palette struct {
	bold, dim, good, bad, odd, place, code func(a ...any) string
}

func newPalette(colored bool) palette {
	with := func(attributes ...color.Attribute) func(a ...any) string {
		c := color.New(attributes...)
		if colored {
			c.EnableColor()
		} else {
			c.DisableColor()
		}
		return c.SprintFunc()
	}
	return palette{
		bold: with(color.Bold), dim: with(color.Faint), good: with(color.FgGreen), bad: with(color.FgRed, color.Bold),
		odd: with(color.FgYellow), place: with(color.FgCyan), code: with(color.FgYellow),
	}
}

type printer struct {
	report     verdict.Report
	width      int
	links      bool
	source     func(file string, line int) string
	palette    palette
	brief      bool
	errorShown bool // an error has been written in full
	text       bytes.Buffer
}

// newPrinter lays the report's text out as the options say.
func newPrinter(r verdict.Report, o Options) *printer {
	if o.Width == 0 {
		o.Width = defaultWidth
	}
	if o.Source == nil {
		o.Source = func(string, int) string { return "" }
	}
	return &printer{report: r, width: min(max(o.Width, minWidth), maxWidth), links: o.Links, source: o.Source,
		palette: newPalette(o.Color),
		brief:   o.Brief}
}

func (p *printer) line(text string) {
	p.text.WriteString(strings.TrimRight(text, " "))
	p.text.WriteByte('\n')
}

// block writes text wrapped and indented; lead stands before its first line.
func (p *printer) block(indent int, lead, text string, style func(a ...any) string) {
	hang := utf8.RuneCountInString(lead)
	for i, l := range Wrap(Harmless(text), p.width-indent-hang) {
		if i > 0 {
			lead = strings.Repeat(" ", hang)
		}
		p.line(strings.Repeat(" ", indent) + lead + style(l))
	}
}

func plain(a ...any) string { return fmt.Sprint(a...) }

func (p *printer) headline() {
	head := p.palette.bold(p.report.Exercise)
	if name := p.report.Device.Name; name != "" {
		head += " on " + name
		if p.report.Device.Driver != "" {
			head += ", CUDA " + p.report.Device.Driver
		}
	}
	p.line(head)
	if p.report.Device.Note != "" {
		p.block(0, "", "There is no GPU to use, so the simulated one is: `cudalab doctor` says more.", p.palette.dim)
	}
	if len(p.report.Checks) > 0 {
		p.line("")
	}
}

// indent is where everything about a check begins that is not its first line.
const indent = 4

// check writes one check; whether its message is shown as well, the caller knows.
func (p *printer) check(c verdict.Check, message bool) {
	symbol, style := "✓", p.palette.good
	switch c.Status {
	case verdict.Passed:
	case verdict.Skipped:
		symbol, style = "–", p.palette.dim
	default:
		symbol, style = "✗", p.palette.bad
	}
	worth := ""
	if c.MaxPoints > 0 {
		worth = points(c.Points) + "/" + points(c.MaxPoints)
	}
	lead := fmt.Sprintf("  %s %-7s  ", symbol, c.Status)
	hang := utf8.RuneCountInString(lead)
	for i, l := range Wrap(c.Name, p.width-hang-len(worth)-1) {
		switch {
		case i > 0:
			p.line(strings.Repeat(" ", hang) + l)
		case worth == "":
			p.line(style(lead) + l)
		default:
			p.line(style(lead) + pad(l, p.width-hang-len(worth)) + p.palette.dim(worth))
		}
	}
	if message {
		p.block(hang, "", c.Message, p.palette.dim)
	}
	for i, f := range c.Findings {
		if i > 0 && f.Again(c.Findings[i-1]) {
			p.head(f)
			continue
		}
		if i > 0 && !p.short(f) {
			p.line("")
		}
		p.finding(f)
	}
	p.measurements(c.Measurements)
}

// short reports whether a finding is written in one line.
func (p *printer) short(f verdict.Finding) bool {
	return p.brief && (p.errorShown || !f.Root())
}

func (p *printer) finding(f verdict.Finding) {
	p.head(f)
	if !p.short(f) {
		p.told(f)
	}
}

// head is what is wrong, in a word, and where.
func (p *printer) head(f verdict.Finding) {
	kind, style := "error", p.palette.bad
	if f.Severity == verdict.Remark {
		kind, style = "remark", p.palette.odd
	}
	head, room := style(kind)+" "+f.Rule, p.width-indent-len(kind+" "+f.Rule)
	switch {
	case f.File == "":
		p.line(strings.Repeat(" ", indent) + head)
	case p.fits(" at ", f.File, f.Line, room):
		p.line(strings.Repeat(" ", indent) + head + " at " + p.place(f.File, f.Line))
	default:
		p.line(strings.Repeat(" ", indent) + head + " at")
		p.line(strings.Repeat(" ", indent) + p.place(f.File, f.Line))
	}
}

// told is all else that there is to a finding.
func (p *printer) told(f verdict.Finding) {
	if f.Follows != nil {
		p.consequence(f)
		return
	}
	p.errorShown = p.errorShown || f.Severity == verdict.Error
	p.quote(indent, f.File, f.Line)
	p.block(indent, "", f.Message, plain)
	if f.Why != "" {
		p.block(indent, "Why: ", f.Why, plain)
	}
	if f.Fix != "" {
		p.block(indent, "Fix: ", f.Fix, p.palette.bold)
	}
	for _, r := range f.Related {
		if r.File == "" {
			p.block(indent, "· ", r.Message, plain)
			continue
		}
		head := "· " + Harmless(r.Message)
		if p.fits(": ", r.File, r.Line, p.width-indent-utf8.RuneCountInString(head)) {
			p.line(strings.Repeat(" ", indent) + head + ": " + p.place(r.File, r.Line))
		} else {
			p.block(indent, "· ", r.Message+":", plain)
			p.line(strings.Repeat(" ", indent+2) + p.place(r.File, r.Line))
		}
		p.quote(indent+2, r.File, r.Line)
	}
	p.picture(f.Picture)
}

// consequenceLines are as many as are shown of what comes of an error that is told in full, unless a sentence is
// longer.
const consequenceLines = 3

// consequence says where an error comes from, and what should have been: the other sentences where there is room. What
// is the same as another error says nothing new.
func (p *printer) consequence(f verdict.Finding) {
	lead := "└ "
	width := p.width - indent - utf8.RuneCountInString(lead)
	said := sentences(Harmless(f.Message))
	if f.Follows.Same {
		said = nil
	}
	origin := f.Origin()
	lines := Wrap(origin+".", width)
	for i := range said {
		more := Wrap(origin+": "+strings.Join(said[:i+1], " "), width)
		if len(more) > consequenceLines && i > 0 {
			break
		}
		lines = more
	}
	should := slices.IndexFunc(said, func(s string) bool { return strings.Contains(s, " should") })
	if shown := strings.Join(lines, " "); should > 0 && !strings.Contains(shown, " should") {
		lines = Wrap(origin+": "+said[should], width)
	}
	for _, l := range lines {
		p.line(strings.Repeat(" ", indent) + lead + p.palette.dim(l))
		lead = "  "
	}
}

// picture shows a drawing as it is.
func (p *printer) picture(text string) {
	if text == "" {
		return
	}
	p.line("")
	for _, l := range strings.Split(strings.TrimRight(Harmless(text), "\n"), "\n") {
		p.line(strings.Repeat(" ", indent) + clip(l, p.width-indent))
	}
}

// place is how editors and terminals like a position: they make it a link.
func place(file string, line int) string {
	if line == 0 {
		return file
	}
	return fmt.Sprintf("%s:%d", file, line)
}

// place is a position as a terminal shows it.
func (p *printer) place(file string, line int) string {
	text := p.palette.place(place(file, line))
	if p.links {
		return link(file, line, text)
	}
	return text
}

// fits reports whether there is room for a position behind what leads to it. A position is never broken, so that it can
// be clicked.
func (p *printer) fits(lead, file string, line, room int) bool {
	return utf8.RuneCountInString(lead+place(file, line)) <= room
}

// quote shows the line that a finding is about.
func (p *printer) quote(indent int, file string, line int) {
	text := strings.TrimSpace(Harmless(p.source(file, line)))
	if text == "" {
		return
	}
	lead := fmt.Sprintf("%s%5d │ ", strings.Repeat(" ", indent), line)
	p.line(p.palette.dim(lead) + p.palette.code(clip(text, p.width-utf8.RuneCountInString(lead))))
}

// measurements is a table: the figure, the interval it lies in, and the limit where there is one.
func (p *printer) measurements(ms []verdict.Measurement) {
	rows := make([][5]string, len(ms))
	var widths [5]int
	for i, m := range ms {
		rows[i] = [5]string{m.Name, number(m.Value), m.Unit}
		if m.Low != m.High {
			rows[i][3] = number(m.Low) + " to " + number(m.High)
		}
		if m.Limit != 0 {
			rows[i][4] = "limit " + number(m.Limit)
		}
		for j, cell := range rows[i] {
			widths[j] = max(widths[j], utf8.RuneCountInString(cell))
		}
	}
	for _, row := range rows {
		// Numbers end below one another; the rest begins there.
		figure := strings.Repeat(" ", widths[1]-utf8.RuneCountInString(row[1])) + row[1]
		text := pad(row[0], widths[0]) + "  " + figure + " " + pad(row[2], widths[2])
		if widths[3] > 0 {
			text += "  " + pad(row[3], widths[3])
		}
		text = strings.TrimRight(text+"  "+row[4], " ")
		p.line(strings.Repeat(" ", indent) + p.palette.dim(clip(text, p.width-indent)))
	}
}

// output sets apart what the student's code printed.
func (p *printer) output() {
	text := strings.TrimRight(p.report.Output, "\n")
	if text == "" {
		return
	}
	p.line("")
	p.line("Your code printed:")
	lines := strings.Split(Harmless(text), "\n")
	for i, l := range lines {
		if i == outputLines && len(lines) > outputLines+1 {
			p.line(p.palette.dim(fmt.Sprintf("  … and %d more lines (--json has them)", len(lines)-outputLines)))
			return
		}
		p.line(p.palette.dim("  │ ") + clip(l, p.width-4))
	}
}
