package schedule

import (
	"fmt"
	"slices"
	"strings"

	"cudalab/grader/order"
	"cudalab/native/trace"
)

// Film is a counterexample in pictures: the work as it leaves its streams for the device, one call after another, and
// what that makes of the memory. Of the program's own events it has the one that was to hold the order and does not.
type Film struct {
	Lanes  []string // the streams that the work belongs to, and the host, by name
	Steps  []Shot   // in the order of the calls
	Memory []string // what it is about: "the 256 bytes from MallocAsync on streams[0]"
	Takes  []Take   // what happened, unless it goes wrong always; and the order in which it goes wrong
	// the step that the Early one should come after, both indices into Steps; -1 where it goes wrong always
	Late  int
	Early int
	Edge  *[2]int // from the program's own record to its wait, indices into Steps; nil: it has none that comes near
}

// Shot is a call that a film shows.
type Shot struct {
	Record int
	N      int    // as in story; 0 for a record or a wait that orders too little
	Call   string // "the launch of process on streams[1]"
	Op     trace.Op
	Kernel string // of a launch
	Lane   int
}

// Take is one order.
type Take struct {
	Frames []Frame // the first before anything is done, and one behind each step
	Wrong  int     // the frame in which it goes wrong; -1: in none
}

// Frame is what there is when a step is done.
type Frame struct {
	Done    int    // the step, an index into Steps; -1: none yet
	Memory  []Held // as in Film
	Caption string // one sentence
}

// Held is what becomes of some memory.
type Held struct {
	Text string // "not there yet", "written by step 2"
	Bad  bool   // it is what the step finds that goes wrong
}

// Sign is what stands for a step where there is little room: its number, or what a record and a wait are drawn as.
func (f *Film) Sign(step int) string {
	switch s := f.Steps[step]; {
	case s.N > 0:
		return fmt.Sprint(s.N)
	case s.Op == trace.OpStreamWaitEvent:
		return "◆"
	}
	return "●"
}

// Missing says which wait is missing; "" where it goes wrong always.
func (f *Film) Missing() string {
	if f.Early < 0 {
		return ""
	}
	return fmt.Sprintf("Nothing makes step %s wait for step %s.", f.Sign(f.Early), f.Sign(f.Late))
}

// Titles are what the takes are.
func (f *Film) Titles() []string {
	if len(f.Takes) == 1 {
		return []string{"What happens"}
	}
	return []string{"What happened", "What may happen as well"}
}

// mostMemory is how much memory a film follows.
const mostMemory = 3

// filming makes a Film.
type filming struct {
	*Program
	c     *Counterexample
	story story
	names *order.Names
	items []item
	cover *cover // nil: the program has none that comes near
	film  Film
	index map[int]int // by record: the step
}

// item is memory that is followed: a block, or an allocation, and the bytes of it that the steps use.
type item struct {
	touch
	maker int
}

// Film shows c, of which story tells. own says which calls the program itself has made rather than who calls it.
func (p *Program) Film(c *Counterexample, story story, own func(record int) bool) *Film {
	f := &filming{Program: p, c: c, story: story, names: order.NamesOf(p.Trace), index: map[int]int{}}
	f.film.Late, f.film.Early = -1, -1
	f.follow()
	if !c.Always {
		f.cover = f.near(own)
	}
	f.steps()
	happened := slices.Sorted(slices.Values(c.Steps))
	if !c.Always {
		f.film.Late, f.film.Early = f.index[c.Late], f.index[c.Early]
		f.film.Takes = append(f.film.Takes, f.take(happened, false))
	}
	f.film.Takes = append(f.film.Takes, f.take(c.Steps, true))
	return &f.film
}

// follow chooses the memory that is shown: what the fault is about, and what else its steps use.
func (f *filming) follow() {
	common := f.common(f.c)
	// there is not room for all: there has to be for where it shows
	if f.c.Finding.Rule == order.EarlyReuse || apart(common) > mostMemory {
		f.add(f.c.Shows.Memory)
	}
	for _, t := range common {
		f.add(t)
	}
	for _, i := range f.c.Steps {
		for _, t := range f.ops[i].touches {
			f.add(t)
		}
	}
	for _, it := range f.items {
		name := "memory from before"
		if it.maker >= 0 {
			name = f.names.Memory(it.maker)
		}
		f.film.Memory = append(f.film.Memory, name)
	}
}

// apart is in how many blocks and allocations some touches are.
func apart(touches []touch) int {
	all := map[[2]trace.ID]bool{}
	for _, t := range touches {
		all[[2]trace.ID{t.memory, t.block}] = true
	}
	return len(all)
}

// add has a range of memory followed, if there is room.
func (f *filming) add(t touch) {
	if t.memory == 0 {
		return
	}
	i := slices.IndexFunc(f.items, func(it item) bool { return it.memory == t.memory && it.block == t.block })
	switch {
	case i >= 0:
		it := &f.items[i]
		it.lo, it.hi = min(it.lo, t.lo), max(it.hi, t.hi)
		it.mapping = max(it.mapping, t.mapping)
	case len(f.items) < mostMemory:
		f.items = append(f.items, item{t, f.maker(t)})
	}
}

// steps are those of the counterexample and the program's own events, with the lanes that they are in.
func (f *filming) steps() {
	all := slices.Clone(f.c.Steps)
	all = append(all, f.cover.calls()...)
	slices.Sort(all)
	lanes := map[trace.ID]int{}
	for _, i := range all {
		r := &f.Trace.Records[i]
		id, name := hostID, "host"
		if f.inStream(i) {
			id, name = r.Stream, f.names.Stream(r.Stream)
		}
		if _, known := lanes[id]; !known {
			lanes[id] = len(f.film.Lanes)
			f.film.Lanes = append(f.film.Lanes, name)
		}
		s := Shot{Record: i, Call: f.names.Call(i), Op: r.Op, Kernel: r.Kernel, Lane: lanes[id]}
		if slices.Contains(f.c.Steps, i) {
			s.N = f.c.number(i)
		}
		f.index[i] = len(f.film.Steps)
		f.film.Steps = append(f.film.Steps, s)
	}
	if calls := f.cover.calls(); len(calls) == 2 {
		f.film.Edge = &[2]int{f.index[calls[0]], f.index[calls[1]]}
	}
}

// inStream reports whether a call is a stream's to carry out.
func (f *filming) inStream(i int) bool {
	r := &f.Trace.Records[i]
	return queued(r) || r.Op == trace.OpEventRecord || r.Op == trace.OpStreamWaitEvent
}

// take carries out the steps in an order.
func (f *filming) take(list []int, wrong bool) Take {
	m := f.begin(list, true)
	t := Take{Wrong: -1, Frames: []Frame{{Done: -1, Memory: f.held(m, -1),
		Caption: "Nothing is done yet. The device takes " +
			"work from the streams, from each of them in its order."}}}
	for _, i := range f.withCover(list, wrong && !f.c.Always) {
		frame := Frame{Done: f.index[i], Caption: f.caption(i)}
		bad := wrong && i == f.c.Shows.Record
		if f.ops[i] != nil {
			m.do(i)
		}
		if bad {
			frame.Memory, t.Wrong = f.held(m, i), len(t.Frames)
		} else {
			frame.Memory = f.held(m, -1)
		}
		switch k := slices.IndexFunc(f.story.Steps, func(s Step) bool { return s.Record == i }); {
		case bad && k >= 0:
			frame.Caption = fmt.Sprintf("Here it goes wrong. Step %d is %s: %s.", f.c.number(i), f.names.Call(i),
				f.story.Steps[k].Wrong)
		case wrong && i == f.c.Early && !f.c.Always:
			frame.Caption = fmt.Sprintf("Step %d comes before step %d, for nothing makes it wait: %s.", f.c.number(i),
				f.c.number(f.c.Late), f.does(i))
		}
		t.Frames = append(t.Frames, frame)
	}
	if wrong && f.story.Ends != "" { // it is the last of the steps that leaves it so
		for t.Wrong = len(t.Frames) - 1; f.film.Steps[t.Frames[t.Wrong].Done].N == 0; {
			t.Wrong--
		}
		t.Frames[t.Wrong].Caption = "Here it goes wrong. " + f.story.Ends
		for k := range t.Frames[t.Wrong].Memory {
			t.Frames[t.Wrong].Memory[k].Bad = f.items[k].memory == f.c.Shows.Memory.memory
		}
	}
	return t
}

// withCover puts the program's own event where it was, or where its streams have it in another order.
func (f *filming) withCover(list []int, other bool) (all []int) {
	events := f.cover.calls()
	if !other {
		return slices.Sorted(slices.Values(append(events, list...)))
	}
	add := func(i int) {
		if !slices.Contains(all, i) {
			all = append(all, i)
		}
	}
	for _, i := range list {
		for _, e := range events {
			if e < i && f.film.Steps[f.index[e]].Lane == f.film.Steps[f.index[i]].Lane {
				add(f.cover.record)
				add(e)
			}
		}
		add(i)
	}
	for _, e := range events {
		add(e)
	}
	return all
}

// caption says what a step does.
func (f *filming) caption(i int) string {
	if f.cover != nil && i == f.cover.record {
		return f.cover.stands
	}
	if f.cover != nil && i == f.cover.wait {
		return f.cover.holds
	}
	return fmt.Sprintf("Step %d is %s: %s.", f.c.number(i), f.names.Call(i), f.does(i))
}

// does says what a call does to the memory that is shown.
func (f *filming) does(i int) string {
	o := f.ops[i]
	var made, touched, read, written []string
	for k, it := range f.items {
		letter := Letter(k)
		if o.memory != 0 && (it.memory == o.memory && it.block == 0 || it.block == o.memory) {
			made = append(made, letter)
		}
		for _, t := range o.touches {
			switch {
			case o.kind != uses && t.mapping >= 0 && t.mapping == it.mapping:
				touched = append(touched, letter)
			case o.kind != uses || !f.about(it.touch, t):
			case t.kind == trace.Read:
				read = append(read, letter)
			default:
				written = append(written, letter)
			}
		}
	}
	list := func(letters []string) string {
		slices.Sort(letters)
		return strings.Join(slices.Compact(letters), " and ")
	}
	switch {
	case o.kind == makes && len(made) > 0:
		return "from now on " + list(made) + " is there, and nothing is written in it"
	case o.kind == ends && len(made) > 0:
		return "from now on the bytes of " + list(made) + " may go to whoever asks next"
	case o.kind == places:
		return "there is memory behind the addresses now"
	case o.kind == unmaps:
		return "from now on there is nothing behind the addresses of " + list(touched)
	case o.kind == permits:
		return "it says who may use " + list(touched)
	case len(read) > 0 && len(written) > 0:
		return "it reads " + list(read) + " and writes " + list(written)
	case len(read) > 0:
		return "it reads " + list(read)
	case len(written) > 0:
		return "it writes " + list(written)
	}
	return "it uses other memory"
}

// Letter is what a film calls the k-th memory that it follows.
func Letter(k int) string { return string(rune('A' + k)) }

// about reports whether two touches are of the same memory.
func (f *filming) about(a, b touch) bool {
	return a.memory == b.memory && (a.block == b.block || a.block == 0 || b.block == 0) && a.lo < b.hi && b.lo < a.hi
}

// finds reports whether it is in this memory that a call finds what it should not.
func (f *filming) finds(i int, it item) bool {
	if f.c.Shows.State != exists {
		return f.about(it.touch, f.c.Shows.Memory)
	}
	return slices.ContainsFunc(f.ops[i].touches, func(t touch) bool {
		return (t.kind == trace.Read || f.ops[i].kind == ends) && f.about(it.touch, t)
	})
}

// held is what there is in the memory that is shown. bad is the call that finds what it should not; -1: none.
func (f *filming) held(m *memory, bad int) (list []Held) {
	for _, it := range f.items {
		h := Held{Text: f.state(m, it)}
		h.Bad = bad >= 0 && f.finds(bad, it)
		list = append(list, h)
	}
	return list
}

// state says in which state memory is, or whose bytes it holds.
func (f *filming) state(m *memory, it item) string {
	for _, id := range []trace.ID{it.memory, it.block} {
		switch m.state[id] {
		case unborn:
			return "not there yet"
		case ended:
			return "given back: the bytes may be another's"
		}
	}
	if it.mapping >= 0 && m.only(it.mapping) {
		switch flags := m.mapping[it.mapping]; {
		case flags&mapped == 0:
			return "no memory behind the addresses"
		case flags&mayRead == 0:
			return "there, but nobody may use it"
		}
	}
	return f.content(m, it)
}

// content says who has written the bytes that memory holds.
func (f *filming) content(m *memory, it item) string {
	var parts []string
	add := func(lo, hi int64, value uint64) {
		if lo >= hi {
			return
		}
		text := "as it was before"
		by, known := m.writer[value]
		switch {
		case value == fresh:
			text = "nothing written"
		case known:
			text = "written by " + f.c.step(by, f.names)
		}
		if len(parts) == 0 || parts[len(parts)-1] != text {
			parts = append(parts, text)
		}
	}
	at := it.lo
	for s := range m.of(it.memory).Within(it.lo, it.hi) {
		add(at, s.Lo, before)
		add(s.Lo, s.Hi, s.Value)
		at = s.Hi
	}
	add(at, it.hi, before)
	if len(parts) > 2 {
		return "in parts by several"
	}
	return strings.Join(parts, ", then ")
}
