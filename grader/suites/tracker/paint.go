package tracker

import (
	"fmt"

	"cudalab/grader/suite/allocator"
	"cudalab/grader/suite/verdict"
)

// Paint draws the memory as a ruler, with its live blocks and the gaps between them, and below it how much of the limit
// is taken.
func (m *model) Paint(v allocator.View) []verdict.Row {
	if m.start == 0 || m.layout.bytes < 1 {
		return nil
	}
	memory := verdict.Row{Name: "memory"}
	share := func(at uint64) float64 { return min(max(float64(int64(at-m.start))/float64(m.layout.bytes), 0), 1) }
	put := func(at uint64, bytes int64, c verdict.Cell) {
		if c.From, c.To = share(at), share(at+uint64(bytes)); c.From < c.To {
			memory.Cells = append(memory.Cells, c)
		}
	}
	for _, b := range m.byAddress() {
		put(uint64(b.Ptr), b.Size, verdict.Cell{Kind: verdict.Out, Text: fmt.Sprintf("no. %d: %d (%s)", b.Number, b.Size,
			b.Tag)})
	}
	gaps := m.gaps(m.start, m.layout.bytes)
	for _, g := range gaps {
		c := verdict.Cell{Kind: verdict.Free, Text: fmt.Sprintf("%d free", g.bytes)}
		if v.Wrong && g.bytes == largest(gaps) && m.faulty(ofGaps) {
			c.Kind, c.Text = verdict.Wrong, c.Text+", the longest gap"
		}
		put(g.at, g.bytes, c)
	}
	if v.Back != nil {
		put(v.Back.Addr, v.Back.Asked, verdict.Cell{Kind: verdict.Back, Text: fmt.Sprintf("#%d was here", v.Back.Number)})
	}
	taken := float64(m.total.Live) / float64(max(m.layout.limit, 1))
	limit := verdict.Row{Name: "limit"}
	if taken > 0 {
		limit.Cells = append(limit.Cells, verdict.Cell{Kind: verdict.Out, To: taken, Text: fmt.Sprintf("%d live",
			m.total.Live)})
	}
	if taken < 1 {
		limit.Cells = append(limit.Cells, verdict.Cell{Kind: verdict.Free, From: taken, To: 1,
			Text: fmt.Sprintf("%d more may be", m.layout.limit-m.total.Live)})
	}
	return []verdict.Row{memory, limit}
}

// faulty reports whether the last step has found a fault of a part.
func (m *model) faulty(part string) bool {
	for _, f := range m.faults {
		if f.Part == part {
			return true
		}
	}
	return false
}

// Use is how much of the memory is used.
func (m *model) Use() (u verdict.Use, known bool) {
	return verdict.Use{Total: m.layout.bytes, Out: m.total.Live, Asked: m.total.Live,
		Largest: largest(m.gaps(m.start, m.layout.bytes))}, m.start != 0 && !m.lost
}
