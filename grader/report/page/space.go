package page

import (
	"fmt"
	"slices"

	"cudalab/grader/report/look"
	"cudalab/grader/report/timeline"
)

// spaceFigure is an address space that an allocator hands out in parts: each part as a rectangle from the step in which
// it was handed out to that in which it was taken back, at its addresses.
type spaceFigure struct {
	ID, Title, Summary string
	Width, Height      px
	Parts              []rect
}

type rect struct {
	X, Y, W, H px
	Class, Tip string
}

const (
	spaceWidth  = 1200.0
	spaceHeight = 220.0
	mostParts   = 40 // of more, no rectangle could be told from its neighbours
)

// looksLike reports whether two figures have the same rectangles, whatever their blocks are called.
func (f *spaceFigure) looksLike(other *spaceFigure) bool {
	return slices.EqualFunc(f.Parts, other.Parts, func(a, b rect) bool {
		return a.X == b.X && a.Y == b.Y && a.W == b.W && a.H == b.H
	})
}

func newSpaceFigure(id string, t *timeline.Timeline, s timeline.Space) *spaceFigure {
	whole := t.Blocks[s.Block]
	var steps []int // the calls that made and freed the blocks
	for _, i := range s.Parts {
		steps = append(steps, t.Blocks[i].Made)
		if freed := t.Blocks[i].Freed; freed >= 0 {
			steps = append(steps, freed)
		}
	}
	slices.Sort(steps)
	steps = slices.Compact(steps)
	f := &spaceFigure{ID: id, Width: spaceWidth, Height: spaceHeight,
		Title:   fmt.Sprintf("%s: %s of %s", t.Case, bytes(whole.Size), whole.Kind),
		Summary: fmt.Sprintf("%s in %s.", look.Plural(len(s.Parts), "block"), look.Plural(len(steps), "step"))}
	x := func(step int) float64 { return spaceWidth * float64(step) / float64(max(len(steps), 1)) }
	y := func(addr uint64) float64 { return spaceHeight * float64(addr-whole.Addr) / float64(max(whole.Size, 1)) }
	for n, i := range s.Parts {
		b := t.Blocks[i]
		last, until := len(steps), "the end"
		if b.Freed >= 0 {
			last, _ = slices.BinarySearch(steps, b.Freed)
			until = fmt.Sprintf("step %d", last+1)
		}
		first, _ := slices.BinarySearch(steps, b.Made)
		x0, x1 := x(first), x(last)
		r := rect{X: look.Round(x0), Y: look.Round(y(b.Addr)), W: look.Round(max(x1-x0, 1.5)),
			H: look.Round(max(y(b.Addr+uint64(b.Size))-y(b.Addr), 1.5)), Class: fmt.Sprintf("part p%d", n%3)}
		r.Tip = fmt.Sprintf("%s at offset %s, from step %d to %s", bytes(b.Size), grouped(int64(b.Addr-whole.Addr)),
			first+1, until)
		f.Parts = append(f.Parts, r)
	}
	return f
}
