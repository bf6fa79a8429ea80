package page

import (
	"fmt"
	"slices"
	"strings"

	"cudalab/grader/report/look"
	"cudalab/grader/report/timeline"
	"cudalab/grader/suite/verdict"
)

// atOnce is a count over time as an area: in how many streams the device worked, how large a pool was.
type atOnce struct {
	ID, Title, Most, Said, Path string
}

// fastBars is about how many pieces of work are drawn of a run that has many.
const fastBars = 48

// fast draws why the student's code is fast where it passed: each function's timed run.
func (p *content) fast() {
	if p.Report.Status != verdict.Passed {
		return
	}
	for _, c := range p.Report.Checks {
		for _, m := range c.Measurements {
			function, versus, ok := strings.Cut(m.Name, "speedup over ")
			if !ok {
				continue
			}
			yours, solution := p.raceOf(strings.TrimSuffix(function, ": "))
			if yours == nil || yours.Took() <= 0 || yours.AtOnce() == 0 {
				continue
			}
			if solution == nil {
				solution = yours
			}
			fig := &raceFigure{ID: p.At(fmt.Sprintf("fast%d", len(p.Fast)+1)), Times: fmt.Sprintf("%s%.3g×", function, m.Value)}
			d := raceDrawing{yours: yours, solution: solution, fig: fig}
			d.why(versus)
			p.Fast = append(p.Fast, fig)
		}
	}
}

// byTurns is how many streams have work at once, on average, in a run whose speed is nothing that streams do.
const byTurns = 1.5

// why says what the time of a fast run was made of, and draws it.
func (d *raceDrawing) why(versus string) {
	f, r := d.fig, d.yours
	names, busy, _ := r.Streams()
	steps, most, full := levels(r, busy)
	if took := look.Duration(r.Took()); r.AtOnce() < byTurns {
		spent := r.Spent()
		waiting, calling := look.Duration(spent.By[timeline.Waiting]), look.Duration(spent.By[timeline.Calling])
		f.Answer = fmt.Sprintf(" as fast as %s: of %s the host waits %s, and for %s its calls are all that goes on",
			versus, took, waiting, calling)
		f.Figures = []tableRow{{"that the host waits", []string{waiting}}, {"of calls alone", []string{calling}}}
	} else {
		f.Answer = fmt.Sprintf(" as fast as %s: the code returned after %s of %s, and on average %s streams had work", versus,
			look.Duration(r.Returned-r.Began), took, tenths(r.AtOnce()))
		f.Figures = []tableRow{
			{fmt.Sprintf("streams with work at once on average, of %d", len(names)), []string{tenths(r.AtOnce())}},
			{"of the time all of them", []string{fmt.Sprintf("%.0f %%", 100*full)}},
		}
	}
	waits := 0
	for _, b := range r.Lane(timeline.Host) {
		if b.Waits {
			waits++
		}
	}
	f.Figures = append(f.Figures, tableRow{"waits of the host", []string{fmt.Sprint(waits)}})
	length, work := r.Took(), 0
	for _, b := range busy {
		work += len(b)
	}
	if work > fastBars {
		length = length * fastBars / int64(work)
	}
	d.lay(length, r)
	f.Runs[0].Name = "your run"
	if length < r.Took() {
		f.Runs[0].Note = fmt.Sprintf("the first %s of %s; the rest goes on like this", look.Duration(length),
			look.Duration(r.Took()))
	}
	if most > 1 {
		f.AtOnce = &atOnce{
			ID: f.ID + "-at", Most: fmt.Sprint(most), Title: "In how many streams the device had work at once",
			Said: fmt.Sprintf("At the most %d, on average %s.", most, tenths(r.AtOnce())), Path: area(steps, most, length),
		}
	}
	d.table()
	if d.solution == d.yours {
		f.Columns = f.Columns[:1]
		for i := range f.Table {
			f.Table[i].Values = f.Table[i].Values[:1]
		}
	}
}

// level is how many streams have work from a time on.
type level struct {
	at    int64 // behind the beginning
	count int
}

// levels are how many streams have work at once, over a run, and what part of the time all of them have.
func levels(r *timeline.Run, busy [][]timeline.Busy) (steps []level, most int, full float64) {
	var edges []level
	for _, b := range busy {
		var until int64
		for _, w := range b {
			if from := max(w.From, until); w.To > from {
				edges = append(edges, level{from - r.Began, 1}, level{w.To - r.Began, -1})
				until = w.To
			}
		}
	}
	slices.SortStableFunc(edges, func(a, b level) int { return int(a.at - b.at) })
	now := 0
	var all int64
	for i, e := range edges {
		if now == len(busy) {
			all += e.at - edges[i-1].at
		}
		if now += e.count; now > most {
			most = now
		}
		if n := len(steps); n > 0 && steps[n-1].at == e.at {
			steps[n-1].count = now
			continue
		}
		steps = append(steps, level{e.at, now})
	}
	return steps, most, float64(all) / float64(max(r.Took(), 1))
}

// area is a path of steps up to a time, 1000 wide and 56 high. Steps that would be narrower than half a unit are one.
func area(steps []level, most int, took int64) string {
	var b strings.Builder
	b.WriteString("M0 56")
	last := -1.0
	for _, s := range steps {
		x := 1000 * float64(s.at) / float64(took)
		if x > 1000 {
			break
		}
		if x-last < 0.5 && s.count > 0 {
			continue
		}
		last = x
		fmt.Fprintf(&b, "H%vV%v", look.Round(x), look.Round(56-52*float64(s.count)/float64(max(most, 1))))
	}
	return b.String() + "H1000V56Z"
}
