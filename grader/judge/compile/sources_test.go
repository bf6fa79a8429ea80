package compile

import (
	"os/exec"
	"path"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSourcesAreAllThatARunnerIsBuiltFrom asks go list, which is too slow to be asked each time.
func TestSourcesAreAllThatARunnerIsBuiltFrom(t *testing.T) {
	const root = "../../.."
	packages := []string{"asyncpipeline", "vmmarena"}
	list := []string{"list", "-deps", "-f", "{{with .Module}}{{if .Main}}{{$.ImportPath}}{{range $.GoFiles}} " +
		"{{.}}{{end}}{{range $.SFiles}} {{.}}{{end}}{{range $.EmbedFiles}} {{.}}{{end}}{{end}}{{end}}",
		"./grader/judge/runner"}
	for _, p := range packages {
		list = append(list, "./grader/suites/"+p, "./solutions/"+p)
	}
	cmd := exec.Command("go", list...)
	cmd.Dir = root
	said, err := cmd.Output()
	require.NoError(t, err)
	sources, err := Sources(root, packages...)
	require.NoError(t, err)
	for _, line := range strings.Split(strings.TrimSpace(string(said)), "\n") {
		words := strings.Fields(line)
		for _, file := range words[1:] {
			require.Contains(t, sources, path.Join(strings.TrimPrefix(words[0], cudalab+"/"), file))
		}
	}
	require.Contains(t, sources, "go.mod")
	require.NotContains(t, sources, "grader/suites/asyncpipeline/lesson_test.go")
}

func TestSourcesOfAHandout(t *testing.T) {
	_, err := Sources("../../..", "nobodys")
	require.ErrorContains(t, err, "grader/suites/nobodys")
}
