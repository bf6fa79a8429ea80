package handout_test

import (
	"context"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/grader/class/handout"
	"cudalab/grader/suites/course"
)

func TestPack(t *testing.T) {
	c, err := course.Open("../../..")
	require.NoError(t, err)
	p, err := handout.Pack(context.Background(), c.Root)
	require.NoError(t, err)
	require.False(t, p.Handout)
	require.Regexp(t, `^\d+\.\d+\.\d+$`, p.Version)

	size := 0
	for file, text := range p.Files {
		size += len(text)
		require.NotRegexp(t, `_test\.go$|/testdata/|\.hints\.md$|^cmd/|^grader/(proof|class|report)/`, file)
	}
	require.Less(t, size, 15<<20)
	own, solutions, err := p.Archives()
	require.NoError(t, err)
	require.Less(t, len(own)+len(solutions), 3<<20)

	for _, e := range c.Exercises {
		skeleton, err := e.Skeleton()
		require.NoError(t, err)
		require.Equal(t, string(skeleton), string(p.Files[path.Join("exercises", e.Package, e.Package+".go")]))
		require.Contains(t, p.Files, path.Join("solutions", e.Package, e.Package+".go"))
		require.Contains(t, p.Files, path.Join("lessons", e.Name+".md"))
		require.Contains(t, p.Files, path.Join("lessons", e.Name+".solution.md"))
	}
	require.Contains(t, string(p.Files["vendor/modules.txt"]), "github.com/ebitengine/purego\n")
	require.NotContains(t, string(p.Files["go.mod"]), "cobra")
	require.NotContains(t, string(p.Files[".vscode/tasks.json"]), "bin/cudalab")

	links := 0
	for file, text := range p.Files {
		if path.Ext(file) != ".md" || strings.HasPrefix(file, "vendor/") {
			continue
		}
		for _, to := range regexp.MustCompile(`\]\(([^)#:]+)[^):]*\)`).FindAllStringSubmatch(string(text), -1) {
			links++
			require.True(t, there(p.Files, path.Join(path.Dir(file), to[1])), "%s leads to %s", file, to[1])
		}
	}
	require.Greater(t, links, 50)
}

// there reports whether a path is a file or a folder of a course.
func there(files map[string][]byte, name string) bool {
	if _, found := files[name]; found {
		return true
	}
	for file := range files {
		if strings.HasPrefix(file, name+"/") {
			return true
		}
	}
	return false
}

func TestPackRefuses(t *testing.T) {
	for _, root := range []string{"../../proof/authoring/testdata/outside", t.TempDir()} {
		_, err := handout.Pack(context.Background(), filepath.FromSlash(root))
		require.Error(t, err, root)
	}
}
