package visible_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"

	"cudalab/grader/judge/visible"
)

func TestJSONWritesOutWhatCannotBeSeen(t *testing.T) {
	var all strings.Builder
	for r := range rune(unicode.MaxRune + 1) {
		all.WriteRune(r) // what is half of a pair comes out as U+FFFD
	}
	all.WriteString(`\u202e"`)
	text, err := visible.JSON(all.String())
	require.NoError(t, err)
	require.Negative(t, bytes.IndexFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }))
	var back string
	require.NoError(t, json.Unmarshal(text, &back))
	require.True(t, all.String() == back)
}

func TestWriteJSONIndents(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, visible.WriteJSON(&b, map[string]any{"a": []int{}, "b": "<\u202e>"}))
	require.Equal(t, "{\n  \"a\": [],\n  \"b\": \"<\\u202e>\"\n}\n", b.String())
}

func FuzzJSON(f *testing.F) {
	f.Add("plain", "\u202e\u2066\U000e0001\x7f\x00")
	f.Fuzz(func(t *testing.T, key, text string) {
		out, err := visible.JSON(map[string]string{key: text})
		require.NoError(t, err)
		require.Negative(t, bytes.IndexFunc(out, func(r rune) bool { return !unicode.IsPrint(r) }))
		plain, err := json.Marshal(map[string]string{key: text})
		require.NoError(t, err)
		var a, b map[string]string
		require.NoError(t, json.Unmarshal(out, &a))
		require.NoError(t, json.Unmarshal(plain, &b))
		require.Equal(t, b, a)
	})
}
