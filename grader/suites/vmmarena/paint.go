package vmmarena

import (
	"fmt"

	"cudalab/grader/suite/allocator"
	"cudalab/grader/suite/mapping"
	"cudalab/grader/suite/sequence"
	"cudalab/grader/suite/verdict"
)

// Use is how much of the memory behind the addresses is used.
func (m *model) Use() (u verdict.Use, known bool) {
	committed := max(m.committed, m.used)
	return verdict.Use{Total: committed, Out: m.used, Largest: committed - m.used}, !m.lost
}

// Paint draws the addresses from Base on, as far as the sequence comes and a granule more: what memory is mapped behind
// them, in granules, and whether it may be used, by the trace; and the blocks, each rounded up to a multiple of 256
// bytes.
func (m *model) Paint(v allocator.View) []verdict.Row {
	if m.base == 0 {
		return nil
	}
	granule := m.layout.granularity
	extent := granule
	if base := uint64(m.base); v.High > base && v.High-base <= uint64(m.layout.reserved()) {
		extent = mapping.RoundUp(int64(v.High-base), granule)
	}
	extent = min(extent+granule, m.layout.reserved())
	share := func(offset int64) float64 { return float64(min(max(offset, 0), extent)) / float64(extent) }
	mapped := mapping.Row(v.Trace, uint64(m.base), extent, granule)
	if m.closed {
		mapped.Cells = nil
	}
	blocks := verdict.Row{Name: "blocks"}
	for i, b := range v.Out {
		size, offset := mapping.RoundUp(max(b.Asked, 1), alignment), int64(b.Addr-uint64(m.base))
		c := verdict.Cell{From: share(offset), To: share(offset + size), Kind: verdict.Out, Text: fmt.Sprintf("#%d: %d",
			b.Number, b.Asked),
			Asked: float64(max(b.Asked, 0)) / float64(size)}
		if v.Wrong && v.Last() == &v.Out[i] && offset+size != m.used {
			c.Kind = verdict.Wrong
			if offset < 0 || offset >= extent {
				c.From, c.To, c.Text, c.Asked = 0, 1, c.Text+", elsewhere", 0
			}
		}
		blocks.Cells = append(blocks.Cells, c)
	}
	if v.Wrong && v.Op.Kind == allocator.KindAlloc && v.Last() == nil && m.want(v.Op) == sequence.Nil {
		blocks.Cells = append(blocks.Cells, verdict.Cell{From: share(m.used), To: share(m.used + mapping.RoundUp(v.Op.Size,
			alignment)), Kind: verdict.Wrong,
			Text: "there is room"})
	}
	return []verdict.Row{mapped, blocks}
}
