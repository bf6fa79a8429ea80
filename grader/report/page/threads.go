package page

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"cudalab/grader/suite/verdict"
)

// threadsFigure is an order of threads' operations on a word: threads and the word are lanes, time runs down, and what
// a thread has learnt of the word is a line down its lane until it does something else, dashed from where it is old.
type threadsFigure struct {
	ID, Answer string
	Folded     string // what came before what is drawn
	W, H       px
	Heads      []threadHead
	Steps      []threadRow
	Bands      []wordBand
	Holds      []threadHold
	Arrows     []threadArrow
	Old        bool
	Said       string
}

type threadHead struct {
	X           px
	Name, Below string
}

type threadRow struct {
	N                    int
	Y                    px
	Say                  string
	Wrong                bool
	X, BoxX, BoxW, TextY px
	Short                string
	Reads                bool
	Bytes                *lanes
}

type wordBand struct {
	X, Y, W, H, Mid px
	Text            string
}

type threadHold struct {
	X, From, To px
	Old         bool
}

type threadArrow struct {
	X1, X2, Y, Head, TextX, TextY px
	Left                          bool
	Answer                        string
}

// Sizes of the lanes, which are the same on every screen.
const (
	threadsTop   = 52.0
	threadsStep  = 80.0
	threadsWord  = 60.0
	threadsMost  = 4
	threadsSteps = 8 // that are drawn, the last ones
	shortMost    = 9 // letters in a box
)

func newThreads(id string, t *verdict.Threads) *threadsFigure {
	if t == nil || t.Threads > threadsMost || t.Threads < 2 {
		return nil
	}
	f := &threadsFigure{ID: id}
	steps, word, first := t.Steps, t.Word, 0
	if extra := len(steps) - threadsSteps; extra > 0 {
		first, word, steps = extra, steps[extra-1].Word, steps[extra:]
		f.Folded = fmt.Sprintf("%d steps came before; w is %s.", extra, word)
	}
	lane := []float64{0, 0, 114, 90, 72}[t.Threads]
	left := (t.Threads + 1) / 2
	x := func(thread int) float64 {
		at := lane*float64(thread) + lane/2
		if thread >= left {
			at += threadsWord
		}
		return at
	}
	wordX := lane * float64(left)
	asks := make([]string, t.Threads)
	for _, s := range t.Steps {
		if s.Asks != "" && asks[s.Thread] == "" {
			asks[s.Thread] = "asks " + fitting(s.Asks, int(lane/7)-5)
		}
	}
	for k := range t.Threads {
		f.Heads = append(f.Heads, threadHead{px(x(k)), fmt.Sprintf("thread %d", k+1), asks[k]})
	}
	f.Heads = append(f.Heads, threadHead{px(wordX + threadsWord/2), "w", "the word"})
	f.W, f.H = px(lane*float64(t.Threads)+threadsWord), px(threadsTop+threadsStep*float64(len(steps))+8)
	y := func(i int) float64 { return threadsTop + threadsStep*float64(i) + 30 }

	from := threadsTop
	band := func(to float64, text string) {
		f.Bands = append(f.Bands, wordBand{px(wordX + 8), px(from), threadsWord - 16, px(to - from), px(from + 16),
			fitting(text, 6)})
		from = to
	}
	var given []verdict.Stretch
	for i, s := range steps {
		at := y(i)
		row := threadRow{N: first + i + 1, Y: px(at), X: px(x(s.Thread)), Short: fitting(s.Short, int(lane-10)/8),
			Reads: !s.Changes, TextY: px(at + 4), Wrong: i == len(steps)-1}
		if s.Short != "" {
			row.BoxW = px(float64(utf8.RuneCountInString(row.Short))*7.3 + 12)
			row.BoxX = row.X - row.BoxW/2
			f.arrow(&row, s, wordX, at)
		}
		if s.Changes {
			band(at, word)
			word = s.Word
		}
		row.Say = said1(s)
		if len(s.Blocks) > 0 {
			given = append(given, s.Blocks...)
			row.Bytes = bytesOf(t, given)
		}
		if f.hold(steps, i, x(s.Thread), y) {
			f.Old = true
		}
		f.Steps = append(f.Steps, row)
	}
	band(float64(f.H)-4, word)
	if n := len(f.Steps); n > 0 {
		f.Steps[n-1].Say += " Here it goes wrong."
	}
	f.Answer = f.answer(t, steps)
	for _, s := range f.Steps {
		f.Said += fmt.Sprintf("%d: %s ", s.N, s.Say)
	}
	return f
}

// fitting is a text, or where it has too many letters the first word of it.
func fitting(text string, most int) string {
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	if word, _, found := strings.Cut(text, " "); found && utf8.RuneCountInString(word) <= most {
		return word
	}
	return "…"
}

func (f *threadsFigure) arrow(row *threadRow, s verdict.ThreadStep, wordX, at float64) {
	a := threadArrow{Y: px(at), TextY: px(at - 5), Answer: fitting("= "+s.Answer, 8)}
	box, wordAt := float64(row.BoxX+row.BoxW), wordX+8
	if a.Left = float64(row.X) < wordX; !a.Left {
		box, wordAt = float64(row.BoxX), wordX+threadsWord-8
	}
	a.X1, a.X2 = px(box), px(wordAt)
	a.Head = a.X2
	if !s.Changes {
		a.Head = a.X1
	}
	a.TextX = (a.X1 + a.X2) / 2
	if (a.X2-a.X1 < 44 && a.Left) || (a.X1-a.X2 < 44 && !a.Left) {
		a.Answer = ""
	}
	f.Arrows = append(f.Arrows, a)
}

// hold draws what a thread has learnt with the i-th step, until it does something else; it reports whether that was old
// by then.
func (f *threadsFigure) hold(steps []verdict.ThreadStep, i int, x float64, y func(int) float64) (old bool) {
	s := steps[i]
	if !s.More || s.Short == "" {
		return false
	}
	end, stale := -1, -1
	for j := i + 1; j < len(steps) && end < 0; j++ {
		switch {
		case steps[j].Thread == s.Thread:
			end = j
		case steps[j].Changes && stale < 0:
			stale = j
		}
	}
	to := float64(f.H) - 4
	if end >= 0 {
		to = y(end) - 12
	}
	from := y(i) + 12
	if stale < 0 {
		f.Holds = append(f.Holds, threadHold{px(x), px(from), px(to), false})
		return false
	}
	f.Holds = append(f.Holds, threadHold{px(x), px(from), px(y(stale)), false},
		threadHold{px(x), px(y(stale)), px(to), true})
	return true
}

// said1 is a step as a sentence.
func said1(s verdict.ThreadStep) string {
	who := fmt.Sprintf("Thread %d ", s.Thread+1)
	text := who
	switch {
	case s.Op == "":
		text += "is done without another look at w."
	case strings.HasPrefix(s.Op, "Load"):
		text += "reads w: " + s.Answer + "."
	case s.Changes:
		text += "calls " + s.Op + ": w was " + s.Answer + "."
	default:
		text += "calls " + s.Op + ": w is " + s.Answer + ", nothing changes."
	}
	switch {
	case s.Gets == "nothing":
		text += " It gets nothing."
	case len(s.Blocks) == 1:
		text += fmt.Sprintf(" It gets bytes %s.", rangeOf(s.Blocks[0]))
	case s.Gets != "":
		text += " It gets " + s.Gets + "."
	}
	return text
}

func rangeOf(b verdict.Stretch) string {
	if b.Size == 0 {
		return fmt.Sprintf("from %s on", grouped(int64(b.From)))
	}
	return fmt.Sprintf("%d…%d", b.From, b.From+b.Size-1)
}

// answer is what the picture shows.
func (f *threadsFigure) answer(t *verdict.Threads, steps []verdict.ThreadStep) string {
	last := steps[len(steps)-1]
	who := fmt.Sprintf("Thread %d", last.Thread+1)
	what := "ends up wrong"
	if last.Gets != "" && last.Gets != "nothing" {
		what = "gets what it should not"
		if len(last.Blocks) == 1 {
			what = "gets bytes " + rangeOf(last.Blocks[0])
		}
	} else if last.Gets != "" {
		what = "gets nothing"
	}
	for i := len(steps) - 2; i >= 0; i-- {
		if steps[i].Thread != last.Thread || !steps[i].More {
			continue
		}
		for j := i + 1; j < len(steps)-1; j++ {
			if steps[j].Thread != last.Thread && steps[j].Changes {
				return fmt.Sprintf("%s %s, and what it knew of w is from before step %d", who, what, f.Steps[j].N)
			}
		}
		break
	}
	return fmt.Sprintf("%s %s in this order", who, what)
}

// bytesOf are the bytes that were handed out, with what two have, or what lies beyond the end, marked.
func bytesOf(t *verdict.Threads, given []verdict.Stretch) *lanes {
	end := t.Capacity
	for _, b := range given {
		if b.From+b.Size > b.From {
			end = max(end, b.From+b.Size)
		}
	}
	at := func(n uint64) float64 { return float64(n) / float64(max(end, 1)) }
	var boxes []box
	if t.Taken > 0 {
		boxes = append(boxes, box{Width: at(min(t.Taken, end)), Class: "mapped", Labels: []string{"taken before", "taken"}})
	}
	var told []string
	for i, b := range given {
		class := "piece"
		if b.From < t.Taken || b.From+b.Size > t.Capacity {
			class = "wrong"
		}
		for j, o := range given {
			if j != i && b.From < o.From+o.Size && o.From < b.From+b.Size && i > j {
				class = "wrong"
			}
		}
		boxes = append(boxes, box{From: at(b.From), Width: at(b.Size), Class: class,
			Labels: []string{rangeOf(b)}, Tip: rangeOf(b)})
		told = append(told, rangeOf(b))
	}
	if end > t.Capacity {
		boxes = append(boxes, box{From: at(t.Capacity), Class: "edge"})
	}
	return &lanes{"handed out: " + strings.Join(told, ", "), []lane{newLane("", uncovered(boxes))}}
}
