package page

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// What pictures are drawn with: lanes of boxes whose lengths are true and whose text never scales, on an axis. A box
// has labels of several lengths, of which the longest is shown that fits; the browser chooses, by the lane's width.

// box is a piece of a lane, at a share of its length.
type box struct {
	From, Width float64 // from 0 to 1
	Class       string
	Kind        string   // boxes of a class and kind have labels all or none
	Labels      []string // the longest first
	Rungs       []rung
	Tip         string
	Fill        px // how much of it is filled more, in percent
}

// rung is a label that is shown from a width of the lane on, in characters.
type rung struct {
	From int
	Text string
}

// Left and Wide are as CSS has them.
func (b box) Left() px { return share(b.From) }
func (b box) Wide() px { return share(b.Width) }

// faulty reports whether a finding is about it.
func (b box) faulty() bool { return strings.Contains(b.Class, "fault") }

func share(part float64) px { return px(math.Round(part*1e5) / 1e3) }

// lane is a row of boxes that do not cover each other.
type lane struct {
	Name  string
	Boxes []box
}

// Widths of a lane that labels go by, in characters.
const (
	rungStep = 4
	rungMost = 200
	rungPad  = 1 // the box's border, and a little air
)

// newLane chooses from which width of the lane on labels are shown: the boxes of one class and kind all or none, by the
// narrowest.
func newLane(name string, boxes []box) lane {
	type kind struct {
		class, kind string
		rungs       int
	}
	narrow, long := map[kind]float64{}, map[kind][]int{}
	of := func(b box) kind { return kind{b.Class, b.Kind, len(b.Labels)} }
	for _, b := range boxes {
		k := of(b)
		if w, ok := narrow[k]; !ok || b.Width < w {
			narrow[k] = b.Width
		}
		if long[k] == nil {
			long[k] = make([]int, len(b.Labels))
		}
		for i, l := range b.Labels {
			long[k][i] = max(long[k][i], utf8.RuneCountInString(l))
		}
	}
	for i := range boxes {
		b := &boxes[i]
		for j, text := range b.Labels {
			from := (float64(long[of(*b)][j]) + rungPad) / max(narrow[of(*b)], 1e-9)
			at := rungStep * int(min(math.Ceil(from/rungStep), rungMost))
			if at < rungMost && text != "" {
				b.Rungs = append(b.Rungs, rung{at, text})
			}
		}
	}
	return lane{name, boxes}
}

// rungs is the part of the style sheet that shows one label of each box.
func rungs() string {
	var b strings.Builder
	for n := rungStep; n < rungMost; n += rungStep {
		fmt.Fprintf(&b, "@container lane (min-width: %dch) { .box .r%[1]d, .stage .r%[1]d { display: block; } "+
			".box .r%[1]d ~ b { display: none; } }\n", n)
	}
	return b.String()
}

// axis is the ticks below some lanes.
type axis []axisTick

type axisTick struct {
	At    px // percent
	Label string
	Class string
}

// newAxis divides a stretch of time, of which the unit is told at both ends.
func newAxis(nanos int64) (a axis) {
	by, unit := 1.0, " ns"
	switch {
	case nanos >= 2e9:
		by, unit = 1e9, " s"
	case nanos >= 2e6:
		by, unit = 1e6, " ms"
	case nanos >= 2e3:
		by, unit = 1e3, " µs"
	}
	return ticksTo(float64(nanos)/by, unit)
}

// ticksTo has four to six round ticks from 0 to a number.
func ticksTo(most float64, unit string) (a axis) {
	if most <= 0 {
		return nil
	}
	step := math.Pow(10, math.Floor(math.Log10(most)))
	for _, by := range []float64{0.1, 0.2, 0.25, 0.5, 1, 2} {
		if most/(step*by) < 6.5 {
			step *= by
			break
		}
	}
	for v := 0.0; v <= most*1.0001; v += step {
		a = append(a, axisTick{At: share(v / most), Label: strconv.FormatFloat(math.Round(v*1000)/1000, 'f', -1, 64)})
	}
	last := len(a) - 1
	for i := range a {
		if (last-i)%2 == 1 && i > 0 {
			a[i].Class = "odd"
		}
	}
	a[0].Class, a[0].Label = "first", a[0].Label+unit
	if a[last].Label += unit; a[last].At > 90 {
		a[last].Class = "last"
	}
	return a
}

// clipped are the boxes that can be seen between 0 and 1.
func clipped(boxes []box) []box {
	var all []box
	for _, b := range boxes {
		to := min(b.From+b.Width, 1)
		if b.From = max(b.From, 0); b.From >= 1 || to < b.From {
			continue
		}
		b.Width = to - b.From
		all = append(all, b)
	}
	return all
}

// mostBoxes is how many of a lane are drawn each for itself.
const mostBoxes = 64

// fewer makes one of neighbours of a kind where there are too many.
func fewer(boxes []box) []box {
	if len(boxes) <= mostBoxes {
		return boxes
	}
	together := (len(boxes) + mostBoxes - 1) / mostBoxes
	var all []box
	for len(boxes) > 0 {
		n := 1
		for n < len(boxes) && n < together && boxes[n].Class == boxes[0].Class {
			n++
		}
		b, last := boxes[0], boxes[n-1]
		if n > 1 {
			b.Width = last.From + last.Width - b.From
			b.Labels = []string{fmt.Sprintf("× %d", n)}
			b.Tip = fmt.Sprintf("%d like this: %s", n, b.Tip)
		}
		all, boxes = append(all, b), boxes[n:]
	}
	return all
}

// Neighbours are drawn as one where both are narrower than this, and what is between them is.
const tooNarrow, tooNear = 0.006, 0.003

// joined makes one of neighbours of a class that would be no more than lines side by side.
func joined(class string, boxes []box) (all []box) {
	count := 0
	for _, b := range boxes {
		if n := len(all); n > 0 && b.Class == class && all[n-1].Class == class && b.Width < tooNarrow &&
			(count > 1 || all[n-1].Width < tooNarrow) && b.From-all[n-1].From-all[n-1].Width < tooNear {
			count++
			last := &all[n-1]
			last.Width, last.Tip, last.Labels = b.From+b.Width-last.From, fmt.Sprintf("%d calls", count), nil
			continue
		}
		count = 1
		all = append(all, b)
	}
	return all
}

// sorted are boxes from the left to the right.
func sorted(boxes []box) []box {
	slices.SortStableFunc(boxes, func(a, b box) int { return int(math.Copysign(1, a.From-b.From)) })
	return boxes
}
