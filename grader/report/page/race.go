package page

import (
	"fmt"
	"slices"
	"strings"

	"cudalab/grader/report/look"
	"cudalab/grader/report/timeline"
	"cudalab/grader/suite/verdict"
	"cudalab/native/trace"
)

// raceFigure is the student's run of what is timed above the solution's: how long both took, and what they were at.
type raceFigure struct {
	ID, Times, Answer string
	How               []string
	bars                         // both runs on one axis
	Figures           []tableRow // of a run that is fast
	AtOnce            *atOnce
	Wedge             px // how much of the axis is enlarged below, in percent; 0 where all of it is drawn
	Enlarged          string
	Runs              []runLanes
	Axis              axis
	Legend            []style
	Columns           []string
	Table             []tableRow
	at                verdict.Place // the line that has the most of it
}

// line is the one that has the most of the time; nil where there is no such.
func (f *raceFigure) line() *verdict.Place {
	if f == nil || f.at.Line == 0 {
		return nil
	}
	return &f.at
}

type lanes struct {
	Said  string // for those who cannot see them
	Lanes []lane
}

type runLanes struct {
	lanes
	Name, Note string
}

type tableRow struct {
	Name   string
	Values []string
}

// What is enlarged: of a run that takes so many times as long as the solution's so many of the solution's lengths.
const (
	enlargedFrom  = 4
	enlargedParts = 1.7
)

// raceOf are the runs of a function in the races that were carried out for pictures: the student's, then the
// solution's.
func (p *content) raceOf(function string) (yours, solution *timeline.Run) {
	for _, t := range p.races {
		for _, r := range t.Runs() {
			name, who := "", r.Name
			if f, w, found := strings.Cut(r.Name, ": "); found {
				name, who = f, w
			}
			switch {
			case name != function:
			case who == verdict.Yours:
				yours = &r
			case who == verdict.Solution:
				solution = &r
			}
		}
		if yours != nil {
			return yours, solution
		}
	}
	return nil, nil
}

// slowest draws what the time of a finding went to, and marks the line that has the most of it.
func (p *content) slowest(n int, f verdict.Finding) *raceFigure {
	function := f.Function
	switch f.Rule {
	case "too-slow":
	case "host-wait": // which is found before anything is timed
		function = ""
	default:
		return nil
	}
	yours, solution := p.raceOf(function)
	if yours == nil || solution == nil || yours.Took() <= 0 || solution.Took() <= 0 {
		return nil
	}
	d := raceDrawing{yours: yours, solution: solution}
	d.fig = &raceFigure{ID: p.At(fmt.Sprintf("race%d", n)), bars: bars{Slow: true}}
	d.cost, d.known = timeline.CostOf(yours, solution)
	if f.Rule == "host-wait" {
		if !d.known || d.cost.Kind != timeline.HostWaits || d.cost.Place.File != f.File || d.cost.Place.Line != f.Line {
			return nil
		}
		d.fig.Times = fmt.Sprintf("%.1f×: ", float64(yours.Took())/float64(solution.Took()))
	}
	if ratio := ratioOf(p.Report.Checks, f.Function); ratio != nil {
		d.fig.Times = fmt.Sprintf("%.3g×: ", ratio.Value)
		at := ratio.Limit * float64(solution.Took()) / float64(max(yours.Took(), solution.Took()))
		if at < 1 {
			d.fig.Limit = limitAt(at, fmt.Sprintf("limit %g×", ratio.Limit))
		}
	}
	d.tell()
	d.whole()
	d.window()
	d.table()
	if c := d.cost; d.known && c.Place.Line > 0 {
		d.fig.at = c.Place
		p.sources.at(c.Place.File, c.Place.Line, lineMark{n, p.anchor(n), d.mark, string(f.Severity)})
	}
	return d.fig
}

// ratioOf is the measurement of a function's time over the solution's.
func ratioOf(checks []verdict.Check, function string) *verdict.Measurement {
	name := "time / solution's time"
	if function != "" {
		name = function + ": " + name
	}
	for _, c := range checks {
		for i, m := range c.Measurements {
			if m.Name == name {
				return &c.Measurements[i]
			}
		}
	}
	return nil
}

// raceDrawing is a figure in the making.
type raceDrawing struct {
	yours, solution *timeline.Run
	cost            timeline.Cost
	known           bool // cost is
	mark            string
	fig             *raceFigure
	copies          bool // there are some: lanes are engines; else they are streams
}

// tell says what costs the time.
func (d *raceDrawing) tell() {
	c, f := d.cost, d.fig
	took, line := look.Duration(d.yours.Took()), fmt.Sprintf("line %d", c.Place.Line)
	part := look.Duration(c.Spent) + " of " + took
	atOnce := fmt.Sprintf("Streams with work at once, on average: %s, in the solution's run %s.",
		tenths(d.yours.AtOnce()), tenths(d.solution.AtOnce()))
	switch {
	case !d.known:
		f.Answer = fmt.Sprintf("%s instead of %s", took, look.Duration(d.solution.Took()))
		f.How = append(f.How, "No single line has most of what the solution does not need. "+atOnce)
	case c.Kind == timeline.SlowKernel:
		f.Answer = fmt.Sprintf("%s are the kernel %s, launched in %s", part, c.Name, line)
		d.mark = part + ": " + verdict.Count(c.Count, "launch", "launches")
		if c.Block > 0 {
			f.Answer += " with " + look.Plural(int(c.Block), "thread") + " to a block"
			d.mark += ", " + look.Plural(int(c.Block), "thread") + " to a block"
		}
		f.How = append(f.How, fmt.Sprintf("Of %d launches each has %s of that on average. The solution's %d have %s each.",
			c.Count, look.Duration(c.Spent/int64(max(c.Count, 1))), c.Other,
			look.Duration((c.Spent-c.Lost)/int64(max(c.Other, 1)))))
	case c.Kind == timeline.ManyKernels:
		f.Answer = fmt.Sprintf("%s are %d launches of %s in %s", part, c.Count, c.Name, line)
		f.How = append(f.How, fmt.Sprintf("The solution launches it %s.", times(c.Other)))
		d.mark = fmt.Sprintf("%s: %d launches", part, c.Count)
	case c.Kind == timeline.HostWaits:
		f.Answer = fmt.Sprintf("%s the host waits in %s, %s", part, line, times(c.Count))
		f.How = append(f.How, "Each striped bar on the host is one wait. Meanwhile it enqueues nothing. "+atOnce)
		d.mark = part + ": the host waits " + times(c.Count)
	case c.Kind == timeline.Copies:
		f.Answer = fmt.Sprintf("%s only copies or memsets are under way, of %s in %s", part, c.Name, line)
		f.How = append(f.How, atOnce)
		d.mark = part
	case c.Kind == timeline.HostCalls:
		f.Answer = fmt.Sprintf("%s are %d calls of %s in %s", part, c.Count, c.Name, line)
		f.How = append(f.How, fmt.Sprintf("The solution calls %s %s.", c.Name, times(c.Other)))
		d.mark = fmt.Sprintf("%s: %d calls", part, c.Count)
	case c.Kind == timeline.StreamWaits:
		f.Answer = fmt.Sprintf("the streams wait for each other in %s, %s", line, times(c.Count))
		f.How = append(f.How, "So they work by turns. Each striped bar is a stream that waits. "+atOnce)
		d.mark = "the streams wait for each other here, " + times(c.Count)
	case c.Kind == timeline.OneStream:
		f.Answer = fmt.Sprintf("all work waits in %s, most of it from %s", c.Name, line)
		f.How = append(f.How, atOnce)
		d.mark = "into " + c.Name
	}
}

func tenths(v float64) string { return fmt.Sprintf("%.1f", v) }

func times(n int) string {
	switch n {
	case 0:
		return "never"
	case 1:
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// whole draws both runs as bars, in the student's the costly part first.
func (d *raceDrawing) whole() {
	most := max(d.yours.Took(), d.solution.Took())
	of := func(v int64) float64 { return float64(v) / float64(most) }
	short := look.Duration(d.yours.Took())
	class, costly := "kernel", d.cost.Spent
	switch d.cost.Kind {
	case timeline.HostWaits:
		class = "wait"
	case timeline.Copies:
		class = "copy"
	case timeline.HostCalls:
		class = "host"
	case timeline.StreamWaits, timeline.OneStream:
		costly = d.cost.Lost
	}
	var mine []box
	switch {
	case !d.known:
		mine = []box{{Width: of(d.yours.Took()), Class: "kernel", Labels: []string{short}}}
	case d.cost.Kind >= timeline.StreamWaits:
		mine = []box{{Width: of(d.yours.Took() - costly), Class: "kernel"}, {From: of(d.yours.Took() - costly),
			Width: of(costly), Class: "kernel fault",
			Labels: []string{look.Duration(costly) + " longer, by turns", look.Duration(costly) + " longer", "longer"}}}
	default:
		percent := look.Figure(float64(100*costly/max(d.yours.Took(), 1))) + " %"
		name := d.cost.Name
		if d.cost.Kind == timeline.HostWaits {
			name = "the host waits"
		}
		mine = []box{{Width: of(costly), Class: class + " fault", Labels: []string{
			name + " " + look.Duration(costly) + ": " + percent + " of the run",
			look.Duration(costly) + ": " + percent, percent}},
			{From: of(costly), Width: of(d.yours.Took() - costly), Class: "host"}}
	}
	its := of(d.solution.Took())
	took := look.Duration(d.solution.Took())
	solution := barTo(its, map[bool]string{true: "host", false: "kernel"}[class == "host"], took)
	d.fig.Whole = lanes{fmt.Sprintf("Yours took %s, the solution %s.", short, took),
		[]lane{newLane("yours", mine), newLane("solution", solution)}}
	d.fig.WholeAxis = newAxis(most)
}

// window draws what both were at, on one scale.
func (d *raceDrawing) window() {
	f := d.fig
	length := max(d.yours.Took(), d.solution.Took())
	if whole := length; d.solution.Took()*enlargedFrom < whole {
		length = int64(enlargedParts * float64(d.solution.Took()))
		f.Wedge = share(float64(length) / float64(whole))
		f.Enlarged = fmt.Sprintf("The first %s of both, enlarged %d times", look.Duration(length), whole/length)
	}
	d.lay(length, d.yours, d.solution)
}

// lay draws the lanes of some runs up to a time.
func (d *raceDrawing) lay(length int64, runs ...*timeline.Run) {
	f := d.fig
	f.Axis = newAxis(length)
	d.copies = d.has(timeline.CopyIn) || d.has(timeline.CopyOut)
	for _, r := range runs {
		x := runLanes{Name: r.Name[strings.LastIndex(r.Name, " ")+1:]}
		if length < r.Took() {
			x.Note = fmt.Sprintf("goes on until %s", look.Duration(r.Took()))
		} else {
			x.Note = fmt.Sprintf("done after %s", look.Duration(r.Took()))
		}
		x.Lanes = d.lanesOf(r, length)
		x.Said = x.Name + ", " + x.Note + ". " + said(x.Lanes)
		f.Runs = append(f.Runs, x)
	}
	f.Legend = present([]style{{"kernel", "", "kernel"}, {"copy", "", "copy, memset"}, {"host", "", "host: a call"},
		{"wait", "", "waits"}, {"fault", "", "what costs the time"}}, f.Runs)
}

func (d *raceDrawing) has(e timeline.Engine) bool {
	return len(d.yours.Lane(e))+len(d.solution.Lane(e)) > 0
}

// lanesOf are a run's, up to a time behind its beginning.
func (d *raceDrawing) lanesOf(r *timeline.Run, length int64) (all []lane) {
	at := func(v int64) float64 { return float64(v-r.Began) / float64(length) }
	add := func(name string, boxes []box) {
		for i := range boxes {
			if b := &boxes[i]; b.From < 1 && b.From+b.Width > 1 {
				b.Class += " on" // it goes on beyond the end
				for j := range b.Labels {
					b.Labels[j] += " →"
				}
			}
		}
		all = append(all, newLane(name, fewer(joined("host", clipped(sorted(boxes))))))
	}
	place := func(b timeline.Busy) box {
		c := &r.Calls[b.Call]
		x := box{From: at(b.From), Width: at(b.To) - at(b.From), Class: "kernel",
			Tip: strings.Join(slices.DeleteFunc([]string{c.Name, look.Duration(b.To - b.From), c.Line()},
				func(s string) bool { return s == "" }), ", ")}
		switch {
		case b.Waits:
			x.Class = "wait"
			if len(c.Places) > 0 {
				x.Labels = []string{fmt.Sprintf("line %d", c.Places[0].Line)}
			}
		case c.Op != trace.OpLaunch:
			x.Class = "copy"
		}
		if r == d.yours && d.known && d.cost.Calls[b.Call] && d.cost.Kind < timeline.OneStream {
			x.Class += " fault"
		}
		return x
	}
	var host []box
	for _, b := range r.Lane(timeline.Host) {
		x := place(b)
		if !b.Waits {
			x.Class = "host"
			if r == d.yours && d.known && d.cost.Kind == timeline.HostCalls && d.cost.Calls[b.Call] {
				x.Class += " fault"
			}
		}
		host = append(host, x)
	}
	add(hostName, host)
	if d.copies {
		for e := timeline.CopyIn; e < timeline.NoEngine; e++ {
			if d.has(e) {
				add(e.String(), d.numbered(r, r.Lane(e), place))
			}
		}
		return all
	}
	names, lanes, waits := r.Streams()
	for i := range names {
		boxes := d.numbered(r, lanes[i], place)
		for _, w := range waits[i] {
			boxes = append(boxes, place(w))
		}
		add(names[i], boxes)
	}
	return all
}

// numbered has each kind of work be told by its number.
func (d *raceDrawing) numbered(r *timeline.Run, all []timeline.Busy, place func(timeline.Busy) box) (boxes []box) {
	count, number := map[string]int{}, map[int]int{}
	for i := range r.Calls {
		number[i] = count[r.Calls[i].Name]
		count[r.Calls[i].Name]++
	}
	for _, b := range all {
		x, n := place(b), number[b.Call]
		x.Kind = r.Calls[b.Call].Name
		x.Labels = []string{fmt.Sprint(n)}
		if r.Calls[b.Call].Op == trace.OpLaunch {
			x.Labels = []string{fmt.Sprintf("%s %d: %s", r.Calls[b.Call].Name, n, look.Duration(b.To-b.From)),
				fmt.Sprintf("%s %d", r.Calls[b.Call].Name, n), fmt.Sprint(n)}
		}
		boxes = append(boxes, x)
	}
	return boxes
}

// said tells lanes to those who do not see them.
func said(all []lane) string {
	var texts []string
	for _, l := range all {
		faults, sum := 0, 0.0
		for _, b := range l.Boxes {
			sum += b.Width
			if b.faulty() {
				faults++
			}
		}
		text := fmt.Sprintf("%s: %s, %s %% of what is drawn", l.Name, look.Plural(len(l.Boxes), "bar"),
			look.Figure(float64(int(100*sum))))
		if faults > 0 {
			text += fmt.Sprintf(", %d of them what costs the time", faults)
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, "; ") + "."
}

func (d *raceDrawing) table() {
	f := d.fig
	f.Columns = []string{"yours", "solution"}
	mine, its := d.yours.Spent(), d.solution.Spent()
	row := func(name string, a, b int64) {
		f.Table = append(f.Table, tableRow{name, []string{look.Duration(a), look.Duration(b)}})
	}
	for u, name := range []string{"the host waits", "else: kernels", "else: copies, memsets", "else: the host calls CUDA",
		"nothing of these"} {
		if mine.By[u]+its.By[u] > 0 {
			row(name, mine.By[u], its.By[u])
		}
	}
	row("the code had returned after", d.yours.Returned-d.yours.Began, d.solution.Returned-d.solution.Began)
	row("all work was done after", d.yours.Took(), d.solution.Took())
	f.Table = append(f.Table, tableRow{"streams with work at once, on average",
		[]string{tenths(d.yours.AtOnce()), tenths(d.solution.AtOnce())}})
}
