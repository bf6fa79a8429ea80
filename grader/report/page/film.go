package page

import (
	"fmt"
	"slices"

	"cudalab/grader/judge/prove"
	"cudalab/grader/order/schedule"
	"cudalab/grader/suite/verdict"
	"cudalab/native/trace"
)

// filmFigure is an order in which a finding goes wrong beside the one that happened, frame by frame. Rows are streams;
// on the left is what is still to be done, on the right what the device has done, the first on the left.
type filmFigure struct {
	ID        string
	Lanes     []filmLane
	Waiting   int // columns of what is still to be done
	Columns   int // all of them
	Steps     []filmStep
	Memory    []filmMemory
	Takes     []filmTake
	Start     int // the frame in which it goes wrong
	Edge      bool
	Answer    string // "" where it goes wrong always
	Missing   string // the wait that is missing, by the numbers of its steps; "" likewise
	stepIndex []int  // by step of the film: its column among those of its lane that are still to be done
}

type filmLane struct {
	Name string
	Row  int // in the grid
}

// filmStep is a line of the list of steps.
type filmStep struct{ Sign, Call, Link, Place string }

type filmMemory struct{ Letter, Name string }

// filmTake is one of the two.
type filmTake struct {
	Title  string
	Frames []filmFrame
}

type filmFrame struct {
	Chips   []chip
	Missing string // the path of the wait that is missing; "" where none is
	Own     string // and of the program's own
	Done    string // the step that has just been done, by its sign
	Memory  []filmHeld
	Caption string
	Wrong   bool
}

// Room is from which width of a chip on its name is shown, in characters.
func (c chip) Room() int { return rungStep * ((len(c.Name) + rungStep + 1) / rungStep) }

// chip is a step where it is in a frame.
type chip struct {
	Step       int
	Sign, Name string
	Row, Col   int
	Class      string
}

type filmHeld struct {
	Letter, Text string
	Bad          bool
}

// mostFilms is how many findings of a page have a film.
const mostFilms = 6

// film is the order in which a finding goes wrong; nil if there is none.
func (p *content) film(n int, f verdict.Finding) *filmFigure {
	here := func(o prove.Fault) bool {
		return o.Finding.Rule == f.Rule && o.At.File == f.File && (o.At.Line == f.Line || o.At.Line == f.Effect)
	}
	i := slices.IndexFunc(p.Orders, func(o prove.Fault) bool { return here(o) && o.Finding.Message == f.Message })
	if i < 0 {
		i = slices.IndexFunc(p.Orders, here) // of another case
	}
	if i < 0 || f.File == "" || p.films == mostFilms {
		return nil
	}
	p.films++
	o := p.Orders[i]
	fig := newFilmFigure(p.At(fmt.Sprintf("film%d", n)), o.Film)
	for k := range o.Film.Steps {
		s := &o.Film.Steps[k]
		at := o.Shots[k]
		fig.Steps = append(fig.Steps, filmStep{o.Film.Sign(k), s.Call, p.sources.link(at.File, at.Line),
			place(at.File, at.Line)})
	}
	return fig
}

func newFilmFigure(id string, f *schedule.Film) *filmFigure {
	fig := &filmFigure{ID: id, Edge: f.Edge != nil, stepIndex: make([]int, len(f.Steps))}
	count := make([]int, len(f.Lanes))
	for k, s := range f.Steps {
		fig.stepIndex[k] = count[s.Lane]
		count[s.Lane]++
	}
	fig.Waiting = slices.Max(count)
	fig.Columns = fig.Waiting + len(f.Steps)
	for k, name := range f.Lanes {
		fig.Lanes = append(fig.Lanes, filmLane{name, k + 2})
	}
	for k, name := range f.Memory {
		fig.Memory = append(fig.Memory, filmMemory{schedule.Letter(k), name})
	}
	if fig.Missing = f.Missing(); fig.Missing != "" {
		fig.Answer = fmt.Sprintf("Nothing makes %s wait for %s", f.Steps[f.Early].Call, f.Steps[f.Late].Call)
	}
	titles := f.Titles()
	for k, t := range f.Takes {
		take := filmTake{Title: titles[k]}
		done := make([]int, len(f.Steps)) // by step: when it was done, from 1; 0: not yet
		for n, frame := range t.Frames {
			if frame.Done >= 0 {
				done[frame.Done] = n
			}
			take.Frames = append(take.Frames, fig.frame(f, frame, done, n == t.Wrong, k == len(f.Takes)-1))
		}
		fig.Takes = append(fig.Takes, take)
		fig.Start = max(fig.Start, t.Wrong)
	}
	return fig
}

// frame places the steps: those that are done by when they were, the others in their streams, the next one of each
// nearest to the device.
func (fig *filmFigure) frame(f *schedule.Film, frame schedule.Frame, done []int, wrong, bad bool) filmFrame {
	x := filmFrame{Caption: frame.Caption, Wrong: wrong}
	gone := make([]int, len(f.Lanes)) // how many of a lane are done
	for k, s := range f.Steps {
		if done[k] > 0 {
			gone[s.Lane]++
		}
	}
	for k, s := range f.Steps {
		c := chip{Step: k, Sign: f.Sign(k), Row: s.Lane + 2}
		c.Class, c.Name = drawn(s)
		if done[k] > 0 {
			c.Col = fig.Waiting + done[k] + 1
		} else {
			c.Col = fig.Waiting - (fig.stepIndex[k] - gone[s.Lane]) + 1
			c.Class += " todo"
		}
		if k == frame.Done {
			c.Class += " now"
			x.Done = c.Sign
			if wrong {
				c.Class += " wrong"
			}
		}
		x.Chips = append(x.Chips, c)
	}
	line := func(from, to int) string { // in the gap between the rows, as far as they are neighbours
		a, b := x.Chips[from], x.Chips[to]
		edge := 0.34
		if b.Row < a.Row {
			edge = -edge
		}
		return fmt.Sprintf("M%.1f %.2fL%.1f %.2f", float64(a.Col)-1.5, float64(a.Row)-1.5+edge, float64(b.Col)-1.5,
			float64(b.Row)-1.5-edge)
	}
	if bad && f.Early >= 0 {
		x.Missing = line(f.Late, f.Early)
	}
	if f.Edge != nil {
		x.Own = line(f.Edge[0], f.Edge[1])
	}
	for k, h := range frame.Memory {
		x.Memory = append(x.Memory, filmHeld{schedule.Letter(k), h.Text, h.Bad})
	}
	return x
}

// drawn is a step's class and its name.
func drawn(s schedule.Shot) (class, name string) {
	st := styleOf(s.Op)
	switch {
	case s.N == 0:
		return "own", st.Name
	case s.Op == trace.OpLaunch:
		return st.Class, s.Kernel
	}
	return st.Class, st.Name
}
