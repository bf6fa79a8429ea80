package pseudonyms

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/grader/class"
	"cudalab/grader/proof/reporttest"
)

func TestAPseudonymStaysAndTellsNothing(t *testing.T) {
	dir := t.TempDir()
	require.False(t, Exists(dir))
	k := Open(dir)
	first := map[string]string{}
	for _, id := range []string{"ada", "bob", "=1+1", "'quoted", "a,b\"c", "zoë"} {
		p, err := k.of(id)
		require.NoError(t, err)
		require.Regexp(t, `^P-[2-9A-HJ-NP-Z]{5}$`, p)
		first[id] = p
	}
	require.True(t, Exists(dir))
	again := Open(dir)
	for id, p := range first {
		q, err := again.of(id)
		require.NoError(t, err)
		require.Equal(t, p, q, id)
	}
	other := Open(t.TempDir())
	p, err := other.of("ada")
	require.NoError(t, err)
	require.NotEqual(t, first["ada"], p, "it is drawn, not computed")

	require.NoError(t, os.WriteFile(filepath.Join(dir, keyFile), []byte("pseudonym,student\n\"P-"), 0o644))
	_, err = Open(dir).of("ada")
	require.ErrorContains(t, err, "Restore it from a copy")
}

func TestNamesAreHidden(t *testing.T) {
	c := reporttest.Sample()
	c.Students[0].ID = "lovelace-ada"
	c.Students[0].People = []class.Person{{Name: "Ada King Lovelace", SID: "s123456", Email: "a.lovelace@x.edu",
		Login: "adal"}}
	c.Students[1].ID = "bob_dylan"
	n := newNames(c.Students)
	own := n.own(&c.Students[0])
	for text, want := range map[string]string{
		"by Ada King Lovelace and ADA LOVELACE":  "by [name] and [name] [name]",
		"Lovelace, Ada King; s123456":            "[name]; [name]",
		"the file ada/slab.go, ada_slab":         "the file [name]/slab.go, [name]_slab",
		"mail a.lovelace@x.edu or who@else.org!": "mail [e-mail] or [e-mail]!",
		"Canada adamant adaptive":                "Canada adamant adaptive",
		"bob dylan, Bob_Dylan, bob":              "[name], [name], bob",
		"a line\nADAL\nlast":                     "a line\n[name]\nlast",
		"":                                       "",
	} {
		require.Equal(t, want, own.text(text))
	}
	require.Equal(t, "ada and lovelace", n.in("ada and lovelace"), "others' first names are words like any other")
	source := "// Author: Somebody\n/* written by X */\npackage slab // name of the package\n\t// the student numbers " +
		"are\nvar x = \"ada\" // Name: Y\n"
	require.Equal(t, "// [a comment about who wrote this]\n/* [a comment about who wrote this]\npackage slab // name of "+
		"the package\n\t// [a comment about who wrote this]\nvar x = \"[name]\" // [a comment about who wrote this]\n",
		string(own.source([]byte(source))))
}

// nowhere checks that nobody's name is in a text.
func nowhere(t *testing.T, text []byte, c *class.Class) {
	t.Helper()
	for _, s := range c.Students {
		names := []string{s.ID}
		for _, p := range s.People {
			names = append(names, p.Name, p.SID, p.Email)
		}
		for _, name := range names {
			if name != "" {
				require.False(t, strings.Contains(strings.ToLower(string(text)), strings.ToLower(name)), "%s is there", name)
			}
		}
	}
}

func TestWhatIsShownHasNoNames(t *testing.T) {
	c := reporttest.Large(30)
	for i := range c.Students {
		s := &c.Students[i]
		s.ID = fmt.Sprintf("surname%02d-given%02d", i, i)
		s.People = []class.Person{{Name: fmt.Sprintf("Given%02d Surname%02d", i, i), SID: fmt.Sprintf("7700%02d", i),
			Email: fmt.Sprintf("g%02d@x.edu", i)}}
		s.Notes, s.Problem = []string{"Two submissions have the same name: " + s.ID}, "The folder of "+s.ID+" is damaged."
		other := fmt.Sprintf("surname%02d-given%02d", (i+1)%30, (i+1)%30)
		for j := range s.Exercises {
			r := &s.Exercises[j]
			r.Message, r.Output = "in "+s.ID, s.People[0].Name+" like "+other
			for k := range r.Checks {
				for l := range r.Checks[k].Findings {
					f := &r.Checks[k].Findings[l]
					f.File, f.Message = s.ID+"/slab.go", "panic: "+s.People[0].Email+" "+other
				}
			}
		}
	}
	c.Attention = []class.Attention{{ID: c.Students[0].ID, Text: c.Students[0].ID}}
	c.Absent = c.Students[3].People
	dir := t.TempDir()
	k := Open(dir)
	require.NoError(t, k.Write(dir, c))
	text, err := os.ReadFile(filepath.Join(dir, folder, "report.html"))
	require.NoError(t, err)
	nowhere(t, text, c)
	require.Contains(t, string(text), "P-")
	for _, s := range c.Students {
		var out bytes.Buffer
		f := &class.Feedback{Class: c, Student: s, Read: func(file string) ([]byte, error) {
			require.Contains(t, []string{s.ID + "/slab.go", reporttest.Race.Related[0].File, "exercise1/exercise1.go"}, file,
				"files are read by their real names")
			return []byte(strings.Repeat("// "+s.People[0].Name+"\n", 100)), nil
		}}
		require.NoError(t, k.feedback(&out, f))
		nowhere(t, out.Bytes(), c)
	}
	key, err := os.ReadFile(filepath.Join(dir, keyFile))
	require.NoError(t, err)
	require.Contains(t, string(key), c.Students[0].ID)
	require.NoError(t, k.Write(dir, c))
	same, err := os.ReadFile(filepath.Join(dir, keyFile))
	require.NoError(t, err)
	require.Equal(t, string(key), string(same))
}
