package page

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"cudalab/grader/report/look"
	"cudalab/grader/report/timeline"
	"cudalab/grader/suite/mapping"
	"cudalab/native/trace"
)

// words are what a row says.
func (m *mapped) words(row group) (x moment) {
	var names []string
	for _, i := range row.calls {
		c := &m.t.Calls[i]
		if name := m.t.Title(c); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	const told = 2
	if x.Calls = strings.Join(names[:min(len(names), told)], ", "); len(names) > told {
		x.Calls += fmt.Sprintf(" and %d more", len(names)-told)
	}
	first := &m.t.Calls[row.calls[0]]
	if row.folds == 1 && len(first.Places) > 0 {
		x.Link, x.Place = m.link(first), fmt.Sprintf(":%d", first.Places[0].Line)
	}
	if row.fault {
		x.Fault = m.number
	}
	s := slices.IndexFunc(m.t.Scenes, func(s timeline.Scene) bool { return s.From <= row.calls[0] && row.calls[0] < s.To })
	switch {
	case row.folds > 1:
		x.Calls, x.Note = look.Plural(len(row.calls), "call"), x.Calls
	case m.touches(first) && len(row.calls) > 3:
		x.Calls, x.Note = look.Plural(len(row.calls), "call")+" that change nothing here", x.Calls
		x.Link, x.Place = "", ""
	case first.Op == trace.OpMemAddressReserve:
		x.Note = bytes(first.Size) + " of addresses, no memory"
	case s >= 0:
		x.Note = m.t.Scenes[s].Label
	}
	return x
}

// strip draws the addresses behind a row.
func (m *mapped) strip(x *moment, row group, before, after []mapping.Piece) {
	at := func(addr uint64) float64 { return float64(addr-m.whole.Addr) / float64(m.end) }
	var boxes []box
	var told []string
	pos := m.whole.Addr
	gap := func(until uint64) {
		if until > pos {
			boxes = append(boxes, box{From: at(pos), Width: at(until) - at(pos), Class: "none"})
		}
	}
	wrong := m.fault != nil && (row.fault || row.calls[0] > m.fault.At)
	put := func(p mapping.Piece, gone bool) {
		gap(p.From)
		letter, size := m.letters[p.Mapped], bytes(int64(p.To-p.From))
		b := box{From: at(p.From), Width: at(p.To) - at(p.From), Class: "piece", Tip: letter + ": " + size,
			Labels: []string{letter + " " + size, letter}}
		say := letter + " has " + size
		switch {
		case gone:
			b.Class, b.Labels = "wrong", []string{letter + " no memory", letter}
			say = letter + " has no memory any more"
			m.wrongPiece = letter
		case row.fault && m.t.Calls[m.fault.At].Op == trace.OpMemAddressFree:
			b.Class, b.Labels = "wrong", []string{letter + " still mapped", letter}
			say = letter + " is still mapped"
			m.wrongPiece = letter
		case wrong && p.From < m.to && m.from < p.To && !p.Usable && m.t.Calls[m.fault.At].Op != trace.OpMemSetAccess:
			b.Class = "wrong"
			b.Labels = []string{letter + " no access", letter}
			say = letter + " may not be used"
			m.wrongPiece = letter
		}
		boxes = append(boxes, b)
		told = append(told, say)
		if p.Usable && !gone {
			if n := len(x.Access); n > 0 && x.Access[n-1].From+x.Access[n-1].Width >= at(p.From)-1e-9 {
				x.Access[n-1].Width = at(p.To) - x.Access[n-1].From
			} else {
				x.Access = append(x.Access, box{From: at(p.From), Width: at(p.To) - at(p.From)})
			}
		}
		pos = max(pos, p.To)
	}
	all := slices.Clone(after)
	isGone := map[int]bool{}
	if row.fault && m.t.Calls[m.fault.At].Op == trace.OpMemUnmap {
		for _, p := range before {
			if !slices.ContainsFunc(after, func(o mapping.Piece) bool { return o.Mapped == p.Mapped }) {
				all, isGone[p.Mapped] = append(all, p), true
			}
		}
	}
	slices.SortFunc(all, func(a, b mapping.Piece) int { return cmp.Compare(a.From, b.From) })
	for _, p := range all {
		put(p, isGone[p.Mapped])
	}
	gap(m.whole.Addr + m.end)
	if len(told) == 0 {
		told = []string{"addresses, and no memory behind them"}
	}
	x.Strip = lanes{strings.Join(told, "; ") + ".", []lane{newLane("", fewer(clipped(boxes)))}}
}

// works draws what the streams are at in the k-th row.
func (m *mapped) works(x *moment, k int) {
	row := m.rows[k]
	began := m.t.Calls[row.calls[0]].Time
	for _, id := range m.streams {
		var cell workCell
		for i := m.whole.Made; i <= row.calls[len(row.calls)-1]; i++ {
			c := &m.t.Calls[i]
			if !c.InStream || c.Stream != id || !m.touches(c) {
				continue
			}
			other := m.fault != nil && i == m.fault.Other
			here := slices.Contains(row.calls, i)
			if !here && !other && (!c.Measured || c.End <= began) {
				continue
			}
			class, name := "kernel", c.Name
			if c.Op != trace.OpLaunch {
				class, name = "copy", short(c.Op)
			}
			cell = workCell{Class: class, Begins: here, Label: breakable(name),
				Ends: !other && (k+1 == len(m.rows) || c.Measured && c.End <= m.t.Calls[m.rows[k+1].calls[0]].Time)}
			if m.fault != nil && (other && (row.fault || row.calls[0] > m.fault.At) || i == m.fault.At) {
				cell.Class += " fault"
			}
			if cell.Ends = cell.Ends || k+1 == len(m.rows); other {
				break
			}
		}
		x.Works = append(x.Works, cell)
	}
}

// breakable lets a name go on in the next line where a word of it begins.
func breakable(name string) string {
	var b strings.Builder
	for i, r := range name {
		if i > 0 && unicode.IsUpper(r) {
			b.WriteRune('\u200b')
		}
		b.WriteRune(r)
	}
	return b.String()
}
