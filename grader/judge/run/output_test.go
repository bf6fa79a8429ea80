package run

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

func TestOutputOfManyProcessesIsBounded(t *testing.T) {
	require.Equal(t, "all of it", bounded("all of it"))
	text := bounded("begin" + strings.Repeat("é", 1<<20) + "end")
	require.Less(t, len(text), 140<<10)
	require.True(t, utf8.ValidString(text))
	require.True(t, strings.HasPrefix(text, "begin") && strings.HasSuffix(text, "end"))
	require.Contains(t, text, "bytes left out")
}
