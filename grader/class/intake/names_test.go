package intake

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

func TestSafeID(t *testing.T) {
	long := strings.Repeat("ü", 100)
	for name, want := range map[string]string{
		"Ada Lovelace":     "Ada Lovelace",
		"Müller, Jörg":     "Müller, Jörg",
		"Mu\u0308ller":     "Müller",
		"a/b\\c:d":         "a_b_c_d",
		"what? <b>|*\"":    "what_ _b____",
		"dots. . .":        "dots",
		"..hidden":         "hidden",
		"-rf":              "rf",
		"":                 "unnamed",
		"...":              "unnamed",
		"?":                "unnamed",
		"con":              "_con",
		".NUL.txt":         "_NUL.txt",
		"Com1 .x":          "_Com1 .x",
		"COM10":            "COM10",
		"LPT²":             "_LPT²",
		"a\u202Egpj.exe":   "a_gpj.exe",
		"a\x00b\nc\u00A0d": "a_b c d",
		"M\xFCller":        "M%FCller",
		"李雷":               "李雷",
		long:               strings.Repeat("ü", 60),
		// Unicode's normal form breaks long runs of marks up.
		"a\u0300" + strings.Repeat("\u0301", 200): "à" + strings.Repeat("\u0301", 29) + "\u034F" + strings.Repeat("\u0301",
			29),
	} {
		id := safeID(name)
		require.Equal(t, want, id, "%q", name)
		require.Equal(t, id, safeID(id), "%q", name)
		require.LessOrEqual(t, len(id), maxID)
		require.True(t, utf8.ValidString(id))
	}
}

func TestIDsAreUniqueWhateverTheOrder(t *testing.T) {
	from := []string{"alice", "alice.zip", "Alice.tar.gz", "alice_2", "m\u00FCller", "mu\u0308ller.zip", "STRASSE",
		"straße", "bob"}
	want := map[string]string{
		"Alice.tar.gz": "Alice", "alice": "alice_3", "alice.zip": "alice_4", "alice_2": "alice_2", "m\u00FCller": "müller_2",
		"mu\u0308ller.zip": "müller",
		"STRASSE":          "STRASSE", "straße": "straße", "bob": "bob",
	}
	for i := range from {
		order := append(append([]string{}, from[i:]...), from[:i]...)
		var units []*unit
		for _, name := range order {
			units = append(units, &unit{name: trimArchive(name), from: name})
		}
		identify(units)
		got := map[string]string{}
		folded := map[string]bool{}
		for _, u := range units {
			got[u.from] = u.id
			require.False(t, folded[fold(u.id)], u.id)
			folded[fold(u.id)] = true
			require.Equal(t, u.from == "alice_2" || u.from == "bob" || strings.HasPrefix(strings.ToLower(u.from), "stra"),
				len(u.notes) == 0, u.from)
		}
		require.Equal(t, want, got)
	}
}
