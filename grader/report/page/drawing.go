package page

import (
	"cmp"
	"slices"

	"cudalab/grader/suite/verdict"
)

// drawing is an allocator's memory, operation by operation.
type drawing struct {
	Frames []drawnFrame
	Asked  bool // there are blocks of which less was asked for
	Wrong  bool // the fault can be seen
}

type drawnFrame struct {
	Op   string
	Rows []drawnRow
	Last bool // it is the one with the wrong answer
}

type drawnRow struct {
	Name  string
	Cells []drawnCell
}

type drawnCell struct{ verdict.Cell }

// Width is the cell's share of its row.
func (c drawnCell) Width() float64 { return c.To - c.From }

func newDrawing(d *verdict.Drawing) *drawing {
	if d == nil {
		return nil
	}
	all := &drawing{}
	for i, f := range d.Frames {
		frame := drawnFrame{Op: f.Op, Last: i == len(d.Frames)-1}
		for _, r := range f.Rows {
			row := drawnRow{Name: r.Name}
			for _, c := range runs(r.Cells) {
				row.Cells = append(row.Cells, drawnCell{c})
				all.Wrong = all.Wrong || c.Kind == verdict.Wrong
				all.Asked = all.Asked || c.Asked > 0 && c.Asked < 1
			}
			frame.Rows = append(frame.Rows, row)
		}
		all.Frames = append(all.Frames, frame)
	}
	return all
}

// mostCells is how many cells of a row are drawn each for itself.
const mostCells = 32

// runs makes one of neighbours that are alike, where there are too many.
func runs(cells []verdict.Cell) (fewer []verdict.Cell) {
	if len(cells) <= mostCells {
		return cells
	}
	for _, c := range slices.SortedFunc(slices.Values(cells), func(a, b verdict.Cell) int { return cmp.Compare(a.From, b.From) }) {
		if n := len(fewer); n > 0 && fewer[n-1].Kind == c.Kind && fewer[n-1].Text == c.Text && fewer[n-1].To == c.From {
			fewer[n-1].To = c.To
			continue
		}
		fewer = append(fewer, c)
	}
	return fewer
}
