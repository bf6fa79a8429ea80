// Package figure draws the figures of chapters as SVG from what a terminal shows of them. A character is a column, a
// line is a row:
//
//	streams[0]  (A)[process 0 ][reduce](F)●a
//	streams[1]                            ○a(A)[process 1 ]
//
//	[P] process   (A) MallocAsync
//
// Boxes are work of kernels in brackets, memory in parentheses, copies and what the host does in braces, what is only
// reserved, or free, in angles, and what is wrong in ‹ and ›. ● is an event that is recorded, ○ a wait for the one with
// the same letter. ◌ is an event that should be recorded and is not, ✗ where nothing waits for an event and should.
// What else stands there is text; what a line begins with is its name. A line that begins with a box says what boxes
// mean.
package figure

import (
	"fmt"
	"html"
	"math"
	"regexp"
	"strings"
	"unicode"

	"cudalab/grader/report/look"
)

// Figure is one of a chapter.
type Figure struct{ Name, Said, Text string }

// shown matches a figure in a chapter: what it says to those who do not see it, its name, and what it is drawn of.
var shown = regexp.MustCompile("(?s)!\\[([^\\]]*)\\]\\(figures/([\\w-]+)\\.svg\\)\n\n<details class=\"figure\">\n" +
	"<summary>[^\n]*</summary>\n\n```figure\n(.*?)```\n\n</details>")

// Of are the figures of a chapter.
func Of(chapter string) (all []Figure) {
	for _, m := range shown.FindAllStringSubmatch(chapter, -1) {
		all = append(all, Figure{Name: m[2], Said: strings.Join(strings.Fields(m[1]), " "), Text: m[3]})
	}
	return all
}

// Columns is how many characters a line may have, so that 13 px of text are 11 where the figure is 380 px wide.
const Columns = 52

// Width of a figure in px.
const Width = 440

const (
	column, left             = 7.9, 14.0
	lane, words, gap, margin = 30.0, 20.0, 8.0, 12.0 // heights of rows, and the edge
)

// kinds are the classes of boxes, by what opens them.
var kinds = map[rune]struct {
	closes rune
	class  string
}{'[': {']', "work"}, '(': {')', "mem"}, '{': {'}', "copy"}, '<': {'>', "free"}, '‹': {'›', "bad"}}

// signs are the classes of what has a letter behind it.
var signs = map[rune]string{'●': "record", '○': "wait", '◌': "unrecorded", '✗': "unwaited"}

// Piece is something that a line has.
type Piece struct {
	At, End int    // columns
	Class   string // of a box or a sign, or "text"
	Text    string
}

// Pieces reads a line.
func Pieces(line string) (all []Piece) {
	runes := []rune(line)
	within := func(i int) bool { // a text goes on; streams[0] is one
		_, opens := kinds[runes[i]]
		return (!opens || unicode.IsLetter(runes[i-1])) && signs[runes[i]] == "" &&
			!strings.HasPrefix(string(runes[i:]), "  ")
	}
	for i := 0; i < len(runes); {
		from := i
		kind, opens := kinds[runes[i]]
		switch {
		case runes[i] == ' ':
			i++
		case opens:
			for i < len(runes) && runes[i] != kind.closes {
				i++
			}
			i = min(i+1, len(runes))
			all = append(all, Piece{from, i, kind.class, strings.TrimSpace(string(runes[from+1 : i-1]))})
		case signs[runes[i]] != "" && i+1 < len(runes):
			i += 2
			all = append(all, Piece{from, i, signs[runes[from]], string(runes[i-1])})
		default:
			for i++; i < len(runes) && within(i); i++ {
			}
			all = append(all, Piece{from, i, "text", strings.TrimSpace(string(runes[from:i]))})
		}
	}
	return all
}

// styles are of all figures; names of colours are put in for light and for dark mode.
const styles = `.bg{fill:paper;stroke:rule}text{fill:ink}.s,.n{fill:soft}.ln{stroke:rule}` +
	`.work{fill:kernel;stroke:kernel}` +
	`.mem{fill:alloc;stroke:alloc}.copy{fill:host;stroke:host}.free{fill:paper;stroke:soft}.ev{fill:event;stroke:event}` +
	`.wt{fill:paper;stroke:event}.ed{stroke:event}.bad,.no{stroke:bad}.nh{fill:bad}` +
	`.bad+text{stroke:paper}`

const fixed = `text{font:13px system-ui,-apple-system,"Segoe UI",Roboto,Arial,sans-serif}` +
	`.m,.n{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace}.m{text-anchor:middle}` +
	`.box{stroke-width:1.25;fill-opacity:.3}.free{fill-opacity:1;stroke-dasharray:4 3}.copy{fill-opacity:.16}` +
	`.ed{fill:none;stroke-width:1.75}.wt{stroke-width:2}.no{fill:none;stroke-width:2.5}.mi{stroke-dasharray:6 4}` +
	`.un{stroke-dasharray:3 2.3}.bad{fill:url(#x);stroke-width:2.5;fill-opacity:1}` +
	`.bad+text{stroke-width:5;paint-order:stroke}`

var colour = regexp.MustCompile(`--(\w+): (#\w+)`)

// style is what colours a figure, from the colours of all pages.
func style() string {
	light, dark, _ := strings.Cut(look.Colors, "@media")
	in := func(colors string) string {
		var pairs []string
		for _, m := range colour.FindAllStringSubmatch(colors, -1) {
			pairs = append(pairs, ":"+m[1]+";", ":"+m[2]+";", ":"+m[1]+"}", ":"+m[2]+"}")
		}
		return strings.NewReplacer(pairs...).Replace(styles)
	}
	return fixed + in(light) + "@media (prefers-color-scheme:dark){" + in(dark) + "}"
}

// point is a place in a figure, in px.
type point struct{ x, y float64 }

// edge is an arrow between two signs.
type edge struct {
	to      point
	letter  string
	missing bool
}

// letters matches calls of a letter each, which stand above what they are called for.
var letters = regexp.MustCompile(`^\w( \w)+$`)

// SVG is the figure as an image of its own, in light and dark mode.
func (f Figure) SVG() string {
	var b strings.Builder
	x := func(col float64) float64 { return left + column*col }
	y := margin
	recorded := map[string]point{}
	var edges []edge
	for line := range strings.Lines(f.Text) {
		pieces := Pieces(strings.TrimSuffix(line, "\n"))
		boxes := 0
		for _, p := range pieces {
			if p.Class != "text" {
				boxes++
			}
		}
		high := lane
		switch {
		case len(pieces) == 0:
			y += gap
			continue
		case boxes == 0:
			high = words
		}
		mid := y + high/2
		if pieces[0].Class == "text" && boxes > 0 {
			b.WriteString(between(pieces, x, mid))
		}
		for i, p := range pieces {
			at := point{math.Round(x(float64(p.At) + 0.5)), mid}
			switch p.Class {
			case "text":
				class := "s"
				if i == 0 && boxes > 0 || letters.MatchString(p.Text) {
					class = "n"
				}
				fmt.Fprintf(&b, `<text class="%s" x="%.1f" y="%v">%s</text>`, class, x(float64(p.At)), mid+4.5,
					html.EscapeString(p.Text))
			case "record":
				recorded[p.Text] = at
				fmt.Fprintf(&b, `<circle class="ev" cx="%v" cy="%v" r="5"/>`, at.x, mid)
			case "unrecorded":
				recorded[p.Text] = at
				fmt.Fprintf(&b, `<circle class="no un" cx="%v" cy="%v" r="5"/>`, at.x, mid)
			case "wait":
				edges = append(edges, edge{at, p.Text, false})
				fmt.Fprintf(&b, `<circle class="wt" cx="%v" cy="%v" r="5"/>`, at.x, mid)
			case "unwaited":
				edges = append(edges, edge{at, p.Text, true})
				fmt.Fprintf(&b, `<path class="no" d="M%v %vl8 8m0-8l-8 8"/>`, at.x-4, mid-4)
			default:
				wide := float64(p.End-p.At) * column
				fmt.Fprintf(&b, `<rect class="box %s" x="%.1f" y="%v" width="%.1f" height="24" rx="2"/>`, p.Class,
					x(float64(p.At))+0.75, mid-12, wide-1.5)
				if p.Text != "" {
					fmt.Fprintf(&b, `<text class="m" x="%.1f" y="%v">%s</text>`, x(float64(p.At))+wide/2, mid+4.5,
						html.EscapeString(p.Text))
				}
			}
		}
		y += high
	}
	for _, e := range edges {
		from, ok := recorded[e.letter]
		if !ok || e.letter == " " { // in a legend
			continue
		}
		class, head := "ed", "h"
		if e.missing {
			class, head = "no mi", "n"
		}
		down := math.Copysign(6, e.to.y-from.y)
		bend := (e.to.y - from.y) / 2
		fmt.Fprintf(&b, `<path class="%s" marker-end="url(#%s)" d="M%v %vC%[3]v %[5]v %[6]v %[7]v %[6]v %[8]v"/>`,
			class, head, from.x, from.y+down, from.y+bend, e.to.x, e.to.y-bend, e.to.y-down*7/6)
	}
	title, _, _ := strings.Cut(f.Said, ". ")
	high := int(y + margin)
	head := fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %[1]d %[2]d" `+
		`role="img" aria-labelledby="t d"><title id="t">%s</title><desc id="d">%s</desc><style>%s</style>`, Width, high,
		html.EscapeString(strings.TrimSuffix(title, ".")), html.EscapeString(f.Said), style())
	ground := fmt.Sprintf(`<rect class="bg" x=".5" y=".5" width="%d" height="%d" rx="8"/>`, Width-1, high-1)
	return head + defs(b.String()) + ground + b.String() + "</svg>\n"
}

// between is a lane's line, from its name to its end, but for where boxes and texts stand.
func between(pieces []Piece, x func(col float64) float64, y float64) string {
	var d strings.Builder
	from := x(float64(pieces[0].End) + 1)
	upTo := func(to float64) {
		if to-from > 2 {
			fmt.Fprintf(&d, "M%.1f %vH%.1f", from, y, to)
		}
	}
	for _, p := range pieces[1:] {
		switch p.Class {
		case "text":
			upTo(x(float64(p.At) - 0.5))
			from = x(float64(p.End) + 0.5)
		case "record", "wait", "unrecorded", "unwaited":
		default:
			upTo(x(float64(p.At)))
			from = x(float64(p.End))
		}
	}
	if pieces[len(pieces)-1].Class != "text" {
		upTo(Width - left)
	}
	if d.Len() == 0 {
		return ""
	}
	return `<path class="ln" d="` + d.String() + `"/>`
}

// defs are the heads of arrows, and the stripes, that a figure has use for.
func defs(drawn string) string {
	const head = `<marker id="%s" viewBox="0 0 8 8" refX="6" refY="4" markerWidth="8" markerHeight="8" ` +
		`markerUnits="userSpaceOnUse" orient="auto"><path class="%s" d="M0 .5L8 4L0 7.5Z"/></marker>`
	const stripes = `<pattern id="x" width="7" height="7" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">` +
		`<path class="nh" opacity=".3" d="M0 0H3.5V7H0Z"/></pattern>`
	all := ""
	if strings.Contains(drawn, "url(#h)") {
		all += fmt.Sprintf(head, "h", "ev")
	}
	if strings.Contains(drawn, "url(#n)") {
		all += fmt.Sprintf(head, "n", "nh")
	}
	if strings.Contains(drawn, `"box bad"`) {
		all += stripes
	}
	if all != "" {
		all = "<defs>" + all + "</defs>"
	}
	return all
}
