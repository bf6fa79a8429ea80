package page

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"cudalab/grader/report/look"
	"cudalab/grader/report/timeline"
	"cudalab/native/device"
	"cudalab/native/trace"
)

// sceneFigure is one call of the code under test: what the host and the streams were at, and the memory meanwhile, all
// on one axis. Calls that findings are about carry their numbers.
type sceneFigure struct {
	ID, Answer, Summary string
	Pins                axis // the numbers of findings
	Runs                []runLanes
	Axis                axis
	Pools               []*atOnce
	Legend              []style
	Calls               []sceneCall
	Left                string // what is left out
}

type sceneCall struct{ Name, Link, Place, When, Took, Device, Finding string }

const (
	hostName   = "host"
	mostCalls  = 48 // in a table
	mostMemory = 8  // of streams, and of addresses
)

// sceneDrawing is a figure in the making.
type sceneDrawing struct {
	*sceneFigure
	t        *timeline.Timeline
	s        timeline.Scene
	from, to int64
	faults   map[int]string // by call: the number of its finding
	link     func(*timeline.Call) string
}

// drawScene draws a scene; of the findings in it card tells the numbers.
func (p *content) drawScene(id string, t *timeline.Timeline, s timeline.Scene) *sceneFigure {
	d := sceneDrawing{sceneFigure: &sceneFigure{ID: id}, t: t, s: s, faults: map[int]string{}, link: p.linkOf}
	d.Answer = t.Case + ": " + s.Label
	for _, n := range s.Faults {
		fault := t.Faults[n]
		card := p.card(fault, t)
		if card == nil {
			continue
		}
		if len(d.faults) == 0 {
			d.Answer = fmt.Sprintf("%s, in %s", t.Title(&t.Calls[fault.At]), d.Answer)
		}
		for _, call := range []int{fault.At, fault.Other} {
			if number := fmt.Sprint(card.N); d.faults[call] == "" {
				d.faults[call] = number
			} else if !strings.Contains(d.faults[call], number) {
				d.faults[call] += "," + number
			}
		}
	}
	d.window()
	d.Axis = newAxis(d.to - d.from)
	d.streams()
	d.memory()
	d.pools()
	d.table()
	d.Legend = present([]style{{"kernel", "", "kernel"}, {"copy", "", "copy, memset"}, {"alloc", "", "allocation"},
		{"free", "", "free"}, {"host", "", "host: a call"}, {"wait", "", "the host waits"}, {"piece", "", "memory"},
		{"grader", "", "the grader's"}, {"fault", "", "in a finding"}}, d.Runs)
	return d.sceneFigure
}

// linkOf leads to the line of a call.
func (p *content) linkOf(c *timeline.Call) string {
	if len(c.Places) == 0 {
		return ""
	}
	return p.sources.link(c.Places[0].File, c.Places[0].Line)
}

// window is from the first call of the code under test to the end of its work; of many calls those around the first
// that a finding is about.
func (d *sceneDrawing) window() {
	if all := d.s.To - d.s.From; all > mostCalls {
		first := d.s.From
		for i := d.s.To - 1; i >= d.s.From; i-- {
			if d.faults[i] != "" {
				first = i
			}
		}
		d.s.From = min(max(first-mostCalls/2, d.s.From), d.s.To-mostCalls)
		d.s.To = d.s.From + mostCalls
		d.Left = fmt.Sprintf(" %d of %d calls are drawn; --trace FILE writes all of them.", mostCalls, all)
	}
	calls := d.t.Calls[d.s.From:d.s.To]
	own := slices.DeleteFunc(slices.Clone(calls), func(c timeline.Call) bool { return len(c.Places) == 0 })
	if len(own) == 0 {
		own = calls
	}
	d.from, d.to = own[0].Time, own[0].Time+1
	for i := range own {
		d.to = max(d.to, own[i].End, own[i].Time+own[i].Took)
	}
}

func (d *sceneDrawing) at(v int64) float64 { return float64(v-d.from) / float64(d.to-d.from) }

// box is a stretch of time of a call, or of what it made.
func (d *sceneDrawing) box(call int, from, to int64, class string, labels ...string) box {
	c := &d.t.Calls[call]
	tip := []string{d.t.Title(c), look.Duration(to - from)}
	if c.Code != 0 {
		tip = append(tip, "answered "+device.Code(c.Code).String())
	}
	if line := c.Line(); line != "" {
		tip = append(tip, line)
	} else {
		class += " grader"
		tip = append(tip, "the grader's own call")
	}
	b := box{From: d.at(from), Width: d.at(to) - d.at(from), Class: class, Kind: labels[len(labels)-1], Labels: labels,
		Tip: strings.Join(tip, ", ")}
	if number := d.faults[call]; number != "" {
		b.Class += " fault"
		b.Tip += ", in finding " + number
	}
	return b
}

// add puts lanes into a part of the figure.
func (d *sceneDrawing) add(part *runLanes, name string, boxes []box) {
	boxes = fewer(joined("host", clipped(sorted(boxes))))
	part.Lanes = append(part.Lanes, newLane(name, boxes))
}

// streams draws what the host and the device's streams were at.
func (d *sceneDrawing) streams() {
	x := runLanes{Name: "What the streams did"}
	var host []box
	for i := d.s.From; i < d.s.To; i++ {
		c := &d.t.Calls[i]
		class := "host"
		if d.t.Trace.Records[c.Record].Phase == trace.Enter {
			class = "wait"
		}
		host = append(host, d.box(i, c.Time, c.Time+c.Took, class, short(c.Op)))
		if number := d.faults[i]; number != "" {
			d.pin(max(min(d.at(c.Time), 1), 0), number)
		}
	}
	d.add(&x, hostName, host)
	for _, st := range d.t.Streams {
		var boxes []box
		for i := d.s.From; i < d.s.To; i++ {
			if c := &d.t.Calls[i]; c.Work && c.Code == 0 && c.Stream == st.ID {
				name := styleOf(c.Op).Name
				if c.Op == trace.OpLaunch {
					name = c.Name
				}
				boxes = append(boxes, d.box(i, c.Start, c.End, styleOf(c.Op).Class, name))
			}
		}
		if len(boxes) > 0 {
			d.add(&x, st.Name[strings.LastIndexByte(st.Name, '.')+1:], boxes)
		}
	}
	x.Said = said(x.Lanes)
	d.Runs = append(d.Runs, x)
	if d.s.Overlap > 0 {
		d.Summary = fmt.Sprintf("Your work ran in several streams at the same time for %s.", look.Duration(d.s.Overlap))
	}
}

// pin marks a moment with the number of a finding; pins that would cover each other are one.
func (d *sceneDrawing) pin(at float64, number string) {
	const apart = 8 // percent
	if n := len(d.Pins); n > 0 && share(at)-d.Pins[n-1].At < apart {
		if !strings.Contains(d.Pins[n-1].Label, number) {
			d.Pins[n-1].Label += "," + number
		}
		return
	}
	d.Pins = append(d.Pins, *limitAt(at, number))
}

// memory draws the life of the blocks of the code under test, a lane for each address.
func (d *sceneDrawing) memory() {
	lanes := map[uint64][]box{}
	for _, b := range d.t.Blocks {
		alive := b.Student && b.Made < d.s.To && (b.Freed < 0 || b.Freed >= d.s.From) && b.From < d.to && b.Until > d.from
		if alive && (b.Kind == timeline.DeviceMemory || b.Kind == timeline.Mapping) {
			lanes[b.Addr] = append(lanes[b.Addr], d.box(b.Made, b.From, b.Until, "piece", bytes(b.Size)))
		}
	}
	var addrs []uint64
	for a := range lanes {
		addrs = append(addrs, a)
	}
	slices.Sort(addrs)
	// Those that findings are about come first where not all can be drawn.
	if len(addrs) > mostMemory {
		rank := func(a uint64) int {
			return slices.Index([]bool{true, false}, slices.ContainsFunc(lanes[a], box.faulty))
		}
		slices.SortStableFunc(addrs, func(a, b uint64) int { return cmp.Compare(rank(a), rank(b)) })
	}
	x := runLanes{Name: "Memory", Note: "A lane is an address; what it holds is there from its allocation to its free."}
	if more := len(addrs) - mostMemory; more > 0 {
		addrs = addrs[:mostMemory]
		x.Note += fmt.Sprintf(" %d more are not drawn.", more)
	}
	for i, a := range addrs {
		d.add(&x, "at "+letterOf(i), lanes[a])
	}
	if x.Said = said(x.Lanes); len(x.Lanes) > 0 {
		d.Runs = append(d.Runs, x)
	}
}

// pools draws what the pools said of their sizes meanwhile.
func (d *sceneDrawing) pools() {
	type series struct {
		pool     trace.ID
		reserved bool
	}
	values := map[series][]level{}
	var order []series
	for _, l := range d.t.Levels {
		s := series{l.Pool, l.Reserved}
		if l.Time > d.to {
			break
		}
		if !slices.Contains(order, s) {
			order = append(order, s)
		}
		if len(values[s]) == 1 && l.Time <= d.from {
			values[s] = nil // of those before the scene only the last matters
		}
		values[s] = append(values[s], level{max(l.Time-d.from, 0), int(l.Bytes)})
	}
	for _, s := range order {
		most := slices.MaxFunc(values[s], func(a, b level) int { return cmp.Compare(a.count, b.count) }).count
		if most == 0 {
			continue
		}
		name, what := "The default pool", "what is handed out of it"
		if s.pool != 0 {
			name = fmt.Sprintf("Pool %d of the case", s.pool)
		}
		if s.reserved {
			what = "what it holds"
		}
		last := values[s][len(values[s])-1].count
		d.Pools = append(d.Pools, &atOnce{ID: fmt.Sprintf("%s-p%d", d.ID, len(d.Pools)), Title: name + ": " + what,
			Most: bytes(int64(most)), Path: area(values[s], most, d.to-d.from),
			Said: fmt.Sprintf("At the most %s, in the end %s.", bytes(int64(most)), bytes(int64(last)))})
	}
}

// table lists the calls.
func (d *sceneDrawing) table() {
	for i := d.s.From; i < d.s.To; i++ {
		c := &d.t.Calls[i]
		row := sceneCall{Name: d.t.Title(c), Link: d.link(c), Place: c.Line(), Finding: d.faults[i], Device: "–",
			When: "+" + look.Duration(max(c.Time-d.from, 0)), Took: look.Duration(c.Took)}
		if c.Work && c.Measured && c.Code == 0 {
			row.Device = fmt.Sprintf("+%s, %s", look.Duration(max(c.Start-d.from, 0)), look.Duration(c.End-c.Start))
		}
		d.Calls = append(d.Calls, row)
	}
}

// boxes is how many a figure has.
func (f *sceneFigure) boxes() (n int) {
	for _, r := range f.Runs {
		for _, l := range r.Lanes {
			n += len(l.Boxes)
		}
	}
	return n
}

// drawn is equal for figures that look the same.
func (f *sceneFigure) drawn() string {
	var b strings.Builder
	for _, r := range f.Runs {
		for _, l := range r.Lanes {
			b.WriteString(l.Name)
			for _, x := range l.Boxes {
				fmt.Fprint(&b, x.Left(), x.Wide(), x.Class, x.Labels)
			}
		}
	}
	for _, p := range f.Pools {
		b.WriteString(p.Path)
	}
	return b.String()
}

// present are the kinds of boxes that are drawn.
func present(names []style, parts []runLanes) []style {
	there := map[string]bool{}
	for _, p := range parts {
		for _, l := range p.Lanes {
			for _, b := range l.Boxes {
				for _, class := range strings.Fields(b.Class) {
					there[class] = true
				}
			}
		}
	}
	return slices.DeleteFunc(names, func(s style) bool { return !there[s.Class] })
}
