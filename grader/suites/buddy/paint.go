package buddy

import (
	"fmt"

	"cudalab/grader/suite/allocator"
	"cudalab/grader/suite/sequence"
	"cudalab/grader/suite/verdict"
)

// Paint draws a row for each order, the root's at the top: the blocks that are out, and the free ones as they are once
// every two free buddies are one.
func (m *model) Paint(v allocator.View) []verdict.Row {
	if m.root == 0 {
		return nil
	}
	rows := make([]verdict.Row, m.layout.top()+1)
	for order := range rows {
		rows[m.layout.top()-order].Name = fmt.Sprintf("%d B", m.layout.least()<<order)
	}
	add := func(size int64, offset uint64, c verdict.Cell) {
		for i := range rows {
			if m.layout.root()>>i == size {
				c.From = float64(offset) / float64(m.layout.root())
				c.To = c.From + float64(size)/float64(m.layout.root())
				rows[i].Cells = append(rows[i].Cells, c)
			}
		}
	}
	lacks := int64(0) // the size of a block that should have been found
	if v.Wrong && v.Op.Kind == allocator.KindAlloc && v.Answer.Err == sequence.ErrFull {
		lacks = m.layout.block(v.Op.Size)
	}
	if !m.closed {
		m.freeBlocks(1, m.layout.root(), 0, func(size int64, offset uint64) {
			c := verdict.Cell{Kind: verdict.Free, Text: "free"}
			if lacks > 0 && size >= lacks {
				c = verdict.Cell{Kind: verdict.Wrong, Text: "free, and large enough"}
			}
			add(size, offset, c)
		})
	}
	for _, b := range v.Out {
		size, offset := m.layout.block(max(b.Asked, 1)), b.Addr-m.root
		c := verdict.Cell{Kind: verdict.Out, Text: fmt.Sprintf("#%d: %d", b.Number, b.Asked),
			Asked: float64(max(b.Asked, 0)) / float64(size)}
		if h, right := m.live.Get(b.Addr); !right || h.number != b.Number {
			c.Kind = verdict.Wrong
		}
		if last := uint64(m.layout.root() - min(size, m.layout.root())); b.Addr < m.root || offset > last ||
			size > m.layout.root() {
			size, offset = m.layout.root(), 0
			c.Text, c.Asked = c.Text+", outside of the root", 0
		}
		add(size, offset, c)
	}
	if v.Back != nil {
		size, offset := m.layout.block(v.Back.Asked), v.Back.Addr-m.root
		add(size, offset, verdict.Cell{Kind: verdict.Back, Text: fmt.Sprintf("#%d was here", v.Back.Number)})
		if size < m.layout.root() {
			add(size, offset^uint64(size), verdict.Cell{Kind: verdict.Buddy, Text: "its buddy"})
		}
	}
	return rows
}

// Use is how much of the root is used.
func (m *model) Use() (u verdict.Use, known bool) {
	u = verdict.Use{Total: m.layout.root(), Out: m.inUse}
	if order := m.space.largestFree(); order >= 0 {
		u.Largest = m.layout.least() << order
	}
	return u, m.root != 0 && !m.lost && !m.blinded
}

// freeBlocks visits the free blocks under node n, which has so many bytes at an offset.
func (m *model) freeBlocks(n int, size int64, offset uint64, visit func(size int64, offset uint64)) {
	switch {
	case m.space.at(n).count == 0:
	case m.layout.least()<<m.space.at(n).largest == size:
		visit(size, offset)
	default:
		m.freeBlocks(2*n, size/2, offset, visit)
		m.freeBlocks(2*n+1, size/2, offset+uint64(size/2), visit)
	}
}
