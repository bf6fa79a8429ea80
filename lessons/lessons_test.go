package lessons

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
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

func TestUnknownNames(t *testing.T) {
	for _, name := range []string{"", "slabs", "../lessons/async-pipeline", "async-pipeline.hints.md"} {
		e := Exercise{Name: name, texts: Texts}
		_, err := e.Chapter()
		require.ErrorContains(t, err, fmt.Sprintf("%q", name))
		_, err = e.Hints()
		require.ErrorContains(t, err, fmt.Sprintf("%q", name))
	}
}

// two matches what returns two results.
var two = regexp.MustCompile(`(?m)^\t*return [^(\n]+, `)

// around makes a file of a snippet. Statements become the body of a function, among the names that chapters and hints
// take for granted; declarations are left as they are.
func around(snippet string) string {
	if !strings.Contains("\n"+snippet, "\nfunc ") {
		results, none := "err error", "nil"
		if two.MatchString(snippet) {
			results, none = "_ any, err error", "nil, nil"
		}
		snippet = `func snippet(streams []cuda.Stream, s, stream cuda.Stream, batches []contract.Batch, batch contract.Batch,
			i, n, slot, items, grid, warm, rounds int, slots []cuda.DevicePtr, full, free []cuda.Event, producer, consumer cuda.Stream, data cuda.DevicePtr, a, b, source, owner cuda.Stream, consumers, users []cuda.Stream,
			event, start, stop cuda.Event, out cuda.DevicePtr, outs []cuda.DevicePtr, independent, work func(cuda.Stream) error,
			c contract.Comparison, release func(cuda.DevicePtr, cuda.Event, cuda.Stream, ...cuda.Stream) error) (` + results + `) {
			{
			` + snippet + `
			}
			return ` + none + `
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
