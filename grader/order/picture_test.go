package order

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// Every scenario's drawings are kept in testdata, to be looked at: run the test with -update after a change.
func TestPictures(t *testing.T) {
	var b strings.Builder
	drawn := map[string]bool{}
	for _, s := range allScenarios() {
		made := s.handmade()
		for _, f := range Check(made) {
			drawing := Picture(made, f)
			if drawing == "" {
				continue
			}
			drawn[f.Rule] = true
			b.WriteString("== " + s.name + ": " + f.Rule + "\n" + drawing + "\n")
			for _, line := range strings.Split(drawing, "\n") {
				require.LessOrEqual(t, utf8.RuneCountInString(line), pictureWidth, "%s", drawing)
				require.Equal(t, strings.TrimRight(line, " "), line)
			}
			require.Equal(t, 1, strings.Count(drawing, missing), "%s", drawing)
			require.Equal(t, 1, strings.Count(drawing, "▲")+strings.Count(drawing, "▼"), "%s", drawing)
		}
	}
	for _, rule := range []string{UseBeforeAlloc, FreeBeforeUse, DataRace, HostRace} {
		require.True(t, drawn[rule], "no scenario has a picture of %s", rule)
	}
	file := filepath.Join("testdata", "pictures.txt")
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(b.String()), 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(want), b.String())
}
