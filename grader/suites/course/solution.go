package course

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Solved is the walk-through of the exercise's solution, and the code of the course at root, in Markdown.
func (e Exercise) Solved(root string) (string, error) {
	dir := filepath.Join(root, e.SolutionFolder())
	files, err := os.ReadDir(dir)
	if err != nil {
		return "", err
	}
	text, err := e.Walkthrough()
	if err != nil {
		text = "# " + e.Title + ": the solution\n" // the code speaks for itself
	}
	for _, f := range files {
		if filepath.Ext(f.Name()) != ".go" || strings.HasSuffix(f.Name(), "_test.go") {
			continue
		}
		code, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil {
			return "", err
		}
		text += fmt.Sprintf("\n## %s\n\n```go\n%s```\n", filepath.ToSlash(filepath.Join(e.SolutionFolder(), f.Name())), code)
	}
	return text, nil
}
