package report

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"cudalab/grader/judge/prove"
	"cudalab/grader/order/schedule"
	"cudalab/grader/suite/verdict"
)

// Sizes of a film's frame that has both orders side by side.
const (
	besideName    = 12  // characters of a stream's name
	besideWidth   = 120 // characters of a line at most
	besideCaption = 5   // lines of a caption at most, and where there is little room
	besideLittle  = 3
	besideWaiting = 2 // steps that are seen waiting
)

// painted is how a text is coloured.
type painted = func(...any) string

// besides lays a frame out in few lines: the orders side by side, and of the legend, the blank lines and the captions
// what there is room for. The streams and the memory are always there.
type besides struct {
	*printer
	film  *schedule.Film
	takes []int // indices into Takes
	name  int
	cell  int // characters of a step
	each  int // characters of an order
	k     int
}

func beside(f *prove.Fault, k int, o Options) string {
	b := besides{printer: newPrinter(verdict.Report{}, o), film: f.Film, k: k}
	b.width = min(max(o.Width, minWidth), besideWidth)
	for _, lane := range b.film.Lanes {
		b.name = min(max(b.name, utf8.RuneCountInString(lane)), besideName)
	}
	for n := range b.film.Takes {
		b.takes = append(b.takes, n)
	}
	if b.cell = 3; !b.fits() {
		b.cell = 2
	}
	if !b.fits() { // the one that goes wrong says the most
		b.takes, b.cell = b.takes[len(b.takes)-1:], 3
	}
	b.each = (b.width - b.name - 1 - 2*(len(b.takes)-1)) / len(b.takes)

	captions := 0
	for _, n := range b.takes {
		for _, frame := range b.film.Takes[n].Frames {
			captions = max(captions, len(Wrap(frame.Caption, b.each-1)))
		}
	}
	captions = min(captions, besideCaption)
	legend := b.legend(f)
	blanks := 2
	lines := func() int {
		return 2 + len(b.film.Lanes) + len(b.film.Memory) + captions + blanks + len(legend) // and a title and what is missing
	}
	most := o.Height - 1 // the last line is the keys'
	if lines() > most {
		legend = nil
	}
	if lines() > most {
		blanks = 0
	}
	if lines() > most {
		captions = min(captions, besideLittle)
	}
	b.draw(captions, blanks, legend)
	return b.text.String()
}

// fits reports whether the lanes of all orders fit side by side.
func (b *besides) fits() bool {
	lane := (besideWaiting+len(b.film.Steps))*b.cell + 2
	return b.name+1+len(b.takes)*lane+2*(len(b.takes)-1) <= b.width
}

func (b *besides) draw(captions, blanks int, legend []string) {
	titles := b.film.Titles()
	b.row("", func(n int) (string, painted) { return titles[n], b.palette.bold })
	for lane, name := range b.film.Lanes {
		b.row(name, func(n int) (string, painted) { return b.lane(b.film.Takes[n], lane), nil })
	}
	if blanks > 0 {
		b.line("")
	}
	for i := range b.film.Memory {
		b.row(schedule.Letter(i), func(n int) (string, painted) {
			h := b.film.Takes[n].Frames[b.k].Memory[i]
			if h.Bad {
				return h.Text, b.palette.bad
			}
			return h.Text, nil
		})
	}
	if blanks > 1 {
		b.line("")
	}
	for i := range captions {
		b.row("", func(n int) (string, painted) {
			take := b.film.Takes[n]
			said := Wrap(take.Frames[b.k].Caption, b.each-1)
			if i >= len(said) {
				return "", nil
			}
			if text := said[i]; i == captions-1 && len(said) > captions {
				return text + " …", nil
			}
			if b.k == take.Wrong {
				return said[i], b.palette.bad
			}
			return said[i], nil
		})
	}
	if b.film.Early >= 0 {
		b.line(b.palette.bad(clip(b.film.Missing(), b.width)))
	}
	for _, text := range legend {
		b.line(b.palette.dim(text))
	}
}

// row is a line with a name and something of each order.
func (b *besides) row(name string, of func(take int) (text string, style painted)) {
	line := pad(clip(name, b.name), b.name) + " "
	for i, n := range b.takes {
		text, style := of(n)
		if style != nil {
			room := max(0, b.each-utf8.RuneCountInString(text))
			text = style(clip(text, b.each)) + strings.Repeat(" ", room)
		} else {
			text = pad(clip(text, b.each), b.each)
		}
		if line += text; i+1 < len(b.takes) {
			line += "  "
		}
	}
	b.line(strings.TrimRight(line, " "))
}

// lane is a stream in one order: the next steps that wait in it, then what the device has done.
func (b *besides) lane(take schedule.Take, lane int) string {
	cells := slices.Repeat([]string{"·"}, besideWaiting+len(b.film.Steps))
	done := map[int]bool{}
	for n, frame := range take.Frames[:b.k+1] {
		if n == 0 {
			continue
		}
		done[frame.Done] = true
		if b.film.Steps[frame.Done].Lane == lane {
			cells[besideWaiting+n-1] = b.film.Sign(frame.Done)
			if n == take.Wrong {
				cells[besideWaiting+n-1] = "✗"
			}
		}
	}
	at := besideWaiting - 1
	for i, s := range b.film.Steps {
		if s.Lane == lane && !done[i] && at >= 0 {
			cells[at] = b.film.Sign(i)
			at--
		}
	}
	for i := range cells {
		cells[i] = fmt.Sprintf("%*s", b.cell, cells[i])
	}
	return strings.Join(cells[:besideWaiting], "") + " │" + strings.Join(cells[besideWaiting:], "")
}

// legend is what the signs stand for, two to a line.
func (b *besides) legend(f *prove.Fault) (lines []string) {
	all := signs(f)
	half := (b.width - 2) / 2
	for rows, i := (len(all)+1)/2, 0; i < rows; i++ {
		line := pad(clip(all[i], half), half)
		if i+rows < len(all) {
			line += "  " + clip(all[i+rows], half)
		}
		lines = append(lines, strings.TrimRight(line, " "))
	}
	return lines
}
