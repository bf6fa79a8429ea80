package markdown

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"

	"cudalab/grader/judge/visible"
)

// layout lays out the nodes of one document.
type layout struct {
	source []byte
	color  bool
}

// blocks are the lines of a node's children, one below the other, with an empty line between, but for the items of a
// list that has none.
func (l layout) blocks(parent ast.Node, width int, base look) (lines []string) {
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		more := l.block(n, width, base)
		if len(more) == 0 {
			continue
		}
		if len(lines) > 0 && !tight(n) {
			lines = append(lines, "")
		}
		lines = append(lines, more...)
	}
	return lines
}

// tight reports whether a block follows the one before it without an empty line.
func tight(n ast.Node) bool {
	item, ok := n.Parent().(*ast.ListItem)
	return ok && item.Parent().(*ast.List).IsTight
}

func (l layout) block(n ast.Node, width int, base look) []string {
	switch n := n.(type) {
	case *ast.Heading:
		return l.wrap(l.words(n, headings[min(n.Level, len(headings))-1]), width)
	case *ast.Paragraph, *ast.TextBlock:
		return l.wrap(l.words(n, base), width)
	case *ast.List:
		return l.list(n, width, base)
	case *ast.Blockquote:
		base.bold = true
		return hung(l.blocks(n, max(width-2, 1), base), "│ ", "│ ")
	case *ast.FencedCodeBlock:
		return hung(l.highlight(l.text(n), string(n.Language(l.source))), "  ", "  ")
	case *ast.CodeBlock:
		return hung(l.highlight(l.text(n), ""), "  ", "  ")
	case *ast.ThematicBreak:
		return []string{strings.Repeat("─", width)}
	case *ast.HTMLBlock:
		if strings.Contains(l.text(n), `class="figure"`) { // it folds away what a terminal shows
			return nil
		}
		return strings.FieldsFunc(tag.ReplaceAllString(l.text(n), ""), func(r rune) bool { return r == '\n' })
	case *extast.Table:
		return l.table(n, width)
	}
	return l.blocks(n, width, base)
}

// headings are the looks of the first levels; those below look as the last.
var headings = []look{{color: ansi.Cyan, bold: true, underline: true}, {color: ansi.Cyan, bold: true}, {bold: true}}

// tag matches what HTML a text has, of which a terminal shows the words.
var tag = regexp.MustCompile(`(?s)<!--.*?-->|<[^>]*>`)

// text is a block's own lines.
func (l layout) text(n ast.Node) string {
	var b strings.Builder
	for i := range n.Lines().Len() {
		line := n.Lines().At(i)
		b.Write(line.Value(l.source))
	}
	return visible.Text(strings.ReplaceAll(b.String(), "\t", "    "))
}

// list is a list's lines: each item hangs behind its mark.
func (l layout) list(list *ast.List, width int, base look) (lines []string) {
	number := list.Start
	for item := list.FirstChild(); item != nil; item = item.NextSibling() {
		mark := "• "
		if list.IsOrdered() {
			mark = fmt.Sprintf("%d. ", number)
			number++
		}
		if len(lines) > 0 && !list.IsTight {
			lines = append(lines, "")
		}
		indent := ansi.StringWidth(mark)
		lines = append(lines, hung(l.blocks(item, max(width-indent, 1), base), mark, strings.Repeat(" ", indent))...)
	}
	return lines
}

// hung has lines begin with something, the first with something else.
func hung(lines []string, first, rest string) []string {
	all := make([]string, len(lines))
	for i, line := range lines {
		if i > 0 {
			first = rest
		}
		all[i] = strings.TrimRight(first+line, " ")
	}
	return all
}
