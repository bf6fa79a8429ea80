package page

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"cudalab/grader/report/look"
	"cudalab/grader/suite/verdict"
)

// runFigure is what was free of an allocator's memory over a long sequence, how much of that one request could have
// had, and which requests were refused meanwhile.
type runFigure struct {
	ID, Title, Answer string
	Most              string // the upper edge
	Free, Largest     string // areas; none where next to nothing was torn
	Pins, Axis        axis
	Refused           []string // what the pins are
	Figures           [][2]string
}

// little is the part of what is free that may be torn without being drawn.
const little = 0.1

// mostRefused is how many requests that were refused are told of at the most, and refusedApart how many percent of the
// figure lie between two of them.
const (
	mostRefused  = 3
	refusedApart = 8
)

func newRunFigure(id string, r *verdict.Run) *runFigure {
	f := &runFigure{ID: id, Title: r.Title}
	free := func(u verdict.Use) int64 { return u.Total - u.Out }
	worst := func(value func(verdict.Use) float64) int {
		at := 0
		for i, u := range r.Steps {
			if value(u) > value(r.Steps[at]) {
				at = i
			}
		}
		return at
	}
	for _, x := range []struct {
		name  string
		value func(verdict.Use) float64
	}{{"handed out at the most", verdict.Use.Occupancy},
		{"of that, asked for by nobody at the most (internal fragmentation)", verdict.Use.Internal},
		{"of what was free, too torn for one request at the most (external fragmentation)", verdict.Use.External}} {
		at := worst(x.value)
		f.Figures = append(f.Figures, [2]string{x.name, fmt.Sprintf("%s %%, at step %d",
			look.Figure(100*x.value(r.Steps[at])), at+1)})
	}
	torn := worst(verdict.Use.External)
	var refused []int
	for i, u := range r.Steps {
		if u.Refused > 0 && u.Refused <= free(u) {
			refused = append(refused, i)
		}
	}
	if len(refused) == 0 && r.Steps[torn].External() < little {
		f.Answer = fmt.Sprintf("Nothing was refused for which there was room, and of what was free at most %s %% lay where "+
			"one request could not have had it.", look.Figure(100*r.Steps[torn].External()))
		return f
	}
	at := torn
	if len(refused) > 0 {
		at = slices.MaxFunc(refused, func(a, b int) int { return cmp.Compare(free(r.Steps[a]), free(r.Steps[b])) })
	}
	u := r.Steps[at]
	f.Answer = fmt.Sprintf("Of %s that are free at step %d the largest request that fits is %s", bytes(free(u)), at+1,
		bytes(u.Largest))
	most := free(slices.MaxFunc(r.Steps, func(a, b verdict.Use) int { return cmp.Compare(free(a), free(b)) }))
	f.Most = bytes(most)
	of := func(n int64) float64 { return float64(n) / float64(max(most, 1)) }
	f.Free = steps(r.Steps, func(u verdict.Use) float64 { return of(free(u)) })
	f.Largest = steps(r.Steps, func(u verdict.Use) float64 { return of(u.Largest) })
	f.Axis = ticksTo(float64(len(r.Steps)), "")
	var told []int
	for _, i := range append([]int{at}, refused...) {
		near := func(o int) bool { return 100*max(o-i, i-o) < refusedApart*len(r.Steps) }
		if r.Steps[i].Refused > 0 && len(told) < mostRefused && !slices.ContainsFunc(told, near) {
			told = append(told, i)
		}
	}
	slices.Sort(told)
	for n, i := range told {
		u := r.Steps[i]
		f.Pins = append(f.Pins, *limitAt((float64(i)+0.5)/float64(len(r.Steps)), fmt.Sprint(n+1)))
		f.Refused = append(f.Refused, fmt.Sprintf("A request for %s was refused at step %d: %s were free, and at most %s "+
			"for one request", bytes(u.Refused), i+1, bytes(free(u)), bytes(u.Largest)))
	}
	return f
}

// Said tells the areas to those who do not see them.
func (f *runFigure) Said() string {
	return f.Answer + ". " + strings.Join(f.Refused, ". ")
}

// runHeight is that of the areas, which are 1000 wide.
const runHeight = 120.0

// steps is an area that holds each value, from 0 to 1, for one step.
func steps(all []verdict.Use, value func(verdict.Use) float64) string {
	var b strings.Builder
	fmt.Fprintf(&b, "M0 %v", runHeight)
	for i, u := range all {
		fmt.Fprintf(&b, "H%vV%v", look.Round(1000*float64(i)/float64(len(all))), look.Round(2+(runHeight-2)*(1-value(u))))
	}
	fmt.Fprintf(&b, "H1000V%vZ", runHeight)
	return b.String()
}
