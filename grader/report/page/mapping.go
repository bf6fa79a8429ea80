package page

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"cudalab/grader/report/look"
	"cudalab/grader/report/timeline"
	"cudalab/grader/suite/mapping"
	"cudalab/grader/suite/verdict"
	"cudalab/native/trace"
)

// mappingFigure is what stood behind reserved addresses, moment by moment from the top to the bottom, to scale, and
// beside it what the streams were at meanwhile.
type mappingFigure struct {
	ID, Answer string
	Good       bool
	Before     string // how the heading begins: "Taken away too early: "
	Title      string // of the addresses
	Axis       axis
	Cut        bool // what is only reserved goes on beyond the end
	Lanes      []string
	Moments    []moment
	Legend     []style
	like       string // equal in figures that look the same
}

// moment is a row: some calls, and what there is behind them.
type moment struct {
	N, Calls, Link, Place, Note string
	Fault                       string // the finding's number
	Strip                       lanes
	Same                        bool // the strip is the one above, and not drawn again
	Access                      []box
	Works                       []workCell
}

// Mapped reports whether there is memory behind some of the addresses.
func (x moment) Mapped() bool { return len(x.Strip.Lanes[0].Boxes) > 1 }

// workCell is what a stream is at in a moment; a bar may go over several.
type workCell struct {
	Class, Label string
	Sign         string // of an event that is recorded behind it
	Begins, Ends bool
	Edge         bool // from the stream on its left the wait that is missing leads here
}

// Fault reports whether it is what it goes wrong for.
func (w workCell) Fault() bool { return strings.Contains(w.Class, "fault") }

// mapped is a mapping figure in the making.
type mapped struct {
	t          *timeline.Timeline
	whole      timeline.Block
	fault      *timeline.Fault // nil: none
	number     string          // of the finding
	link       func(*timeline.Call) string
	from, to   uint64 // the addresses that the fault is about
	rows       []group
	streams    []trace.ID
	most       uint64 // that had memory behind them, from the first address on
	end        uint64 // of the addresses that are drawn
	letters    map[int]string
	fig        *mappingFigure
	wrongPiece string // its letter
}

// group is the calls of a row, as a range of indices into Timeline.Calls, and which of them count.
type group struct {
	calls []int
	fault bool
	folds int // how many rows it stands for
}

// mostMoments is how many rows a figure has at most: of more, those in the middle are one.
const mostMoments = 5

// mappings draws the reserved addresses that findings are about; equal figures are drawn once.
func (p *content) mappings(lines []*timeline.Timeline) {
	seen := map[string]*findingCard{}
	drawn := 0
	for i := range p.Findings {
		card := &p.Findings[i]
		if card.Severity != verdict.Error || card.Race != nil || drawn >= mostFilms {
			continue
		}
		for _, t := range lines {
			n := slices.IndexFunc(t.Faults, func(f timeline.Fault) bool { return card.is(f, t) })
			if n < 0 {
				continue
			}
			id, number := p.At(fmt.Sprintf("mapping%d", card.N)), fmt.Sprint(card.N)
			fig := p.mapping(id, t, &t.Faults[n], number)
			if fig == nil {
				fig = p.owned(id, t, &t.Faults[n], number)
			}
			if fig == nil {
				continue
			}
			if same := seen[fig.like]; same != nil {
				card.Alike = same.Anchor
				break
			}
			seen[fig.like], card.Mapping = card, fig
			drawn++
			break
		}
	}
}

// mapping draws the reservation that a fault is in; nil where it is in none.
func (p *content) mapping(id string, t *timeline.Timeline, fault *timeline.Fault, number string) *mappingFigure {
	m := p.mapped(id, t)
	m.fault, m.number = fault, number
	m.unused()
	if !m.find() {
		return nil
	}
	return m.figure()
}

// reserved draws the first reservation with a few mappings where no finding does.
func (p *content) reserved(t *timeline.Timeline, s timeline.Space) {
	const few = 3
	if len(p.Mappings) > 0 || len(s.Mapped) < few || slices.ContainsFunc(p.Findings, findingCard.hasPicture) {
		return
	}
	m := p.mapped(p.At("mapping0"), t)
	m.whole = t.Blocks[s.Block]
	if fig := m.figure(); fig != nil {
		p.Mappings = append(p.Mappings, fig)
	}
}

// mapped begins a figure.
func (p *content) mapped(id string, t *timeline.Timeline) *mapped {
	return &mapped{t: t, fig: &mappingFigure{ID: id}, letters: map[int]string{}, link: p.linkOf}
}

func (m *mapped) figure() *mappingFigure {
	m.gather()
	if len(m.rows) < 2 {
		return nil
	}
	m.draw()
	m.tell()
	return m.fig
}

// unused turns from the first mapping on a line to the one that is still without access when the call of the code under
// test is over.
func (m *mapped) unused() {
	if m.fault.Rule != "no-access" || m.t.Calls[m.fault.At].Op != trace.OpMemMap {
		return
	}
	in := func(s timeline.Scene) bool { return s.From <= m.fault.At && m.fault.At < s.To }
	n := slices.IndexFunc(m.t.Scenes, in)
	if n < 0 {
		return
	}
	var memory mapping.Ledger
	s := m.t.Scenes[n]
	for i := range m.t.Calls[s.To-1].Record + 1 {
		memory.See(i, &m.t.Trace.Records[i])
	}
	for i := m.fault.At; i < s.To; i++ {
		is := func(p mapping.Piece) bool { return p.Mapped == m.t.Calls[i].Record && !p.Usable }
		if slices.ContainsFunc(memory.Pieces, is) {
			at := *m.fault
			at.At, m.fault = i, &at
			return
		}
	}
}

// find looks for the reservation: the one that the call at fault names, or whose memory it touches.
func (m *mapped) find() bool {
	at := m.fault.At
	records := m.t.Trace.Records
	in := func(addr uint64) bool {
		for _, b := range m.t.Blocks {
			if b.Kind == timeline.Reservation && b.Made <= at && addr >= b.Addr && addr < b.Addr+uint64(max(b.Size, 1)) &&
				(b.Freed < 0 || at <= b.Freed) {
				m.whole = b
				return true
			}
		}
		return false
	}
	r := &records[m.t.Calls[at].Record]
	if reserves(r.Op) && in(r.Addr) {
		m.from, m.to = r.Addr, r.Addr+uint64(r.Size)
		return true
	}
	if m.fault.Other >= 0 {
		o := &records[m.t.Calls[m.fault.Other].Record]
		if reserves(o.Op) && in(o.Addr) {
			m.from, m.to = o.Addr, o.Addr+uint64(o.Size)
			return true
		}
	}
	return false
}

func reserves(op trace.Op) bool {
	switch op {
	case trace.OpMemAddressReserve, trace.OpMemMap, trace.OpMemSetAccess, trace.OpMemUnmap, trace.OpMemAddressFree:
		return true
	}
	return false
}

// within reports whether a call changes what stands behind the addresses.
func (m *mapped) within(c *timeline.Call) bool {
	r := &m.t.Trace.Records[c.Record]
	return reserves(r.Op) && c.Code == 0 && r.Addr >= m.whole.Addr && r.Addr < m.whole.Addr+uint64(m.whole.Size)
}

// touches reports whether a call's work is about memory behind the addresses.
func (m *mapped) touches(c *timeline.Call) bool {
	return c.Work && c.Code == 0 && slices.ContainsFunc(m.t.Trace.Records[c.Record].Accesses, func(a trace.Access) bool {
		return a.Addr >= m.whole.Addr && a.Addr < m.whole.Addr+uint64(m.whole.Size)
	})
}

// gather makes the rows: calls of one kind in one call of the code under test are one, the one at fault is one of its
// own.
func (m *mapped) gather() {
	last := len(m.t.Calls) - 1
	switch {
	case m.fault != nil:
		last = max(m.fault.At, m.fault.Other)
	case m.whole.Freed >= 0:
		last = m.whole.Freed
	}
	scene, work := -2, false
	for i := m.whole.Made; i <= last; i++ {
		c := &m.t.Calls[i]
		touches := m.touches(c)
		fault := m.fault != nil && (i == m.fault.At || i == m.fault.Other && !touches)
		if !fault && !touches && !m.within(c) {
			continue
		}
		s := slices.IndexFunc(m.t.Scenes, func(s timeline.Scene) bool { return s.From <= i && i < s.To })
		n := len(m.rows)
		alone := fault || m.fault != nil && i == m.fault.Other
		if n > 1 && !alone && !m.rows[n-1].fault && work == touches && (touches || scene == s) {
			m.rows[n-1].calls = append(m.rows[n-1].calls, i)
		} else {
			m.rows = append(m.rows, group{calls: []int{i}, fault: m.fault != nil && i == m.fault.At, folds: 1})
		}
		scene, work = s, touches
		if touches && !slices.Contains(m.streams, c.Stream) {
			m.streams = append(m.streams, c.Stream)
		}
	}
	for len(m.rows) > mostMoments { // what comes first and what comes last tells the most
		a, b := &m.rows[1], m.rows[2]
		a.calls, a.folds = append(a.calls, b.calls...), a.folds+b.folds
		m.rows = slices.Delete(m.rows, 2, 3)
	}
	if m.fault != nil { // the streams of the fault come first
		first := func(id trace.ID) int {
			for k, i := range []int{m.fault.Other, m.fault.At} {
				if i >= 0 && m.t.Calls[i].InStream && m.t.Calls[i].Stream == id {
					return k
				}
			}
			return 2
		}
		slices.SortStableFunc(m.streams, func(a, b trace.ID) int { return cmp.Compare(first(a), first(b)) })
	}
	m.streams = m.streams[:min(len(m.streams), 3)]
}

// draw fills in the rows.
func (m *mapped) draw() {
	f := m.fig
	var memory mapping.Ledger
	var most uint64
	next := 0
	see := func(until int, each func(mapping.Piece)) {
		for ; next <= until; next++ {
			memory.See(next, &m.t.Trace.Records[next])
		}
		for _, p := range memory.Pieces {
			if p.From >= m.whole.Addr && p.From < m.whole.Addr+uint64(m.whole.Size) {
				each(p)
			}
		}
	}
	for _, row := range m.rows {
		see(m.until(row), func(p mapping.Piece) {
			most = max(most, p.To-m.whole.Addr)
			if m.letters[p.Mapped] == "" {
				m.letters[p.Mapped] = letterOf(len(m.letters))
			}
		})
	}
	m.most = most
	if most = max(most, m.to-min(m.to, m.whole.Addr)); most == 0 {
		most = uint64(m.whole.Size)
	}
	m.end = min(most+most/4, uint64(m.whole.Size))
	f.Cut = m.end < uint64(m.whole.Size)
	f.Title = bytes(m.whole.Size) + " of addresses"
	if f.Cut {
		f.Title = "the first " + bytes(int64(m.end)) + " of " + bytes(m.whole.Size)
	}
	f.Axis = bytesTo(m.end)
	for _, id := range m.streams {
		name := m.t.StreamName(id)
		f.Lanes = append(f.Lanes, name[strings.LastIndexByte(name, '.')+1:])
	}
	memory, next = mapping.Ledger{}, 0
	number := 1
	for k, row := range m.rows {
		var before, after []mapping.Piece
		see(m.t.Calls[row.calls[0]].Record-1, func(p mapping.Piece) { before = append(before, p) })
		see(m.until(row), func(p mapping.Piece) { after = append(after, p) })
		x := m.words(row)
		x.N = fmt.Sprint(number)
		if number += len(row.calls); len(row.calls) > 1 {
			x.N += fmt.Sprintf("–%d", number-1)
		}
		m.strip(&x, row, before, after)
		if k > 0 && !row.fault {
			x.Same = reflect.DeepEqual(x.Strip, f.Moments[k-1].Strip) && reflect.DeepEqual(x.Access, f.Moments[k-1].Access)
		}
		m.works(&x, k)
		f.Moments = append(f.Moments, x)
	}
	for k := range len(f.Moments) - 1 {
		for i := range f.Moments[k].Works {
			w, next := &f.Moments[k].Works[i], f.Moments[k+1].Works[i]
			w.Ends = w.Ends || next.Class == "" || next.Begins
		}
	}
	f.legend()
}

// until is the record of a row's last call, or of the end of that.
func (m *mapped) until(row group) int {
	last := m.t.Calls[row.calls[len(row.calls)-1]].Record
	for i := last + 1; m.t.Trace.Records[last].Phase == trace.Enter && i < len(m.t.Trace.Records); i++ {
		if r := &m.t.Trace.Records[i]; r.Phase == trace.Leave && int(r.Pair) == last {
			return i
		}
	}
	return last
}

func letterOf(n int) string {
	if n < 26 {
		return string(rune('A' + n))
	}
	return letterOf(n/26-1) + letterOf(n%26)
}

// bytesTo are ticks of addresses.
func bytesTo(most uint64) axis {
	by, unit := 1.0, " B"
	for _, u := range []string{" KiB", " MiB", " GiB", " TiB"} {
		if float64(most)/by < 2<<10 {
			break
		}
		by, unit = by*1024, u
	}
	return ticksTo(float64(most)/by, unit)
}

// tell says what the picture answers.
func (m *mapped) tell() {
	f := m.fig
	if m.fault == nil {
		f.Good = true
		f.Answer = fmt.Sprintf("%s of addresses, and memory behind %s of them at the most: %s mapped", bytes(m.whole.Size),
			bytes(int64(m.most)), look.Plural(len(m.letters), "piece"))
		return
	}
	at := &m.t.Calls[m.fault.At]
	line := ""
	if len(at.Places) > 0 {
		line = fmt.Sprintf(" in line %d", at.Places[0].Line)
	}
	what := m.wrongPiece
	if what == "" {
		what = "memory"
	}
	switch {
	case at.Op == trace.OpMemUnmap && m.fault.Other >= 0:
		o := &m.t.Calls[m.fault.Other]
		f.Before = "Taken away too early: "
		f.Answer = fmt.Sprintf("%s%s takes %s away, and nothing makes it wait for %s", at.Name, line, what, m.t.Title(o))
	case m.wrongPiece != "" && at.Op == trace.OpMemAddressFree:
		f.Before = "Given back too early: "
		f.Answer = fmt.Sprintf("%s%s, where %s is still mapped", at.Name, line, what)
	case m.wrongPiece != "" && at.Op != trace.OpMemUnmap:
		f.Before = "No access: "
		f.Answer = fmt.Sprintf("what %s%s is about, %s, was never given any", at.Name, line, what)
		if at.Op == trace.OpMemMap {
			f.Answer = fmt.Sprintf("what %s%s maps as %s was never given any", at.Name, line, what)
		}
	default:
		f.Before = strings.ReplaceAll(m.fault.Rule, "-", " ") + ": "
		f.Before = strings.ToUpper(f.Before[:1]) + f.Before[1:]
		f.Answer = fmt.Sprintf("%s%s", m.t.Title(at), line)
	}
	var like strings.Builder
	for _, x := range f.Moments {
		fmt.Fprint(&like, x.Calls, x.Fault != "", x.Works, "|")
		for _, b := range x.Strip.Lanes[0].Boxes {
			fmt.Fprintf(&like, "%.2f %.2f %s,", b.From, b.Width, b.Class)
		}
	}
	f.like = m.fault.Rule + like.String()
}

func (f *mappingFigure) legend() {
	there := map[string]bool{}
	for _, x := range f.Moments {
		for _, b := range x.Strip.Lanes[0].Boxes {
			there[b.Class] = true
		}
		for _, w := range x.Works {
			for _, c := range strings.Fields(w.Class) {
				there[c] = true
			}
		}
		there["access"] = there["access"] || len(x.Access) > 0
	}
	names := []style{{"none", "", "only reserved"}, {"piece", "", "memory mapped"},
		{"access", "", "the device may use it"},
		{"wrong", "", "where it goes wrong"}, {"kernel", "", "kernel"}, {"copy", "", "copy, memset"},
		{"fault", "", "work that it goes wrong for"}}
	f.Legend = slices.DeleteFunc(names, func(s style) bool { return !there[s.Class] })
}
