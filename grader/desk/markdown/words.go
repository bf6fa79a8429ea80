package markdown

import (
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/util"

	"cudalab/grader/judge/visible"
)

// look is how text is shown, in the terminal's own sixteen colours, which are readable on its background whatever that
// is.
type look struct {
	color                           ansi.BasicColor // Black: the terminal's own
	bold, italic, underline, struck bool
}

// show is text in a look.
func (l layout) show(text string, k look) string {
	if !l.color {
		return text
	}
	var s ansi.Style
	if k.color != ansi.Black {
		s = s.ForegroundColor(k.color)
	}
	if k.underline {
		s = s.Underline(true)
	}
	if k.bold {
		s = s.Bold()
	}
	if k.italic {
		s = s.Italic(true)
	}
	if k.struck {
		s = s.Strikethrough(true)
	}
	if len(s) == 0 {
		return text
	}
	return s.Styled(text)
}

// run is text in one look.
type run struct {
	text string
	look look
}

// word is what no line breaks within: of several looks, as a bold one with its full stop. One without runs ends the
// line.
type word []run

func (w word) width() (n int) {
	for _, r := range w {
		n += ansi.StringWidth(r.text)
	}
	return n
}

// words are a block's text.
func (l layout) words(block ast.Node, base look) []word {
	var s speller
	l.spell(&s, block, base)
	s.end()
	return s.words
}

// speller makes words of pieces of text.
type speller struct {
	words []word
	open  word
}

func (s *speller) end() {
	if len(s.open) > 0 {
		s.words = append(s.words, s.open)
	}
	s.open = nil
}

func (s *speller) add(text string, k look) {
	text = visible.Text(strings.ReplaceAll(text, "\t", " "))
	for i, part := range strings.FieldsFunc(text, isSpace) {
		if i > 0 || isSpace(rune(text[0])) {
			s.end()
		}
		s.open = append(s.open, run{part, k})
	}
	if text != "" && isSpace(rune(text[len(text)-1])) {
		s.end()
	}
}

// isSpace reports whether a line may be broken: not at a space that is there to prevent it.
func isSpace(r rune) bool { return r == ' ' || r == '\n' }

// spell adds the text of what is within a node.
func (l layout) spell(s *speller, parent ast.Node, k look) {
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		switch n := n.(type) {
		case *ast.Text:
			s.add(plain(n.Value(l.source)), k)
			if n.SoftLineBreak() {
				s.end()
			}
			if n.HardLineBreak() {
				s.end()
				s.words = append(s.words, nil)
			}
		case *ast.String:
			s.add(string(n.Value), k)
		case *ast.CodeSpan:
			k := k
			k.color, k.bold = ansi.Yellow, false
			for t := n.FirstChild(); t != nil; t = t.NextSibling() {
				if t, ok := t.(*ast.Text); ok {
					s.add(string(t.Value(l.source)), k)
				}
			}
		case *ast.Emphasis:
			k := k
			k.bold, k.italic = k.bold || n.Level > 1, k.italic || n.Level == 1
			l.spell(s, n, k)
		case *extast.Strikethrough:
			k := k
			k.struck = true
			l.spell(s, n, k)
		case *ast.Link:
			l.link(s, n, k)
		case *ast.AutoLink:
			s.add(string(n.URL(l.source)), address)
		case *extast.TaskCheckBox:
			s.add(map[bool]string{true: "☑ ", false: "☐ "}[n.IsChecked], k)
		case *ast.RawHTML, *ast.Image: // what a figure shows stands behind it in letters
		default:
			l.spell(s, n, k)
		}
	}
}

// address is the look of where a link leads.
var address = look{color: ansi.Blue, underline: true}

// link adds a link's words and where it leads. Links to files beside the text lead nowhere on a terminal.
func (l layout) link(s *speller, n *ast.Link, k look) {
	to := string(n.Destination)
	if !strings.Contains(to, ":") {
		l.spell(s, n, k)
		return
	}
	k.bold = true
	l.spell(s, n, k)
	s.add(" "+to, address)
}

// plain is text without what Markdown needs to write it.
func plain(text []byte) string {
	return string(util.ResolveEntityNames(util.ResolveNumericReferences(util.UnescapePunctuations(text))))
}

// wrap breaks words into lines.
func (l layout) wrap(words []word, width int) (lines []string) {
	var line []word
	used := 0
	end := func() {
		lines = append(lines, l.shown(line))
		line, used = nil, 0
	}
	for _, w := range words {
		n := w.width()
		if w == nil || used > 0 && used+1+n > width {
			end()
		}
		if w == nil {
			continue
		}
		if used > 0 {
			used++
		}
		line, used = append(line, w), used+n
	}
	if used > 0 {
		end()
	}
	return lines
}

// shown is a line of words; the space between two of one look has it too.
func (l layout) shown(words []word) string {
	var all []run
	add := func(r run) {
		if n := len(all); n > 0 && all[n-1].look == r.look {
			all[n-1].text += r.text
			return
		}
		all = append(all, r)
	}
	for i, w := range words {
		if i > 0 {
			space := run{text: " "}
			if before := all[len(all)-1].look; before == w[0].look {
				space.look = before
			}
			add(space)
		}
		for _, r := range w {
			add(r)
		}
	}
	var b strings.Builder
	for _, r := range all {
		b.WriteString(l.show(r.text, r.look))
	}
	return b.String()
}

// broken is words of which none is wider than a column.
func broken(words []word, width int) (all []word) {
	for _, w := range words {
		if w.width() <= width {
			all = append(all, w)
			continue
		}
		var part word
		used := 0
		for _, r := range w {
			for rest := r.text; rest != ""; {
				_, size := utf8.DecodeRuneInString(rest)
				n := ansi.StringWidth(rest[:size])
				if used > 0 && used+n > width {
					all, part, used = append(all, part), nil, 0
				}
				part, used, rest = append(part, run{rest[:size], r.look}), used+n, rest[size:]
			}
		}
		all = append(all, part)
	}
	return all
}
