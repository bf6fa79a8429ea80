package mapping

import (
	"cudalab/grader/suite/verdict"
	"cudalab/native/trace"
)

// mostCells is how many parts the memory is drawn in at most.
const mostCells = 64

// Row draws extent bytes of addresses from base on, in granules: what memory is mapped behind them, and whether it may
// be used, by the records from where the addresses were reserved. Where each granule would be too narrow, several are
// drawn as one, like the first of them.
func Row(records []trace.Record, base uint64, extent, granule int64) verdict.Row {
	unit, row := granule, verdict.Row{Name: "memory, in granules"}
	for RoundUp(extent, unit)/unit > mostCells {
		unit, row.Name = 2*unit, "memory"
	}
	var memory Ledger
	for i := range records {
		memory.See(i, &records[i])
	}
	share := func(offset int64) float64 { return float64(min(offset, extent)) / float64(extent) }
	for at := int64(0); at < extent; at += unit {
		c := verdict.Cell{From: share(at), To: share(at + unit), Kind: verdict.Free, Text: "addresses only"}
		for _, p := range memory.Pieces {
			if addr := base + uint64(at); p.From <= addr && addr < p.To {
				c.Kind, c.Text = verdict.Mapped, "mapped"
				if !p.Usable {
					c.Kind, c.Text = verdict.Wrong, "mapped, but nobody may use it"
				}
			}
		}
		row.Cells = append(row.Cells, c)
	}
	return row
}
