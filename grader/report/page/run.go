package page

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"cudalab/grader/report/look"
	"cudalab/grader/suite/verdict"
)

// runFigure is how full an allocator was over a long sequence, and how its memory was divided: what was asked for and
// what was handed out for it, above each other, and the two kinds of fragmentation.
type runFigure struct {
	ID, Title, Summary string
	Width              px
	Height, Low        px // of the two drawings
	Steps              int
	Total, Out, Asked  string // areas
	Internal, External string // lines; none where next to nothing was lost
	Torn               string // the largest part of what was free that no single request could have had
	Figures            [][2]string
}

const (
	runHeight = 120.0
	runLow    = 60.0
)

func newRunFigure(id string, r *verdict.Run) *runFigure {
	f := &runFigure{ID: id, Title: r.Title, Width: spaceWidth, Height: runHeight, Low: runLow, Steps: len(r.Steps)}
	most := slices.MaxFunc(r.Steps, func(a, b verdict.Use) int { return cmp.Compare(a.Total, b.Total) }).Total
	of := func(n int64) float64 { return float64(n) / float64(max(most, 1)) }
	area := func(value func(verdict.Use) float64) string {
		return steps(r.Steps, runHeight, value) + fmt.Sprintf("V%vH0Z", runHeight)
	}
	f.Total = area(func(u verdict.Use) float64 { return of(u.Total) })
	f.Out = area(func(u verdict.Use) float64 { return of(u.Out) })
	f.Asked = area(func(u verdict.Use) float64 { return of(u.Asked) })
	f.Internal = steps(r.Steps, runLow, verdict.Use.Internal)
	f.External = steps(r.Steps, runLow, verdict.Use.External)
	worst := func(name string, value func(verdict.Use) float64) {
		at := 0
		for i, u := range r.Steps {
			if value(u) > value(r.Steps[at]) {
				at = i
			}
		}
		f.Figures = append(f.Figures, [2]string{name, fmt.Sprintf("%s %%, at step %d", look.Figure(100*value(r.Steps[at])),
			at+1)})
	}
	worst("handed out at the most", verdict.Use.Occupancy)
	worst("internal fragmentation at the most", verdict.Use.Internal)
	worst("external fragmentation at the most", verdict.Use.External)
	var torn, within float64
	for _, u := range r.Steps {
		torn, within = max(torn, u.External()), max(within, u.Internal())
	}
	const little = 0.1
	if f.Torn = look.Figure(100*torn) + " %"; torn < little && within < little {
		f.Internal, f.External = "", ""
	}
	var said []string
	for _, x := range f.Figures {
		said = append(said, x[0]+": "+x[1])
	}
	f.Summary = strings.Join(said, "; ") + "."
	return f
}

// steps is a path that holds each value, from 0 to 1, for one step.
func steps(all []verdict.Use, height float64, value func(verdict.Use) float64) string {
	var b strings.Builder
	for i, u := range all {
		move := "H%vV%v"
		if i == 0 {
			move = "M%v %v"
		}
		fmt.Fprintf(&b, move, look.Round(spaceWidth*float64(i)/float64(len(all))), look.Round(height*(1-value(u))))
	}
	fmt.Fprintf(&b, "H%v", spaceWidth)
	return b.String()
}
