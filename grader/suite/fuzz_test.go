package suite

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// FuzzPaces reads any text as a paces.txt. What is read holds figures that a time can be judged by, and it is still
// there once another device's paces are put in.
func FuzzPaces(f *testing.F) {
	for _, text := range []string{
		"# Comments.\nsim \"simulated NVIDIA H200\" \"\" 0.2487 0.2487 0.2487\ngpu \"NVIDIA H200\" \"Share\" 0.2495 0.2483 " +
			"0.2521\n",
		"sim \"new\" \"\" 1 1 1\r\n\n  # indented\ngpu `raw` `` 1e-3 1e-320 +Inf\n# the end", "sim \"a\" \"\" 2 3 1\n",
		"sim \"a\" \"\" 1 1 1.5.2\n",
		"sim \"a\" \"\" 1 1 1 more\n", "sim a \"\" 1 1 1\n", "sim \"\\x00\\n\" \"\" NaN 0x1p-2 1_0\n",
	} {
		f.Add(text)
	}
	fresh := []RecordedPace{{Kind: "sim", Name: "new", Function: "f", Value: 0.25, Low: 0.125, High: 0.5},
		{Kind: "sim", Name: "new", Function: "g", Value: 1, Low: 1, High: 1}}
	f.Fuzz(func(t *testing.T, text string) {
		read, err := ReadPaces(text)
		again, addErr := AddPaces(text, fresh)
		if err != nil {
			require.Regexp(t, `^not a pace: "`, err.Error())
			require.Equal(t, err, addErr)
			return
		}
		require.NoError(t, addErr)
		if slices.ContainsFunc(read, func(r RecordedPace) bool { return r.High > 1e300 }) {
			return // rounded to four digits, it may be more than a float64 holds
		}
		var others []RecordedPace
		for _, r := range read {
			require.True(t, 0 < r.Low && r.Low <= r.Value && r.Value <= r.High && !math.IsInf(r.High, 0), "%v", r)
			if r.Kind != "sim" || r.Name != "new" {
				others = append(others, r)
			}
		}
		now, err := ReadPaces(again)
		require.NoError(t, err)
		var kept, added []RecordedPace
		for _, r := range now {
			if r.Kind == "sim" && r.Name == "new" {
				added = append(added, r)
			} else {
				kept = append(kept, r)
			}
		}
		require.Equal(t, fresh, added)
		require.Len(t, kept, len(others))
		for i, r := range kept {
			require.Equal(t, []string{others[i].Kind, others[i].Name, others[i].Function}, []string{r.Kind, r.Name, r.Function})
			require.InEpsilon(t, others[i].Value, r.Value, 1e-3)
		}
		once, err := AddPaces(again, fresh)
		require.NoError(t, err)
		require.Equal(t, again, once)
		for line := range strings.Lines(text) {
			if strings.HasPrefix(line, "#") {
				require.Contains(t, again, strings.TrimSpace(line)+"\n")
			}
		}
	})
}
