package report

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Wrap breaks text into lines of at most width characters. A word that is longer has a line to itself, so that paths
// stay whole and can be clicked.
func Wrap(text string, width int) []string {
	var lines []string
	for _, paragraph := range strings.Split(text, "\n") {
		line, used := "", 0
		for _, word := range strings.Fields(paragraph) {
			n := utf8.RuneCountInString(word)
			switch {
			case used == 0:
				line, used = word, n
			case used+1+n <= width:
				line, used = line+" "+word, used+1+n
			default:
				lines = append(lines, line)
				line, used = word, n
			}
		}
		lines = append(lines, line)
	}
	return lines
}

// sentences are those of a text.
func sentences(text string) (all []string) {
	for begin := 0; ; {
		end := begin
		for end < len(text) && !(text[end] == '.' && end+2 < len(text) && text[end+1] == ' ' &&
			unicode.IsUpper(rune(text[end+2]))) {
			end++
		}
		if end == len(text) {
			return append(all, text[begin:])
		}
		all = append(all, text[begin:end+1])
		begin = end + 2
	}
}

// Harmless makes text safe to print: tabs become four blanks, and control characters, which could move the cursor or
// change the colours, are written out.
func Harmless(text string) string {
	var b strings.Builder
	for _, r := range text {
		switch {
		case r == '\t':
			b.WriteString("    ")
		case r == '\n' || unicode.IsPrint(r):
			b.WriteRune(r)
		case r < 0x100:
			fmt.Fprintf(&b, `\x%02x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

// clip cuts a line that is too long for the terminal; it would wrap and tear the layout apart.
func clip(line string, width int) string {
	if utf8.RuneCountInString(line) <= width {
		return line
	}
	return string([]rune(line)[:max(width-1, 0)]) + "…"
}

// pad fills a text with blanks up to width characters; fmt's %-*s counts the same way, but not after colouring.
func pad(text string, width int) string {
	return text + strings.Repeat(" ", max(0, width-utf8.RuneCountInString(text)))
}

// number writes a figure with three significant digits, or as many as there are before the point.
func number(v float64) string {
	digits := 2
	switch {
	case v >= 100 || v <= -100:
		digits = 0
	case v >= 10 || v <= -10:
		digits = 1
	}
	return fmt.Sprintf("%.*f", digits, v)
}

// points writes a score without a needless fraction.
func points(v float64) string {
	return strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%.2f", v), "0"), ".")
}
