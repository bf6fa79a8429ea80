package lessons

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"
	"github.com/stretchr/testify/require"
)

func TestFaultsOfTheCourse(t *testing.T) {
	const slab = "[[exercise]]\nname = \"slab\"\ntitle = \"Slab\"\npackage = \"slab\"\nrequires = []\npoints = { cost = " +
		"100 }\n"
	for _, c := range []struct{ text, says string }{
		{"[[exercise]]\nname = slab\n", `course.toml: line 2 (last key "exercise.name"): `},
		{"[[exercise]]\nname = 3\n", `course.toml: line 2 (last key "exercise.name"): incompatible types`},
		{slab + "weight = 3\n", `course.toml: nothing is called "exercise.weight"`},
		{"[[exercise]]\nname = \"slab\"\n", `course.toml: exercise 1 ("slab") needs a name, a title, a package and points`},
		{strings.Replace(slab, "100", "0", 1),
			`course.toml: check "cost" of "slab" is worth 0 points, and should be worth at least 1`},
		{strings.Replace(slab, "[]", "[\"buddy\"]", 1), `course.toml: "slab" requires "buddy", which should come before it`},
		{"why = 5\n" + slab, `course.toml: why is 5, and should be from 0, for never, to 4`},
		{slab + slab, `course.toml: there are two exercises "slab", and each needs a name of its own`},
	} {
		_, err := parseCourse(c.text)
		require.ErrorContains(t, err, c.says)
	}
	got, err := parseCourse(slab)
	require.NoError(t, err)
	want := Exercise{Name: "slab", Title: "Slab", Package: "slab", Points: map[string]int{"cost": 100},
		Requires: []string{},
		Why:      AllSteps}
	require.Equal(t, []Exercise{want}, got)
	got, err = parseCourse("why = 2\n" + slab)
	require.NoError(t, err)
	require.Equal(t, 2, got[0].Why)
}

// FuzzCourse reads any text as course.toml. What is wrong is told in one line; what is taken can be written and read
// again.
func FuzzCourse(f *testing.F) {
	text, err := Texts.ReadFile("course.toml")
	require.NoError(f, err)
	f.Add(string(text))
	entry, _, _ := strings.Cut(string(text)[strings.Index(string(text), "[["):], "\n\n[[")
	f.Add(entry)
	f.Add(strings.ReplaceAll(entry, "10", "-1"))
	f.Add("exercise = [{ name = 'a', title = \"b\\u0000\", package = 'c', points.d = 0x10, requires = [] }]\n")
	f.Fuzz(func(t *testing.T, text string) {
		read, err := parseCourse(text)
		if err != nil {
			require.Nil(t, read)
			require.Regexp(t, `^course\.toml: [[:print:]]`, err.Error())
			require.NotContains(t, err.Error(), "\n")
			return
		}
		seen := map[string]bool{}
		for _, e := range read {
			require.False(t, seen[e.Name])
			require.Subset(t, slices.Collect(maps.Keys(seen)), e.Requires)
			for _, points := range e.Points {
				require.Positive(t, points)
			}
			seen[e.Name] = true
		}
		var b strings.Builder
		require.NoError(t, toml.NewEncoder(&b).Encode(map[string]any{"exercise": read}))
		again, err := parseCourse(b.String())
		require.NoError(t, err, b.String())
		require.Equal(t, len(read), len(again))
		for i := range read {
			require.Equal(t, read[i].Points, again[i].Points)
			require.Equal(t, read[i].Title, again[i].Title)
		}
	})
}
