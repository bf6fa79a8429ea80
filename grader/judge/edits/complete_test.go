package edits

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const skeleton = `package p

import "cudalab/exercises/contract"

func size(n int) int {
	// TODO(1a): Answer it.
	return int(contract.TODO("1a"))
}

func (p *Pool) Free() error {
	// TODO(1b): Free it.
	if err := contract.TODO("1b"); err != nil {
		return err
	}
	return contract.TODO("1c")
}
`

const solved = `package p

import (
	"errors"
	m "math"
)

func size(n int) int { return n }

func (p *Pool) Free() error {
	if p.n == 0 { // nothing
		return errors.New("none")
	}
	p.n = m.MaxInt
	return nil
}
`

func TestComplete(t *testing.T) {
	written := strings.Replace(skeleton, "\t// TODO(1a): Answer it.\n\treturn int(contract.TODO(\"1a\"))",
		"\treturn n + 1", 1) + "\nfunc last() {}\n"
	text, filled, ok := Complete(written, skeleton, solved)
	require.True(t, ok)
	require.Len(t, filled, 1)
	require.Equal(t, "Pool.Free", FunctionName(filled[0].FuncDecl))
	lines, before := strings.Split(text, "\n"), strings.Split(written, "\n")
	require.Len(t, lines, len(before))
	require.Contains(t, lines[filled[0].Line-1], `return errors . New ( "none" ) ;`)
	require.Equal(t, before[5], lines[5], "what is written stays where it was")
	require.Equal(t, before[len(before)-2], lines[len(before)-2])
	require.NotContains(t, text, "nothing", "the solution's comments are its own")
	require.Equal(t, `package p; import m "math"; import errors "errors"`, lines[0])
	require.NotContains(t, text, "contract", "an import that is no longer needed goes")
}

func TestNothingToComplete(t *testing.T) {
	half := strings.Replace(skeleton, `return contract.TODO("1c")`, "return nil", 1)
	half = strings.Replace(half, `int(contract.TODO("1a"))`, "n", 1)
	for name, x := range map[string]struct{ own, skeleton, solution string }{
		"one of its gaps is filled":       {half, skeleton, solved},
		"the solution has no such method": {skeleton, skeleton, strings.ReplaceAll(solved, "Free", "Close")},
		"a raw string of several lines":   {skeleton, skeleton, strings.Replace(solved, `"none"`, "`no\nne`", 1)},
		"it does not parse":               {skeleton + "}", skeleton, solved},
	} {
		_, _, ok := Complete(x.own, x.skeleton, x.solution)
		require.False(t, ok, name)
	}
}
