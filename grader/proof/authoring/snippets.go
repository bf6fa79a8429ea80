package authoring

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"cudalab/grader/judge/compile"
)

// granted is where a course declares, a line each, the names that Go statements in its texts take for granted.
const granted = "lessons/authors/snippets.txt"

// snippets are the Go snippets in the texts of the course at root that do not compile. An overlay puts each into a
// package of its own inside the module, without writing there.
func snippets(root, temp string) ([]Problem, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	course := os.DirFS(root)
	names, err := fs.ReadFile(course, granted)
	if err != nil && !os.IsNotExist(err) {
		return nil, err
	}
	frame := frame{module: compile.Module(root), granted: strings.ReplaceAll(strings.TrimSpace(string(names)), "\n", ", ")}
	replace, packages := map[string]string{}, []string{}
	texts, _ := fs.Glob(course, "lessons/*.md")
	for _, text := range texts {
		markdown, err := fs.ReadFile(course, text)
		if err != nil {
			return nil, err
		}
		for i, at := range goBlock.FindAllSubmatchIndex(markdown, -1) {
			name := fmt.Sprintf("%s.snippet-%d", strings.TrimSuffix(path.Base(text), ".md"), i+1)
			file, line := filepath.Join(temp, name+".go"), 1+strings.Count(string(markdown[:at[2]]), "\n")
			where := fmt.Sprintf("//line %s:%d\n", filepath.Join(root, filepath.FromSlash(text)), line)
			if err := os.WriteFile(file, []byte(frame.around(where, string(markdown[at[2]:at[3]]))), 0o600); err != nil {
				return nil, err
			}
			replace[filepath.Join(root, "lessons", name, "snippet.go")] = file
			packages = append(packages, "./lessons/"+name)
		}
	}
	if len(packages) == 0 {
		return nil, nil
	}
	overlay := filepath.Join(temp, "overlay.json")
	list, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(overlay, list, 0o600); err != nil {
		return nil, err
	}
	build := exec.Command("go", append([]string{"build", "-overlay", overlay}, packages...)...)
	build.Dir = root
	said, err := build.CombinedOutput()
	if err == nil {
		return nil, nil
	}
	var problems []Problem
	for _, m := range compilerError.FindAllStringSubmatch(string(said), -1) {
		problems = append(problems, Problem{filepath.ToSlash(m[1]), "a Go snippet does not compile: " + m[2],
			"Mend it; names that statements take for granted are declared in " + granted})
	}
	if problems == nil {
		return nil, fmt.Errorf("go build of the texts' snippets: %w\n%s", err, said)
	}
	return problems, nil
}

var (
	goBlock       = regexp.MustCompile("(?ms)^```go\n(.*?)^```$")
	compilerError = regexp.MustCompile(`(?m)^(?:\./)?(lessons/[^:\n]+\.md:\d+)(?::\d+)?: (.*)$`)
)

// frame is what a snippet stands in.
type frame struct{ module, granted string }

// twoResults matches what returns two results.
var twoResults = regexp.MustCompile(`(?m)^\t*return [^(\n]+, `)

// around makes a file of a snippet. Statements become the body of a function; declarations are left as they are.
func (f frame) around(where, snippet string) string {
	body := where + snippet
	if !strings.Contains("\n"+snippet, "\nfunc ") {
		results, none := "err error", "nil"
		if twoResults.MatchString(snippet) {
			results, none = "_ any, err error", "nil, nil"
		}
		body = fmt.Sprintf("func snippet(%s) (%s) {\n{\n%s}\nreturn %s\n}\n", f.granted, results, body, none)
	}
	text := "package snippet\n\n"
	for _, imported := range []string{
		f.module + "/exercises/contract", f.module + "/kernels", "cudalab/native/cuda", "errors", "fmt",
	} {
		if strings.Contains(body, path.Base(imported)+".") {
			text += fmt.Sprintf("import %q\n", imported)
		}
	}
	return text + "\n" + body
}
