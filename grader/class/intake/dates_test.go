package intake

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDatesOfManyLanguages(t *testing.T) {
	for text, want := range map[string]string{
		"05 March 2026 612 PM":                  "2026-03-05T18:12",
		"Jul 30, 2026 1053 PM":                  "2026-07-30T22:53",
		"Jul 30, 2026 1205 AM":                  "2026-07-30T00:05",
		"2 September 2026 1812":                 "2026-09-02T18:12",
		"5 mars 2026 18 h 12":                   "2026-03-05T18:12",
		"1 ao\u00fbt 2026 0905":                 "2026-08-01T09:05",
		"1 aou\u0302t 2026 0905":                "2026-08-01T09:05", // as macOS writes it
		"12. M\u00e4rz 2026 2026":               "2026-03-12T20:26",
		"5 de marzo de 2026 6:12 p. m.":         "2026-03-05T18:12",
		"5 de mar\u00e7o de 2026 \u00e0s 18h12": "2026-03-05T18:12",
		"9 ottobre 2026 ore 7.05":               "2026-10-09T07:05",
		"9 okt. 2026 kl. 07.05":                 "2026-10-09T07:05",
		"2026-03-05 1812":                       "2026-03-05T18:12",
		"2026\u5e743\u67085\u65e5 18 12":        "2026-03-05T18:12",
	} {
		at, ok := parseDate(text)
		require.True(t, ok, text)
		require.Equal(t, want, at, text)
	}
	for _, text := range []string{
		"", "2026", "March 2026 612 PM", "5 March 612 PM", "5 March 2026", "31 February 2026 612 PM", "5 March 2026 1312 PM",
		"5 March 2026 2512", "05/03/2026 612 PM", "3 listopada 2026 1812", "5 March May 2026 1812", "2026-13-05 1812",
		"2026\u5e743\u67085\u65e5 \u4e0b\u5348 612", // the second half of the day, in words that are not known
	} {
		at, ok := parseDate(text)
		require.False(t, ok, "%s: %s", text, at)
		require.Empty(t, at)
	}
}

func TestNoMonthIsInTwoRows(t *testing.T) {
	seen := map[string]int{}
	for i, names := range months {
		for name := range strings.FieldsSeq(names) {
			require.NotContains(t, seen, name)
			seen[name] = i
		}
	}
}
