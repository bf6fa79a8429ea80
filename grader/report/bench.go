package report

import (
	"io"
	"strings"
	"unicode/utf8"

	"cudalab/grader/judge/visible"
	"cudalab/grader/suite/verdict"
)

// BenchJSON writes the figures as one indented JSON document. Lists that are empty are [], never null.
func BenchJSON(w io.Writer, r verdict.BenchReport) error {
	if r.Workloads == nil {
		r.Workloads = []verdict.Comparison{}
	}
	if r.Findings == nil {
		r.Findings = []verdict.Finding{}
	}
	return visible.WriteJSON(w, r)
}

// Bench writes the figures for a person to read: a table whose rows are the contenders, workload by workload. Where the
// terminal is too narrow for all columns the intervals go first, then the ratios.
func Bench(w io.Writer, r verdict.BenchReport, o Options) error {
	p := newPrinter(verdict.Report{Exercise: r.Exercise, Device: r.Device, Output: r.Output}, o)
	p.headline()
	if len(r.Workloads) > 0 {
		p.line("")
		p.workloads(r.Workloads)
	}
	for _, f := range r.Findings {
		p.line("")
		p.finding(f)
	}
	p.output()
	if note := ClockNote(r); note != "" {
		p.line("")
		p.block(0, "", note, p.palette.dim)
	}
	if r.Message != "" {
		p.line("")
		p.block(0, "", r.Message, p.palette.bold)
	}
	if r.Next != "" {
		p.block(0, "Next: ", r.Next, plain)
	}
	_, err := w.Write(p.text.Bytes())
	return err
}

// The columns of the table; those further right are dropped first where there is no room.
const (
	columnName = iota
	columnMedian
	columnRatio
	columnInterval
	columns
)

const (
	rowIndent = 2
	apart     = "   " // between columns
)

var benchHead = [columns]string{"", "median", "to the solution", "99 % interval"}

// workloads writes the table.
func (p *printer) workloads(ws []verdict.Comparison) {
	var widths [columns]int
	widen := func(row [columns]string) {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	widen(benchHead)
	for _, w := range ws {
		for _, s := range w.Standings {
			widen(benchRow(w, s))
		}
	}
	shown, total := 0, rowIndent-len(apart)
	for shown < columns && (shown <= columnMedian || total+len(apart)+widths[shown] <= p.width) {
		total += len(apart) + widths[shown]
		shown++
	}
	row := func(cells [columns]string, style func(a ...any) string) {
		text := strings.Repeat(" ", rowIndent) + pad(cells[columnName], widths[columnName])
		for i := columnMedian; i < shown; i++ {
			gap := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cells[i]))
			text += apart + gap + cells[i]
		}
		p.line(style(clip(strings.TrimRight(text, " "), p.width)))
	}
	row(benchHead, p.palette.dim)
	for i, w := range ws {
		if i > 0 {
			p.line("")
		}
		p.block(0, "", w.Name+", per "+w.Operation, p.palette.bold)
		for _, s := range w.Standings {
			style := plain
			if s.Contender == verdict.Yours {
				style = p.palette.code
			}
			row(benchRow(w, s), style)
		}
		if again := i+1 < len(ws) && ws[i+1].Note == w.Note; w.Note != "" && !again {
			p.block(rowIndent, "", w.Note, p.palette.dim)
		}
	}
}

// benchRow is the cells of one contender's line.
func benchRow(w verdict.Comparison, s verdict.Standing) (row [columns]string) {
	scale, unit := ScaleOf(s.Value, w.Unit)
	row[columnName] = s.Contender
	row[columnMedian] = number(s.Value/scale) + " " + pad(unit, 2)
	if s.Clock == verdict.CPU {
		row[columnName] += " *"
	}
	if s.Ratio != nil {
		row[columnRatio] = number(s.Ratio.Value) + " x"
	}
	if low, high := number(s.Low/scale), number(s.High/scale); low != high {
		row[columnInterval] = low + " to " + high
	}
	return row
}

// ScaleOf is the unit that a figure is best written in, and how many of the workload's units that is.
func ScaleOf(v float64, unit string) (scale float64, name string) {
	if unit != verdict.Nanoseconds {
		return 1, unit
	}
	for _, u := range []struct {
		scale float64
		name  string
	}{{1e9, "s"}, {1e6, "ms"}, {1e3, "µs"}} {
		if v >= u.scale {
			return u.scale, u.name
		}
	}
	return 1, "ns"
}

// Written is a figure in the unit that it is best written in: "21.5 ns".
func Written(v float64, unit string) string {
	scale, name := ScaleOf(v, unit)
	return number(v/scale) + " " + name
}

// Number is a figure without a unit, with three significant digits.
func Number(v float64) string { return number(v) }

// ClockNote says in sentences what the times were taken with.
func ClockNote(r verdict.BenchReport) string {
	clocks := map[verdict.Clock]bool{}
	for _, w := range r.Workloads {
		for _, s := range w.Standings {
			clocks[s.Clock] = true
		}
	}
	var notes []string
	if clocks[verdict.Wall] {
		notes = append(notes, "Times are the host's, by its monotonic clock; the contenders took turns in random order.")
	}
	if clocks[verdict.Virtual] {
		notes = append(notes, "There is no GPU in these figures: times are of the simulated device's virtual clock, by what "+
			"each CUDA call costs on the GPU that it simulates.")
	}
	if clocks[verdict.CPU] {
		notes = append(notes, "Lines with * make no CUDA call, which is all that the virtual clock counts; they are timed "+
			"by this machine's CPU time, and have no ratio to the others.")
	}
	return strings.Join(notes, " ")
}
