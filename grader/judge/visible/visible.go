// Package visible writes what a student's code says as it is, in texts and in JSON: with nothing in it that a terminal,
// a page or an editor would follow instead of showing it, such as control characters, and those that turn the direction
// of writing.
package visible

import (
	"strconv"
	"strings"
	"unicode"
)

// Line is a text for a sentence of cudalab's, on one line: where it has several, as what errors.Join makes of errors
// does, a semicolon stands between them.
func Line(text string) string {
	lines := strings.FieldsFunc(strings.ReplaceAll(text, "\r\n", "\n"), func(r rune) bool { return r == '\n' })
	return escaped(strings.Join(lines, "; "), "")
}

// Text keeps its lines and tabs.
func Text(text string) string { return escaped(strings.ReplaceAll(text, "\r\n", "\n"), "\n\t") }

// escaped writes what cannot be seen as Go does, but for what is left as it is.
func escaped(text, left string) string {
	hidden := func(r rune) bool {
		return !strings.ContainsRune(left, r) && (unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp))
	}
	if strings.IndexFunc(text, hidden) < 0 {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if hidden(r) {
			b.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}
