package carry

import (
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"path"
	"slices"
	"strconv"
	"strings"
)

// withImports gives a file, which has none, its imports: the student's own, and of the skeletons' those that it uses.
func withImports(text []byte, base, mine, newer *source) ([]byte, error) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, "", text, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	used := map[string]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if id, ok := s.X.(*ast.Ident); ok {
				used[id.Name] = true
			}
		}
		return true
	})
	var own, course []string // Go's packages stand before the course's
	for _, i := range slices.Concat(newer.imports, mine.imports) {
		added := slices.Contains(mine.imports, i) && !slices.Contains(base.imports, i) && !slices.Contains(newer.imports, i)
		if !added && !used[i.calledHere()] {
			continue
		}
		line := strings.TrimSpace(i.name + " " + i.path)
		group := &own
		if p, _ := strconv.Unquote(i.path); strings.Contains(p, "cudalab/") {
			group = &course
		}
		if !slices.Contains(*group, line) {
			*group = append(*group, line)
		}
	}
	if len(own)+len(course) == 0 {
		return text, nil
	}
	slices.Sort(own)
	slices.Sort(course)
	block := fmt.Sprintf("\n\nimport (\n%s\n\n%s\n)\n", strings.Join(own, "\n"), strings.Join(course, "\n"))
	at := set.PositionFor(file.Name.End(), false).Offset
	return format.Source(slices.Concat(text[:at], []byte(block), text[at:]))
}

// calledHere is the name that an import has in the file.
func (i spec) calledHere() string {
	if i.name != "" {
		return i.name
	}
	p, _ := strconv.Unquote(i.path)
	return path.Base(p)
}
