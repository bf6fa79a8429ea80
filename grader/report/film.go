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

// Frames is how many frames there are of a fault's film.
func Frames(f *prove.Fault) int { return len(f.Film.Steps) + 1 }

// Frame is the k-th frame of a fault's film, for a terminal: in each of the two orders what still waits in its stream,
// what the device has done, and what the memory holds. All frames of a film have as many lines. Where they are more
// than the screen has, the orders stand side by side.
func Frame(f *prove.Fault, k int, o Options) string {
	text := below(f, k, o)
	if o.Height > 0 && lines(text)+1 > o.Height { // the keys come in the last line
		return beside(f, k, o)
	}
	return text
}

// below is a frame with one order below the other.
func below(f *prove.Fault, k int, o Options) string {
	p := newPrinter(verdict.Report{}, o)
	film := f.Film
	titles := film.Titles()
	for n, take := range film.Takes {
		p.line(p.palette.bold(titles[n]))
		p.stage(film, take, k)
		for i, h := range take.Frames[k].Memory {
			text := fmt.Sprintf("%s  %s", schedule.Letter(i), h.Text)
			if h.Bad {
				text = p.palette.bad(text)
			}
			p.line("    " + text)
		}
		style := plain
		if k == take.Wrong {
			style = p.palette.bad
		}
		before, most := lines(p.text.String()), 0
		for _, frame := range take.Frames {
			most = max(most, len(Wrap(frame.Caption, p.width-2)))
		}
		p.block(2, "", take.Frames[k].Caption, style)
		for lines(p.text.String()) < before+most {
			p.line("")
		}
		p.line("")
	}
	if film.Early >= 0 {
		p.line(p.palette.bad("  " + film.Missing()))
	}
	for _, text := range signs(f) {
		p.line(p.palette.dim("  " + clip(text, p.width-2)))
	}
	p.line("")
	return p.text.String()
}

// signs are what a film's signs stand for.
func signs(f *prove.Fault) (all []string) {
	for i, s := range f.Film.Steps {
		text := fmt.Sprintf("%s  %s", f.Film.Sign(i), s.Call)
		if at := f.Shots[i]; at.File != "" {
			text += fmt.Sprintf(", line %d", at.Line)
		}
		all = append(all, text)
	}
	for i, name := range f.Film.Memory {
		all = append(all, schedule.Letter(i)+"  "+name)
	}
	return all
}

func lines(text string) int { return strings.Count(text, "\n") }

// stage draws a row for each stream: on the left what still waits in it, the next one on the right, then what the
// device has done.
func (p *printer) stage(f *schedule.Film, take schedule.Take, k int) {
	name, waiting := 0, 0
	left := make([][]int, len(f.Lanes)) // the steps of each lane that are not done yet, the last first
	all := make([]int, len(f.Lanes))
	done := map[int]int{} // by step, when
	for n, frame := range take.Frames[:k+1] {
		if n > 0 {
			done[frame.Done] = n
		}
	}
	for i, s := range f.Steps {
		all[s.Lane]++
		if _, over := done[i]; !over {
			left[s.Lane] = append([]int{i}, left[s.Lane]...)
		}
	}
	for i, lane := range f.Lanes {
		name, waiting = max(name, utf8.RuneCountInString(lane)), max(waiting, all[i])
	}
	for lane, title := range f.Lanes {
		row := slices.Repeat([]string{"·"}, waiting+len(f.Steps))
		for i, step := range left[lane] {
			row[waiting-len(left[lane])+i] = f.Sign(step)
		}
		for step, n := range done {
			if f.Steps[step].Lane == lane {
				row[waiting+n-1] = f.Sign(step)
			}
		}
		for i := range row {
			row[i] = fmt.Sprintf("%3s", row[i])
			if k > 0 && i == waiting+k-1 && f.Steps[take.Frames[k].Done].Lane == lane {
				style := p.palette.bold
				if k == take.Wrong {
					style = p.palette.bad
				}
				row[i] = style(row[i])
			}
		}
		p.line(fmt.Sprintf("  %-*s ", name, title) + strings.Join(row[:waiting], "") + " │" + strings.Join(row[waiting:], ""))
	}
}
