package markdown

import (
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"
	extast "github.com/yuin/goldmark/extension/ast"
)

// between stands between two columns.
const between = " │ "

// table is a table's lines.
func (l layout) table(t *extast.Table, width int) (lines []string) {
	var rows [][][]word
	for row := t.FirstChild(); row != nil; row = row.NextSibling() {
		base := look{bold: row.Kind() == extast.KindTableHeader}
		var cells [][]word
		for cell := row.FirstChild(); cell != nil; cell = cell.NextSibling() {
			cells = append(cells, l.words(cell, base))
		}
		rows = append(rows, cells)
	}
	widths := columns(rows, len(t.Alignments), width)
	for i, cells := range rows {
		lines = append(lines, l.row(cells, widths, t.Alignments)...)
		if i == 0 {
			var rule []string
			for _, w := range widths {
				rule = append(rule, strings.Repeat("─", w))
			}
			lines = append(lines, strings.Join(rule, "─┼─"))
		}
	}
	return lines
}

// columns are how wide each column is: as its text is, unless that is too much for the line. Then the widest give way,
// where they can at spaces, and where not within words.
func columns(rows [][][]word, n, width int) []int {
	widths, longest := make([]int, n), make([]int, n)
	for _, cells := range rows {
		for i, words := range cells {
			all := max(len(words)-1, 0)
			for _, w := range words {
				all, longest[i] = all+w.width(), max(longest[i], w.width())
			}
			widths[i] = max(widths[i], all)
		}
	}
	room := width - (n-1)*ansi.StringWidth(between)
	for _, least := range [][]int{longest, slices.Repeat([]int{1}, n)} {
		for sum(widths) > room {
			widest := -1
			for i, w := range widths {
				if w > least[i] && (widest < 0 || w > widths[widest]) {
					widest = i
				}
			}
			if widest < 0 {
				break
			}
			widths[widest]--
		}
	}
	return widths
}

func sum(numbers []int) (s int) {
	for _, n := range numbers {
		s += n
	}
	return s
}

// row is the lines of a row.
func (l layout) row(cells [][]word, widths []int, alignments []extast.Alignment) []string {
	columns, height := make([][]string, len(widths)), 1
	for i, words := range cells {
		columns[i] = l.wrap(broken(words, widths[i]), widths[i])
		height = max(height, len(columns[i]))
	}
	lines := make([]string, height)
	for at := range lines {
		parts := make([]string, len(widths))
		for i, w := range widths {
			if at < len(columns[i]) {
				parts[i] = columns[i][at]
			}
			parts[i] = aligned(parts[i], w, alignments[i])
		}
		lines[at] = strings.TrimRight(strings.Join(parts, between), " ")
	}
	return lines
}

// aligned fills text up to a width.
func aligned(text string, width int, a extast.Alignment) string {
	left, fill := 0, max(width-ansi.StringWidth(text), 0)
	switch a {
	case extast.AlignRight:
		left = fill
	case extast.AlignCenter:
		left = fill / 2
	}
	return strings.Repeat(" ", left) + text + strings.Repeat(" ", fill-left)
}
