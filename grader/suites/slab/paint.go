package slab

import (
	"fmt"

	"cudalab/grader/suite/allocator"
	"cudalab/grader/suite/sequence"
	"cudalab/grader/suite/verdict"
)

// mostSlots is how many blocks of a class are drawn.
const mostSlots = 12

// Paint draws a row for each class, in it a part for each of its blocks: those that are out from the left, the oldest
// first.
func (m *model) Paint(v allocator.View) []verdict.Row {
	fits, class, want := 0, -1, sequence.Nil
	if v.Wrong && v.Op.Kind == allocator.KindAlloc && !m.closed {
		fits, class, want = m.place(v.Op.Size)
	}
	var rows []verdict.Row
	for i, c := range m.classes {
		row := verdict.Row{Name: fmt.Sprintf("%d B", c.BlockSize)}
		slots := min(c.Total, mostSlots)
		at := 0
		put := func(cell verdict.Cell) {
			if at < slots {
				cell.From, cell.To = float64(at)/float64(slots), float64(at+1)/float64(slots)
				row.Cells = append(row.Cells, cell)
			}
			at++
		}
		if m.closed {
			rows = append(rows, row)
			continue
		}
		for _, b := range v.Out {
			number, class, known := m.at(b.Addr)
			if !known || number != b.Number || class != i {
				continue
			}
			cell := verdict.Cell{Kind: verdict.Out, Text: fmt.Sprintf("#%d: %d", b.Number, b.Asked),
				Asked: float64(b.Asked) / float64(c.BlockSize)}
			if smallest, _, _ := m.place(b.Asked); smallest != i {
				cell.Kind, cell.Text = verdict.Spilled, cell.Text+", spilled"
			}
			put(cell)
		}
		switch last := v.Last(); {
		case class != i || want != sequence.Nil:
		case last != nil && !m.knows(last):
			put(verdict.Cell{Kind: verdict.Wrong, Text: fmt.Sprintf("#%d: %d", last.Number, last.Asked),
				Asked: float64(last.Asked) / float64(c.BlockSize)})
		case last == nil:
			text := "free, and large enough"
			if i == fits {
				text = "free, and fits"
			}
			put(verdict.Cell{Kind: verdict.Wrong, Text: text})
		}
		if v.Back != nil && m.wasIn(v.Back, i) {
			put(verdict.Cell{Kind: verdict.Back, Text: fmt.Sprintf("#%d was here", v.Back.Number)})
		}
		for at < slots {
			put(verdict.Cell{Kind: verdict.Free, Text: "free"})
		}
		rows = append(rows, row)
	}
	return rows
}

// Use is how much of all classes' blocks is used.
func (m *model) Use() (u verdict.Use, known bool) {
	for _, c := range m.classes {
		u.Total += c.BlockSize * int64(c.Total)
		u.Out += c.BlockSize * int64(c.InUse)
		if c.InUse < c.Total {
			u.Largest = c.BlockSize
		}
	}
	return u, !m.lost
}

// knows reports whether a block that was handed out is one that the model has taken for right.
func (m *model) knows(b *allocator.Block) bool {
	number, _, known := m.at(b.Addr)
	return known && number == b.Number
}

// wasIn reports whether a block was one of a class's: each class has addresses of its own.
func (m *model) wasIn(b *allocator.Block, class int) bool {
	return b.Addr >= m.spans[class].low && b.Addr < m.spans[class].high
}
