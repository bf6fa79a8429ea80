package lsp

import (
	"net/url"
	"path/filepath"
	"runtime"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// pathOf is the file that a URI names; it is not ok for what is no file of this machine, such as a text that has never
// been saved.
func pathOf(uri string) (path string, ok bool) {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" || u.Host != "" && u.Host != "localhost" || u.Path == "" {
		return "", false
	}
	path = u.Path
	if runtime.GOOS == "windows" { // /c:/course
		path = strings.TrimPrefix(path, "/")
	}
	path = filepath.FromSlash(path)
	return filepath.Clean(path), filepath.IsAbs(path)
}

// uriOf is the URI of a file.
func uriOf(path string) string {
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}

// span is a line of a text from the byte column on, counted from 1, up to the end of the word there; with column 0 it
// is the line without the blanks around it. A line behind the end is the last.
func span(text string, line, column int) textRange {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	at := min(max(line-1, 0), len(lines)-1)
	l := strings.TrimSuffix(lines[at], "\r")
	from, to := len(l)-len(strings.TrimLeftFunc(l, unicode.IsSpace)), len(strings.TrimRightFunc(l, unicode.IsSpace))
	if column > 0 {
		from = min(column-1, len(l))
		for from > 0 && from < len(l) && !utf8.RuneStart(l[from]) {
			from--
		}
		to = from + wordLength(l[from:])
	}
	if from > to { // nothing but blanks
		from, to = 0, 0
	}
	return textRange{position{at, utf16Length(l[:from])}, position{at, utf16Length(l[:to])}}
}

// wordLength is how many bytes the identifier takes that a text begins with, or else its first character.
func wordLength(text string) int {
	for i, r := range text {
		if r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			if i == 0 {
				_, i = utf8.DecodeRuneInString(text)
			}
			return i
		}
	}
	return len(text)
}

// utf16Length is how many UTF-16 code units a text takes. A byte that is no UTF-8 counts as the one character that
// editors show for it.
func utf16Length(text string) int {
	n := 0
	for _, r := range text {
		n += utf16.RuneLen(r)
	}
	return n
}

// plain is Markdown's characters made to stand for themselves. Code in backticks stays code.
func plain(text string) string {
	var b strings.Builder
	code := false
	for _, r := range text {
		if r == '`' && strings.Count(text, "`")%2 == 0 {
			code = !code
		} else if !code && strings.ContainsRune("\\`*_[]<>#", r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}
