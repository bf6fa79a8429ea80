package compile_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/grader/judge/compile"
)

// Every loop and function counts, and what the compiler says of a file is what it says of the file as it was written.
func TestStepwiseKeepsPlaces(t *testing.T) {
	const file = `package p // as in the lesson

import "fmt"

func Run(n int) (sum int) { for i := range n { sum += i; undeclared() }
	f := func() { for { fmt.Println(sum); break } }; f(); missing()
	for i := 0; i < n; i++ {
		sum += "x"
	}
L:	for _, x := range []int{1} { if x > 0 { continue L }; also }
	return sum
}
`
	made := string(compile.Stepwise([]byte(file)))
	require.Equal(t, 6, strings.Count(made, ".Step();"))
	require.Equal(t, strings.Count(file, "\n"), strings.Count(made, "\n"))
	said := func(text string) string {
		dir := t.TempDir()
		path := filepath.Join(dir, "p.go")
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		out, err := exec.Command("go", "build", "-gcflags=-e", "-o", os.DevNull, path).CombinedOutput()
		require.Error(t, err)
		return regexp.MustCompile(`(?m)^# .*\n|`+regexp.QuoteMeta(dir)).ReplaceAllString(string(out), "")
	}
	require.Contains(t, said(file), "undeclared")
	require.Equal(t, said(file), said(made))
}

func TestStepwiseLeavesWhatDoesNotParse(t *testing.T) {
	require.Equal(t, "package p\nfunc {", string(compile.Stepwise([]byte("package p\nfunc {"))))
	require.Equal(t, "package p\n", string(compile.Stepwise([]byte("package p\n"))))
}
