package order

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"cudalab/native/trace"
)

// Picture draws the calls that f is about, one row per stream and in the order in which they were made, with a solid
// arrow where a stream's own order puts one behind the other, and a dashed one where an edge is missing:
//
//	a   MallocAsync ──▶ process
//	                       ┆
//	                       └┄┄┄┄┄┄┐  missing
//	                              ▼
//	b                          reduce
//
// It is a few lines, each ending in a newline and none longer than 76 characters, or empty where the fault is not one
// of order between a stream and something else.
func Picture(t *trace.Trace, f Finding) string {
	switch f.Rule {
	case UseBeforeAlloc, FreeBeforeUse, EarlyReuse, DataRace, HostRace:
	default:
		return ""
	}
	if len(f.Related) == 0 {
		return ""
	}
	p := picture{words: words{t: t, names: nameStreams(t)}, from: f.Related[0].At, to: f.At}
	if p.rowOf(p.from) == p.rowOf(p.to) {
		return ""
	}
	p.place(f)
	return p.draw()
}

// hostRow is the row of what the host does itself; others are those of streams.
const hostRow = "host"

// pictureWidth leaves room for an indent on a terminal of 80 characters.
const pictureWidth = 76

// picture is a drawing in the making.
type picture struct {
	words    words
	from, to int // the records between which the edge is missing
	rows     []string
	boxes    []box // in the order of the calls
}

// box is a call's place in the drawing.
type box struct {
	record int
	row    string
	label  string
	column int // where the label begins
}

func (b *box) end() int    { return b.column + utf8.RuneCountInString(b.label) }
func (b *box) middle() int { return b.column + utf8.RuneCountInString(b.label)/2 }

func (p *picture) rowOf(record int) string {
	r := p.words.record(record)
	switch {
	case onHost(r):
		return hostRow
	case r.Stream == legacyID:
		return "legacy"
	}
	return p.words.stream(r.Stream)
}

// place chooses the calls to be drawn and gives each its column. The two rows with the missing edge are the last.
func (p *picture) place(f Finding) {
	ends := []int{p.from, p.to}
	more := slices.Clone(ends)
	for _, rel := range f.Related[1:] {
		switch p.words.record(rel.At).Op {
		case trace.OpMallocAsync, trace.OpMallocFromPoolAsync, trace.OpEventRecord, trace.OpStreamWaitEvent:
			if rel.At < p.to {
				more = append(more, rel.At)
			}
		}
	}
	if p.line(more) > pictureWidth {
		p.line(ends)
	}
}

// line puts the calls of some records in line and returns how many characters wide the drawing becomes.
func (p *picture) line(records []int) int {
	slices.Sort(records)
	p.rows, p.boxes = nil, nil
	var edge []string
	margin := 0
	for _, at := range slices.Compact(records) {
		r := p.words.record(at)
		b := box{record: at, row: p.rowOf(at), label: cmp.Or(r.Kernel, r.Op.String())}
		p.boxes = append(p.boxes, b)
		margin = max(margin, utf8.RuneCountInString(b.row))
		rows := &p.rows
		if b.row == p.rowOf(p.from) || b.row == p.rowOf(p.to) {
			rows = &edge
		}
		if !slices.Contains(*rows, b.row) {
			*rows = append(*rows, b.row)
		}
	}
	p.rows = append(p.rows, edge...)
	for i := range p.boxes {
		b := &p.boxes[i]
		b.column = margin + 3
		if i > 0 {
			b.column = p.boxes[i-1].end() + 2
		}
		if before := p.before(i); before != nil {
			b.column = max(b.column, before.end()+len(" --> "))
		}
	}
	last := p.boxes[len(p.boxes)-1]
	return max(last.end(), last.middle()+1+len(missing))
}

// before is the call that comes before the i-th in its row; nil if there is none.
func (p *picture) before(i int) *box {
	for j := i - 1; j >= 0; j-- {
		if p.boxes[j].row == p.boxes[i].row {
			return &p.boxes[j]
		}
	}
	return nil
}

const missing = "  missing"

func (p *picture) draw() string {
	var lines []string
	for i, row := range p.rows {
		if i == len(p.rows)-1 {
			lines = append(lines, p.edge()...)
		}
		lines = append(lines, p.row(row))
	}
	return strings.Join(lines, "\n") + "\n"
}

// row is a stream's name and its calls.
func (p *picture) row(name string) string {
	text := name
	for i, b := range p.boxes {
		if b.row != name {
			continue
		}
		if p.before(i) == nil {
			text = stretch(text, " ", b.column)
		} else {
			text = stretch(text+" ", "─", b.column-2) + "▶ "
		}
		text += b.label
	}
	return text
}

// edge is the lines between the last two rows: the way from the one call to the other that the program does not have.
func (p *picture) edge() []string {
	var from, to int
	for _, b := range p.boxes {
		switch b.record {
		case p.from:
			from = b.middle()
		case p.to:
			to = b.middle()
		}
	}
	blank := func(n int) string { return strings.Repeat(" ", n) }
	across := strings.Repeat("┄", to-from-1)
	if p.rowOf(p.from) == p.rows[len(p.rows)-2] {
		return []string{blank(from) + "┆", blank(from) + "└" + across + "┐" + missing, blank(to) + "▼"}
	}
	return []string{blank(to) + "▲", blank(from) + "┌" + across + "┘" + missing, blank(from) + "┆"}
}

// stretch fills a text with a character up to width characters.
func stretch(text, with string, width int) string {
	return text + strings.Repeat(with, width-utf8.RuneCountInString(text))
}
