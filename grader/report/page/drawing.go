package page

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"cudalab/grader/suite/verdict"
)

// drawing is an allocator's memory, operation by operation. Operations that change nothing share the frame of the next.
type drawing struct {
	Frames []drawnFrame
	Asked  bool // there are blocks of which less was asked for
	Wrong  bool // the fault can be seen
	Legend []style
}

type drawnFrame struct {
	Op string // "2: allocate 300"
	lanes
	Rows []drawnRow
	Last bool // it is the one with the wrong answer
}

// drawnRow is a row as a table has it.
type drawnRow struct{ Name, Text string }

// kindsOf are how the kinds of cells are drawn.
var kindsOf = map[verdict.CellKind]style{verdict.Free: {"none", "", "free"}, verdict.Out: {"piece", "", "handed out"},
	verdict.Spilled: {"spilled", "", "handed out, larger than need be"}, verdict.Back: {"back", "", "just given back"},
	verdict.Buddy: {"buddy", "", "its other half"}, verdict.Mapped: {"mapped", "", "memory mapped"},
	verdict.Wrong: {"wrong", "", "what is wrong"}}

func newDrawing(d *verdict.Drawing) *drawing {
	if d == nil {
		return nil
	}
	all := &drawing{}
	there := map[verdict.CellKind]bool{}
	var waiting []string
	for i, f := range d.Frames {
		last := i == len(d.Frames)-1
		waiting = append(waiting, fmt.Sprintf("%d: %s", i+1, f.Op))
		if !last && i > 0 && reflect.DeepEqual(f.Rows, d.Frames[i-1].Rows) {
			continue
		}
		frame := drawnFrame{Op: strings.Join(waiting, "; "), Last: last}
		waiting = nil
		for _, r := range f.Rows {
			var boxes []box
			var told []string
			for _, c := range runs(r.Cells) {
				b := box{From: c.From, Width: c.To - c.From, Class: kindsOf[c.Kind].Class, Labels: []string{c.Text}, Tip: c.Text}
				if c.Asked > 0 && c.Kind != verdict.Wrong {
					b.Fill = share(c.Asked)
				}
				boxes = append(boxes, b)
				if c.Kind == verdict.Wrong {
					c.Text = "wrong: " + c.Text
				}
				told = append(told, c.Text)
				there[c.Kind] = true
				all.Wrong = all.Wrong || c.Kind == verdict.Wrong
				all.Asked = all.Asked || c.Asked > 0 && c.Asked < 1
			}
			frame.Lanes = append(frame.Lanes, newLane(r.Name, uncovered(boxes)))
			frame.Rows = append(frame.Rows, drawnRow{r.Name, strings.Join(told, "; ")})
		}
		all.Frames = append(all.Frames, frame)
	}
	if len(all.Frames) == 1 && !all.Wrong {
		return nil // the answer is wrong, and not what a single step has made of the memory
	}
	for _, k := range []verdict.CellKind{verdict.Free, verdict.Out, verdict.Spilled, verdict.Back, verdict.Buddy,
		verdict.Mapped, verdict.Wrong} {
		if there[k] {
			all.Legend = append(all.Legend, kindsOf[k])
		}
	}
	return all
}

// uncovered takes away the labels on which another box would be.
func uncovered(boxes []box) []box {
	for i := range boxes {
		for _, o := range boxes[i+1:] {
			if a := &boxes[i]; o.From < a.From+a.Width-1e-9 && a.From < o.From+o.Width-1e-9 {
				a.Labels = nil
			}
		}
	}
	return boxes
}

// mostCells is how many cells of a row are drawn each for itself.
const mostCells = 32

// runs makes one of neighbours that are alike, where there are too many.
func runs(cells []verdict.Cell) (fewer []verdict.Cell) {
	if len(cells) <= mostCells {
		return cells
	}
	for _, c := range slices.SortedFunc(slices.Values(cells), func(a, b verdict.Cell) int {
		return cmp.Compare(a.From, b.From)
	}) {
		if n := len(fewer); n > 0 && fewer[n-1].Kind == c.Kind && fewer[n-1].Text == c.Text && fewer[n-1].To == c.From {
			fewer[n-1].To = c.To
			continue
		}
		fewer = append(fewer, c)
	}
	return fewer
}
