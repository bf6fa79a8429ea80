package site

import (
	"bytes"
	"encoding/base64"
	"path"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"

	"cudalab/grader/report/figure"
	"cudalab/grader/suites/course"
)

// renderer makes HTML of the course's Markdown. Links to other chapters lead to their lessons in the page, links to the
// world open beside it, and what else they lead to is not in a browser: of such a link its words are left. Figures are
// within the text.
type renderer struct {
	markdown goldmark.Markdown
	lessons  map[string]bool
}

func newRenderer(c *course.Course) *renderer {
	m := &renderer{lessons: map[string]bool{}}
	for _, e := range c.Exercises {
		m.lessons[e.Name] = true
	}
	// The texts are the course's own, and fold parts away with HTML.
	m.markdown = goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithRendererOptions(html.WithUnsafe()))
	return m
}

func (m *renderer) html(markdown string) (string, error) {
	source := []byte(here(markdown))
	tree := m.markdown.Parser().Parse(text.NewReader(source), parser.WithContext(parser.NewContext()))
	drawn := map[string]string{}
	for _, f := range figure.Of(markdown) {
		drawn["figures/"+f.Name+".svg"] = f.SVG()
	}
	var links []*ast.Link
	err := ast.Walk(tree, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Link:
			links = append(links, n)
		case *ast.Image:
			if svg, ok := drawn[string(n.Destination)]; ok {
				n.Destination = []byte("data:image/svg+xml;base64," + base64.StdEncoding.EncodeToString([]byte(svg)))
			}
		}
		return ast.WalkContinue, nil
	})
	if err != nil {
		return "", err
	}
	for _, link := range links {
		m.turn(link)
	}
	var b bytes.Buffer
	if err := m.markdown.Renderer().Render(&b, source, tree); err != nil {
		return "", err
	}
	return b.String(), nil
}

// turn has a link lead where the page has what it means.
func (m *renderer) turn(link *ast.Link) {
	to := string(link.Destination)
	name := strings.TrimSuffix(path.Base(to), ".md")
	switch {
	case strings.HasPrefix(to, "https://"), strings.HasPrefix(to, "http://"):
		link.SetAttributeString("target", []byte("_blank"))
		link.SetAttributeString("rel", []byte("noopener"))
	case to == name+".md" && m.lessons[name]:
		link.Destination = []byte("#" + name)
	default:
		parent := link.Parent()
		for child := link.FirstChild(); child != nil; child = link.FirstChild() {
			parent.InsertBefore(parent, link, child)
		}
		parent.RemoveChild(parent, link)
	}
}
