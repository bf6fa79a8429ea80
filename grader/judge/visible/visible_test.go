package visible

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTextWritesOutWhatCannotBeSeen(t *testing.T) {
	for text, want := range map[string]string{
		"Übung: 10 µs, 東京":          "Übung: 10 µs, 東京",
		"a\tb\r\nc\rd":              `a\tb; c\rd`,
		"no room\n\nno pool\n":      "no room; no pool",
		"\x1b[2J\u202edessap\u2069": `\x1b[2J\u202edessap\u2069`,
		"\u2028\u200b\ufeff\u0085":  `\u2028\u200b\ufeff\u0085`,
	} {
		require.Equal(t, want, Line(text))
	}
	require.Equal(t, "a\tb\nc"+`\rd\x00`, Text("a\tb\r\nc\rd\x00"))
}
