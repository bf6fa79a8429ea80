package check

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/grader/judge/run"
	"cudalab/grader/suite/verdict"
)

func TestFunctions(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "a.go")
	require.NoError(t, os.WriteFile(file, []byte(`package a

func Run() {
	for i := range 3 {
		_ = i
	}
	for j := 0; j < 3; j++ {
		for {
			break
		}
	}
	for n := 0; ; {
		n++
	}
}

type pool struct{}

func (p *pool) wait(done *bool) {
	for !*done {
	}
}

func none() {}

func (p pool) size() {}

type list[K comparable, V any] struct{}

func (l *list[K, V]) add() {}
`), 0o600))
	found, code := functions(dir, nil)
	require.Equal(t, map[string]verdict.Place{
		"Run":  {File: file, Line: 3, Func: "Run"},
		"wait": {File: file, Line: 19, Func: "wait"},
		"none": {File: file, Line: 24, Func: "none"},
		"size": {File: file, Line: 26, Func: "size"},
		"add":  {File: file, Line: 30, Func: "add"},
	}, found)
	require.Equal(t, map[string]run.Function{
		"Run":          {Line: 3, Loop: 12, Loops: [][2]int{{4, 6}, {7, 11}, {8, 10}, {12, 14}}},
		"(*pool).wait": {Line: 19, Loop: 20, Loops: [][2]int{{20, 21}}},
		"pool.size":    {Line: 26}, "none": {Line: 24},
		"(*list).add": {Line: 30},
	}, code)
}
