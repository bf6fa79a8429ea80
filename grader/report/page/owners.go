package page

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"cudalab/grader/order"
	"cudalab/grader/report/timeline"
	"cudalab/native/trace"
)

// tenant is some bytes of an allocator's memory and the stream that they were handed out to, or given back in last.
type tenant struct {
	from, to uint64
	alloc    trace.ID // of the block; 0: it was given back
	stream   trace.ID
}

// owners is the picture of bytes that a stream gets before another is through with them: whose the pieces of the memory
// are, moment by moment, and what the streams are at.
type owners struct {
	*mapped
	at, other *timeline.Call
	tenants   []tenant
	known     []trace.ID // streams that had some of them: the first three have colours
	next      int        // the call that tenants goes up to
}

// owned draws the memory in which an allocator handed out bytes too early; nil where a fault is another.
func (p *content) owned(id string, t *timeline.Timeline, fault *timeline.Fault, number string) *mappingFigure {
	at := &t.Calls[fault.At]
	if fault.Rule != order.EarlyReuse || at.Op != trace.OpBlockAlloc || fault.Other < 0 || !t.Calls[fault.Other].InStream {
		return nil
	}
	o := owners{mapped: p.mapped(id, t), at: at, other: &t.Calls[fault.Other]}
	o.fault, o.number = fault, number
	o.from = t.Trace.Records[at.Record].Addr
	o.to = o.from + uint64(at.Size)
	i := slices.IndexFunc(t.Blocks, func(b timeline.Block) bool {
		return b.Kind == timeline.DeviceMemory && b.Made < fault.Other && (b.Freed < 0 || b.Freed > fault.At) &&
			b.Addr <= o.from && o.from < b.Addr+uint64(b.Size)
	})
	if i < 0 {
		return nil
	}
	o.whole, o.next = t.Blocks[i], t.Blocks[i].Made
	o.gather()
	o.draw()
	o.tell()
	return o.fig
}

// gather makes the rows: what the reader of the bytes found, its work, how they were given back, and who gets them.
// What lies between is one row each.
func (o *owners) gather() {
	var used trace.ID // the block that the bytes were when they were used
	for i := o.whole.Made; i < o.fault.At; i++ {
		if b, ok := o.see(i); ok && i < o.fault.Other && b.from < o.to && o.from < b.to {
			used = b.alloc
		}
	}
	for _, c := range o.t.Calls[o.whole.Made : o.fault.At+1] {
		if o.within(&c) {
			o.known = append(o.known, c.Stream)
		}
	}
	slices.Sort(o.known)
	o.known = slices.Compact(o.known)
	o.tenants = nil
	key := false
	for i := o.whole.Made; i <= o.fault.At; i++ {
		c := &o.t.Calls[i]
		gives := c.Op == trace.OpBlockFree && c.Alloc == used && i > o.fault.Other
		tells := c.Op == trace.OpEventRecord && len(c.Places) > 0 && o.givesNext(i, used)
		here := i == o.fault.At || i == o.fault.Other || gives || tells
		if !here && !o.within(c) {
			continue
		}
		n := len(o.rows)
		if n > 0 && !here && !key || n > 0 && gives && o.t.Calls[o.rows[n-1].calls[0]].Op == trace.OpEventRecord {
			o.rows[n-1].calls = append(o.rows[n-1].calls, i)
		} else {
			o.rows = append(o.rows, group{calls: []int{i}, fault: i == o.fault.At, folds: 1})
		}
		key = here
	}
	o.streams = []trace.ID{o.other.Stream, o.at.Stream}
	for _, r := range o.rows {
		for _, i := range r.calls {
			if c := &o.t.Calls[i]; c.Op == trace.OpEventRecord && !slices.Contains(o.streams, c.Stream) {
				o.streams = append(o.streams, c.Stream)
			}
		}
	}
	o.streams = slices.Compact(o.streams[:min(len(o.streams), 3)])
}

// givesNext reports whether the block is given back next of all that the allocator does.
func (o *owners) givesNext(i int, block trace.ID) bool {
	for _, c := range o.t.Calls[i+1 : o.fault.At] {
		if c.Op == trace.OpBlockAlloc || c.Op == trace.OpBlockFree {
			return c.Op == trace.OpBlockFree && c.Alloc == block && i > o.fault.Other
		}
	}
	return false
}

// within reports whether a call hands out a part of the memory or takes one back.
func (o *owners) within(c *timeline.Call) bool {
	r := &o.t.Trace.Records[c.Record]
	return (c.Op == trace.OpBlockAlloc || c.Op == trace.OpBlockFree) && c.Code == 0 && r.Addr >= o.whole.Addr &&
		r.Addr < o.whole.Addr+uint64(o.whole.Size)
}

// see takes in a call; it answers the block that it hands out, if it does.
func (o *owners) see(i int) (tenant, bool) {
	c := &o.t.Calls[i]
	if !o.within(c) {
		return tenant{}, false
	}
	addr := o.t.Trace.Records[c.Record].Addr
	if c.Op == trace.OpBlockFree {
		for k := range o.tenants {
			if x := &o.tenants[k]; x.alloc == c.Alloc {
				x.alloc, x.stream = 0, c.Stream
			}
		}
		return tenant{}, false
	}
	b := tenant{addr, addr + uint64(max(c.Size, 1)), c.Alloc, c.Stream}
	var left []tenant
	for _, x := range o.tenants {
		if x.from < b.from {
			left = append(left, tenant{x.from, min(x.to, b.from), x.alloc, x.stream})
		}
		if b.to < x.to {
			left = append(left, tenant{max(x.from, b.to), x.to, x.alloc, x.stream})
		}
	}
	o.tenants = append(left, b)
	slices.SortFunc(o.tenants, func(a, b tenant) int { return cmp.Compare(a.from, b.from) })
	return b, true
}

// draw fills in the rows.
func (o *owners) draw() {
	f := o.fig
	o.end = uint64(o.whole.Size)
	f.Title, f.Axis = bytes(o.whole.Size)+" from "+o.t.Calls[o.whole.Made].Name, bytesTo(o.end)
	for _, id := range o.streams {
		f.Lanes = append(f.Lanes, o.t.StreamName(id))
	}
	number := 1
	for k, row := range o.rows {
		for ; o.next <= row.calls[len(row.calls)-1]; o.next++ {
			o.see(o.next)
		}
		x := moment{N: fmt.Sprint(number)}
		if number += len(row.calls); len(row.calls) > 1 {
			x.N += fmt.Sprintf("–%d", number-1)
		}
		o.label(&x, row)
		o.pieces(&x, row.fault)
		if k > 0 && !row.fault {
			x.Same = x.Strip.Said == f.Moments[k-1].Strip.Said
		}
		for _, id := range o.streams {
			x.Works = append(x.Works, o.work(row, id))
		}
		f.Moments = append(f.Moments, x)
	}
}

// label says what a row is: each call with its stream, or how many there are.
func (o *owners) label(x *moment, row group) {
	var names []string
	for _, i := range row.calls {
		c := &o.t.Calls[i]
		name := o.t.Title(c)
		if !c.InStream {
			name = c.Name + " in " + o.t.StreamName(c.Stream)
		}
		names = append(names, name)
		if len(c.Places) > 0 {
			x.Link, x.Place = o.link(c), fmt.Sprintf(":%d", c.Places[0].Line)
		}
	}
	const told = 2
	if x.Calls = strings.Join(names[:min(len(names), told)], ", "); len(names) > told {
		x.Calls, x.Note = fmt.Sprintf("%d calls", len(names)), fmt.Sprintf("%s and %d more", x.Calls, len(names)-told)
		x.Link, x.Place = "", ""
	}
	if row.fault {
		x.Fault = o.number
		x.Note = fmt.Sprintf("and nothing makes %s wait for %s", o.t.StreamName(o.at.Stream), o.t.Title(o.other))
	}
}

// pieces draws whose the memory is.
func (o *owners) pieces(x *moment, wrong bool) {
	at := func(addr uint64) float64 { return float64(addr-o.whole.Addr) / float64(o.end) }
	var boxes []box
	var told []string
	pos := o.whole.Addr
	gap := func(until uint64) {
		if until > pos {
			boxes = append(boxes, box{From: at(pos), Width: at(until) - at(pos), Class: "none"})
		}
	}
	for _, p := range o.tenants {
		gap(p.from)
		pos = p.to
		name := o.t.StreamName(p.stream)
		b := box{From: at(p.from), Width: at(p.to) - at(p.from),
			Class:  fmt.Sprintf("own%d", min(slices.Index(o.known, p.stream), 3)),
			Labels: []string{"handed out in " + name, name}}
		switch {
		case wrong && p.from == o.from:
			b.Class = "wrong"
			other := o.t.StreamName(o.other.Stream)
			b.Labels = []string{"handed out in " + name + ", in use in " + other, name + " and " + other, name + " " + other}
		case p.alloc == 0:
			b.Class, b.Labels = b.Class+" given", []string{"given back in " + name, name}
		}
		b.Tip = b.Labels[0]
		told = append(told, fmt.Sprintf("%s %s", bytes(int64(p.to-p.from)), b.Labels[0]))
		boxes = append(boxes, b)
	}
	gap(o.whole.Addr + o.end)
	x.Strip = lanes{strings.Join(told, "; ") + ".", []lane{newLane("", fewer(clipped(boxes)))}}
}

// work is what a stream is at in a row: the work that still needs the bytes, and what may come too early.
func (o *owners) work(row group, id trace.ID) (cell workCell) {
	last := row.calls[len(row.calls)-1]
	switch {
	case id == o.other.Stream && last >= o.fault.Other:
		cell = workCell{Class: "kernel", Label: breakable(o.other.Name), Begins: slices.Contains(row.calls, o.fault.Other),
			Ends: row.fault}
	case id == o.at.Stream && row.fault:
		cell = workCell{Class: "kernel", Label: o.follower(), Begins: true, Ends: true, Edge: true}
	}
	if row.fault && cell.Class != "" {
		cell.Class += " fault"
	}
	for _, i := range row.calls {
		if c := &o.t.Calls[i]; c.Op == trace.OpEventRecord && c.Stream == id {
			cell.Sign = "●"
		}
	}
	return cell
}

// follower is the work that comes to the bytes next in the stream that got them.
func (o *owners) follower() string {
	for _, c := range o.t.Calls[o.fault.At+1:] {
		uses := func(a trace.Access) bool { return a.Alloc == o.at.Alloc }
		if c.InStream && c.Stream == o.at.Stream && slices.ContainsFunc(o.t.Trace.Records[c.Record].Accesses, uses) {
			return breakable(c.Name)
		}
	}
	return "its work"
}

// tell says what the picture answers.
func (o *owners) tell() {
	f := o.fig
	from := o.from - o.whole.Addr
	f.Before = "No wait: "
	f.Answer = fmt.Sprintf("%s gets bytes %s to %s", o.t.StreamName(o.at.Stream), grouped(int64(from)),
		grouped(int64(from)+o.at.Size-1))
	if len(o.at.Places) > 0 {
		f.Answer += fmt.Sprintf(" in line %d", o.at.Places[0].Line)
	}
	f.Answer += fmt.Sprintf(" while %s may still be at them", o.t.Title(o.other))
	there := map[string]bool{}
	for _, x := range f.Moments {
		for _, b := range x.Strip.Lanes[0].Boxes {
			there[b.Class] = true
		}
		for _, w := range x.Works {
			there["record"] = there["record"] || w.Sign != ""
		}
	}
	f.Legend = slices.DeleteFunc([]style{{"own0", "", "handed out in a stream"}, {"own0 given", "", "given back in it"},
		{"none", "", "nobody has had it"}, {"wrong", "", "where it goes wrong"},
		{"fault", "", "work that it goes wrong for"}, {"record", "●", "event recorded"},
		{"missing", "", "the wait that is missing"}}, func(s style) bool {
		return !there[s.Class] && (s.Class == "none" || s.Class == "record")
	})
	f.like = f.Answer
}
