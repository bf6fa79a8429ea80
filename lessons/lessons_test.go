package lessons

import (
	"encoding/json"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func course(t *testing.T) []Exercise {
	exercises, err := Course()
	require.NoError(t, err)
	require.NotEmpty(t, exercises)
	return exercises
}

func TestCourseIsWhole(t *testing.T) {
	var before []string
	for _, e := range course(t) {
		require.Equal(t, strings.ReplaceAll(e.Name, "-", ""), e.Package)
		sum := 0
		for check, points := range e.Points {
			require.Positive(t, points, "%s: %s", e.Name, check)
			sum += points
		}
		require.Equal(t, 100, sum, e.Name)
		for _, required := range e.Requires {
			require.Contains(t, before, required, "%s requires what does not come before it", e.Name)
		}
		before = append(before, e.Name)

		chapter, err := Chapter(e.Name)
		require.NoError(t, err)
		heading, _, _ := strings.Cut(chapter, "\n")
		require.Equal(t, "# "+e.Title, heading)
	}
}

func TestUnknownNames(t *testing.T) {
	for _, name := range []string{"", "slabs", "../lessons/async-pipeline", "async-pipeline.hints.md"} {
		_, err := Chapter(name)
		require.ErrorContains(t, err, fmt.Sprintf("%q", name))
		_, err = Hints(name)
		require.ErrorContains(t, err, fmt.Sprintf("%q", name))
	}
}

// parse reads the one file of an exercise's skeleton or solution.
func parse(t *testing.T, room string, e Exercise) (*token.FileSet, *ast.File, string) {
	path := filepath.Join("..", room, e.Package, e.Package+".go")
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, path, text, parser.ParseComments)
	require.NoError(t, err)
	return fset, file, string(text)
}

func TestEveryGapHasHints(t *testing.T) {
	comment := regexp.MustCompile(`// TODO\((\w+)\): `)
	gap := regexp.MustCompile(`contract\.TODO\("(\w+)"\)`)
	numbers := func(pattern *regexp.Regexp, text string) (found []string) {
		for _, match := range pattern.FindAllStringSubmatch(text, -1) {
			found = append(found, match[1])
		}
		return found
	}
	for _, e := range course(t) {
		_, _, skeleton := parse(t, "exercises", e)
		_, _, solution := parse(t, "solutions", e)
		todos := numbers(comment, skeleton)
		require.NotEmpty(t, todos)
		require.True(t, slices.IsSorted(todos), "gaps stand in the order in which they are filled: %v", todos)
		require.Equal(t, todos, numbers(gap, skeleton), "each comment is followed by its gap")
		require.NotContains(t, solution, "TODO")

		hints, err := Hints(e.Name)
		require.NoError(t, err)
		var hinted []string
		for _, hint := range hints {
			hinted = append(hinted, hint.TODO)
			require.NotEmpty(t, hint.Text, hint.TODO)
			require.LessOrEqual(t, len(hint.Text), 3, hint.TODO)
			require.NotContains(t, hint.Text, "")
		}
		require.Equal(t, todos, hinted)
	}
}

// outline is a file's declarations and doc comments without the bodies of its functions and its imports.
func outline(t *testing.T, fset *token.FileSet, file *ast.File) string {
	text := &strings.Builder{}
	text.WriteString(file.Doc.Text())
	for _, decl := range file.Decls {
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			text.WriteString(decl.Doc.Text())
			decl.Doc, decl.Body = nil, nil
		case *ast.GenDecl:
			if decl.Tok == token.IMPORT {
				continue
			}
		}
		require.NoError(t, printer.Fprint(text, fset, decl))
		text.WriteString("\n")
	}
	return text.String()
}

func TestSkeletonDiffersFromSolutionInBodiesAlone(t *testing.T) {
	for _, e := range course(t) {
		fset, file, _ := parse(t, "exercises", e)
		skeleton := outline(t, fset, file)
		fset, file, _ = parse(t, "solutions", e)
		require.Equal(t, outline(t, fset, file), skeleton)
	}
}

// around makes a file of a snippet. Statements become the body of a function, among the names that chapters and hints
// take for granted; declarations are left as they are.
func around(snippet string) string {
	if !strings.Contains("\n"+snippet, "\nfunc ") {
		snippet = `func snippet(streams []cuda.Stream, stream cuda.Stream, batches []contract.Batch, batch contract.Batch,
			i, n, grid int, data cuda.DevicePtr, a, b, source, owner cuda.Stream, consumers, users []cuda.Stream,
			event cuda.Event, out cuda.DevicePtr, outs []cuda.DevicePtr, independent func(cuda.Stream) error,
			release func(cuda.DevicePtr, cuda.Event, cuda.Stream, ...cuda.Stream) error) (err error) {
			{
			` + snippet + `
			}
			return nil
		}`
	}
	imports := []string{"cudalab/exercises/contract", "cudalab/kernels", "cudalab/native/cuda", "errors", "fmt"}
	text := "package snippet\n\n"
	for _, path := range imports {
		if strings.Contains(snippet, filepath.Base(path)+".") {
			text += fmt.Sprintf("import %q\n", path)
		}
	}
	return text + "\n" + snippet + "\n"
}

func TestEveryGoSnippetCompiles(t *testing.T) {
	root, err := filepath.Abs("..")
	require.NoError(t, err)
	texts, err := filepath.Glob("*.md")
	require.NoError(t, err)
	fence := regexp.MustCompile("(?ms)^```go\n(.*?)^```$")

	// An overlay puts each snippet into a package of its own inside the module, without writing there.
	folder, replace, packages := t.TempDir(), map[string]string{}, []string{}
	for _, text := range texts {
		markdown, err := os.ReadFile(text)
		require.NoError(t, err)
		for i, match := range fence.FindAllStringSubmatch(string(markdown), -1) {
			name := fmt.Sprintf("%s.snippet-%d", strings.TrimSuffix(text, ".md"), i+1)
			file := filepath.Join(folder, name+".go")
			require.NoError(t, os.WriteFile(file, []byte(around(match[1])), 0o600))
			replace[filepath.Join(root, "lessons", name, "snippet.go")] = file
			packages = append(packages, "./lessons/"+name)
		}
	}
	require.NotEmpty(t, packages)
	overlay := filepath.Join(folder, "overlay.json")
	text, err := json.Marshal(map[string]any{"Replace": replace})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(overlay, text, 0o600))

	build := exec.Command("go", append([]string{"build", "-overlay", overlay}, packages...)...)
	build.Dir = root
	said, err := build.CombinedOutput()
	require.NoError(t, err, "%s", said)
}

var update = flag.Bool("update", false, "copy the exercises to the skeletons that cudalab reset restores")

func TestSkeletonsAreTheExercises(t *testing.T) {
	for _, e := range course(t) {
		_, _, exercise := parse(t, "exercises", e)
		if *update {
			require.NoError(t, os.WriteFile(e.Name+".skeleton.go.txt", []byte(exercise), 0o644))
			continue
		}
		skeleton, err := Skeleton(e.Name)
		require.NoError(t, err)
		require.Equal(t, exercise, string(skeleton), "go test ./lessons -run Skeletons -update copies the exercise")
		files, err := os.ReadDir(filepath.Join("..", "exercises", e.Package))
		require.NoError(t, err)
		require.Len(t, files, 1, "a skeleton is one file")
	}
}

func TestEverySolutionIsExplained(t *testing.T) {
	for _, e := range course(t) {
		text, err := Walkthrough(e.Name)
		require.NoError(t, err)
		heading, _, _ := strings.Cut(text, "\n")
		require.Equal(t, "# "+e.Title+": the solution", heading)
	}
}

func TestHintsNameRulesThatThereAre(t *testing.T) {
	sources := &strings.Builder{}
	require.NoError(t, filepath.WalkDir("../grader", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || filepath.Ext(path) != ".go" || strings.Contains(path, "testdata") {
			return err
		}
		text, err := os.ReadFile(path)
		sources.Write(text)
		return err
	}))
	for _, e := range course(t) {
		hints, err := Hints(e.Name)
		require.NoError(t, err)
		for _, hint := range hints {
			for _, rule := range hint.Rules {
				known := strings.Contains(sources.String(), `"`+rule+`"`) ||
					strings.Contains(sources.String(), `"`+strings.TrimSuffix(rule, "-on-error")+`"`)
				require.True(t, known, "%s: TODO %s: no finding is called %s", e.Name, hint.TODO, rule)
			}
		}
	}
}
