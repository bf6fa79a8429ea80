package page

import (
	"fmt"
	"strings"

	"cudalab/grader/report/look"
	"cudalab/grader/report/timeline"
)

// spaceFigure is an address space that an allocator hands out in parts: each part as a rectangle from the step in which
// it was handed out to that in which it was taken back, at its addresses; fragmentation over the same steps; and how
// the space was divided when that was highest. Of very many there are no rectangles.
type spaceFigure struct {
	ID, Title, Summary string
	Width, Height      px
	Parts              []rect
	Fragmentation      string // a path over the steps
	Used               string
	Steps              int
	Size               string
	Torn               lanes // the addresses, when the free memory was the most fragmented
	TornAt             string
	Figures            [][2]string
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

// newSpaceFigure draws a space of a case; nil where there is too little in it to show.
func newSpaceFigure(id string, t *timeline.Timeline, s timeline.Space) *spaceFigure {
	whole := t.Blocks[s.Block]
	f := &spaceFigure{ID: id, Width: spaceWidth, Height: spaceHeight, Size: bytes(whole.Size)}
	f.Title = fmt.Sprintf("%s: %s of %s", t.Case, f.Size, whole.Kind)
	parts := s.Parts
	steps := stepsOf(t, parts)
	f.Steps = len(steps)
	x := func(step int) float64 { return spaceWidth * float64(step) / float64(max(len(steps), 1)) }
	stepOf := map[int]int{}
	for i, c := range steps {
		stepOf[c] = i
	}
	y := func(addr uint64) float64 { return spaceHeight * float64(addr-whole.Addr) / float64(max(whole.Size, 1)) }
	drawn := parts
	if len(drawn) > mostParts {
		drawn = nil
	}
	for n, i := range drawn {
		b := t.Blocks[i]
		last, until := len(steps), "the end"
		if b.Freed >= 0 {
			if at, ok := stepOf[b.Freed]; ok {
				last, until = at, fmt.Sprintf("step %d", at+1)
			}
		}
		x0, x1 := x(stepOf[b.Made]), x(last)
		r := rect{X: look.Round(x0), Y: look.Round(y(b.Addr)), W: look.Round(max(x1-x0, 1.5)),
			H: look.Round(max(y(b.Addr+uint64(b.Size))-y(b.Addr), 1.5)), Class: fmt.Sprintf("part p%d", n%3)}
		r.Tip = fmt.Sprintf("%s at offset %s, from step %d to %s", bytes(b.Size), grouped(int64(b.Addr-whole.Addr)),
			stepOf[b.Made]+1, until)
		f.Parts = append(f.Parts, r)
	}
	f.follow(t, timeline.Space{Block: s.Block, Parts: parts}, steps)
	return f
}

// stepsOf is the calls that made and freed some blocks, in their order.
func stepsOf(t *timeline.Timeline, blocks []int) []int {
	is := make([]bool, len(t.Calls))
	for _, i := range blocks {
		is[t.Blocks[i].Made] = true
		if f := t.Blocks[i].Freed; f >= 0 {
			is[f] = true
		}
	}
	var steps []int
	for i, yes := range is {
		if yes {
			steps = append(steps, i)
		}
	}
	return steps
}

// follow draws how much was used and how torn the free memory was after each step, and the fullest moment.
func (f *spaceFigure) follow(t *timeline.Timeline, s timeline.Space, steps []int) {
	const height = 60.0
	whole := t.Blocks[s.Block]
	var torn, used strings.Builder
	var worst, last timeline.Fragments
	var worstAt int
	var fullest int64
	for n, i := range steps {
		fr := t.FragmentsOf(s, i)
		x := look.Round(spaceWidth * float64(n) / float64(len(steps)))
		move := "H%vV%v"
		if n == 0 {
			move = "M%v %v"
		}
		fmt.Fprintf(&torn, move, x, look.Round(height*(1-fr.Fragmentation())))
		fmt.Fprintf(&used, move, x, look.Round(height*(1-float64(fr.Used)/float64(max(whole.Size, 1)))))
		fullest = max(fullest, fr.Used)
		if n == 0 || fr.Fragmentation() > worst.Fragmentation() || worst.Fragmentation() == 0 && fr.Used > worst.Used {
			worst, worstAt, f.TornAt = fr, i, fmt.Sprintf("after step %d", n+1)
		}
		last = fr
	}
	fmt.Fprintf(&torn, "H%v", spaceWidth)
	fmt.Fprintf(&used, "H%v", spaceWidth)
	f.Fragmentation, f.Used = torn.String(), used.String()
	f.Torn = addresses(t, s, worstAt)
	percent := func(v float64) string { return look.Figure(100*v) + " %" }
	f.Figures = [][2]string{
		{"handed out at the most", bytes(fullest) + " of " + f.Size},
		{"most fragmented", f.TornAt + ": " + percent(worst.Fragmentation())},
		{"handed out then", bytes(worst.Used)},
		{"free then", fmt.Sprintf("%s, of which the largest stretch has %s", bytes(worst.Free), bytes(worst.LargestFree))},
		{"free at the end", fmt.Sprintf("%s in %s", bytes(last.Free), look.Plural(last.Holes, "hole"))},
	}
	f.Summary = fmt.Sprintf("%s in %s. At the most %s were handed out. The free memory was torn the most %s: %s of it "+
		"lay outside its largest stretch.",
		look.Plural(len(s.Parts), "block"), look.Plural(f.Steps, "step"), bytes(fullest), f.TornAt,
		percent(worst.Fragmentation()))
	if worst.Fragmentation() == 0 {
		f.Summary = fmt.Sprintf("%s in %s. At the most %s were handed out. The free memory always lay together.",
			look.Plural(len(s.Parts), "block"), look.Plural(f.Steps, "step"), bytes(fullest))
	}
}

// addresses are how a space is divided behind a call.
func addresses(t *timeline.Timeline, s timeline.Space, call int) lanes {
	whole := t.Blocks[s.Block]
	part := func(bytes uint64) float64 { return float64(bytes) / float64(max(whole.Size, 1)) }
	var boxes []box
	var told []string
	add := func(lo, hi uint64, class, what string) {
		if hi <= lo {
			return
		}
		size := bytes(int64(hi - lo))
		tip := fmt.Sprintf("%s, %s at offset %s", what, size, grouped(int64(lo-whole.Addr)))
		boxes = append(boxes, box{From: part(lo - whole.Addr), Width: part(hi - lo), Class: class,
			Labels: []string{size}, Tip: tip})
		told = append(told, tip)
	}
	at := whole.Addr
	for _, b := range t.LiveAt(s, call) {
		add(at, b.Addr, "none", "free")
		add(b.Addr, b.Addr+uint64(b.Size), "alloc", "handed out")
		at = max(at, b.Addr+uint64(b.Size))
	}
	add(at, whole.Addr+uint64(whole.Size), "none", "free")
	return lanes{strings.Join(told, "; ") + ".", []lane{newLane("", fewer(boxes))}}
}
