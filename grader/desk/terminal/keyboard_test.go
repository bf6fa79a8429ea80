package terminal_test

import (
	"bytes"
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/grader/desk/terminal"
)

func TestLinesAreKeysWhereThereIsNoTerminal(t *testing.T) {
	in, typed, err := os.Pipe()
	require.NoError(t, err)
	k, err := terminal.OpenKeyboard(in)
	require.NoError(t, err)
	require.False(t, k.Single())
	_, err = typed.WriteString("h\n\n  Quit\n?")
	require.NoError(t, err)
	require.NoError(t, typed.Close())
	var got []rune
	for key := range k.Pressed {
		got = append(got, key)
		k.Next()
	}
	require.Equal(t, "hq?", string(got))

	var out bytes.Buffer
	fmt.Fprint(k.Output(&out), "a\nb\n")
	require.Equal(t, "a\nb\n", out.String())
	require.NoError(t, k.Lend(func() error { return nil }))
	require.NoError(t, k.Close())
}
