package compile

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWhatRunsAtTheStart(t *testing.T) {
	for text, starts := range map[string]bool{
		"":                                     false,
		"var a int":                            false,
		"var a, b = 1, \"two\" + `three`":      false,
		"var a = [...]int{1, 2, 3: 4}":         false,
		"var a = map[string][]int{\"x\": {1}}": false,
		"var a = &t{1, nil}\n\ntype t struct{ a int; b *t }":             false,
		"var a = func() int { return f() }\n\nfunc f() int { return 1 }": false,
		"var a error = cuda.ErrorInvalidValue":                           false,
		"func (t) init() {}\n\ntype t struct{}":                          false,
		"func init() {}":                                                 true,
		"var a = f()\n\nfunc f() int { return 1 }":                       true,
		"var a = make([]byte, 1<<30)":                                    true,
		"var a = 1 / b\n\nvar b int":                                     true,
		"var a = b[7]\n\nvar b []int":                                    true,
		"var a = *b\n\nvar b *int":                                       true,
		"var a = b.c\n\nvar b *struct{ c int }":                          true,
		"var a = b.(int)\n\nvar b any":                                   true,
		"var a = <-b\n\nvar b chan int":                                  true,
		"var a = map[any]int{b: 1}\n\nvar b any = []int{1}":              true,
		"var a = []func(){func() {}}[0:1:1]":                             true,
	} {
		s := read(sample(folder(t, map[string]string{"sample.go": header + text + "\n"})), newAPI(course))
		require.Empty(t, s.errors, text)
		require.Equal(t, starts, s.starts, text)
	}
	s := read(sample(folder(t,
		map[string]string{"sample.go": "package sample\n\nimport \"errors\"\n\nvar a = errors.New(\"full\")\n"})),
		newAPI(course))
	require.False(t, s.starts)
}
