package look_test

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/grader/report/look"
)

// colors are the colours of a part of the style sheet, by name: red, green and blue from 0 to 1.
func colors(t *testing.T, css string) map[string][3]float64 {
	t.Helper()
	all := map[string][3]float64{}
	for _, m := range regexp.MustCompile(`--(\w+): #(\w{6});`).FindAllStringSubmatch(css, -1) {
		v, err := strconv.ParseUint(m[2], 16, 32)
		require.NoError(t, err)
		all[m[1]] = [3]float64{float64(v>>16) / 255, float64(v>>8&255) / 255, float64(v&255) / 255}
	}
	require.NotEmpty(t, all)
	return all
}

// contrast is WCAG's, from 1 to 21.
func contrast(a, b [3]float64) float64 {
	light := func(c [3]float64) float64 {
		for i, v := range c {
			if c[i] = math.Pow((v+0.055)/1.055, 2.4); v <= 0.04045 {
				c[i] = v / 12.92
			}
		}
		return 0.2126*c[0] + 0.7152*c[1] + 0.0722*c[2]
	}
	return (max(light(a), light(b)) + 0.05) / (min(light(a), light(b)) + 0.05)
}

// Every colour that has a meaning can be read as text on the page's ground, and ink can be read on a box of it. Pages
// and the chapters' figures have no other colours.
func TestColoursHaveContrast(t *testing.T) {
	light, rest, found := strings.Cut(look.Colors, "@media (prefers-color-scheme: dark)")
	require.True(t, found)
	dark, _, _ := strings.Cut(rest, "@media")
	for name, css := range map[string]string{"light": light, "dark": dark} {
		c := colors(t, css)
		for _, meaning := range []string{"ink", "soft", "link", "kernel", "alloc", "copy", "wait", "event", "host", "owner",
			"bad", "good", "odd"} {
			require.Contains(t, c, meaning)
			require.GreaterOrEqual(t, contrast(c[meaning], c["paper"]), 4.5, "%s on paper, %s", meaning, name)
			const fill = 0.34
			var box [3]float64
			for i := range box {
				box[i] = fill*c[meaning][i] + (1-fill)*c["paper"][i]
			}
			require.GreaterOrEqual(t, contrast(c["ink"], box), 4.5, "ink on %s, %s", meaning, name)
		}
	}
}
