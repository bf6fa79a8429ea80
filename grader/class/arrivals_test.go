package class

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/grader/class/roster"
	"cudalab/grader/suite/verdict"
)

// TestWhoHandedIn grades a class with a roster: what could not be read has no grade, and who is missing, gone or
// unknown is named.
func TestWhoHandedIn(t *testing.T) {
	dir := t.TempDir()
	handIn(t, dir, "ada/slab/slab.go", program(t, "solutions/slab/slab.go"))
	handIn(t, dir, "bob/slab/slab.go", program(t, "exercises/slab/slab.go"))
	handIn(t, dir, "cem.zip", "PK")
	o := graded(t, dir, "slab")
	o.Roster = []roster.Entry{{Person: Person{Name: "Ada Lovelace", Login: "ada", SID: "1815", Section: "A"}, Line: 2},
		{Person: Person{Name: "Zed"}, Line: 3}}
	c := grade(t, o)
	require.Equal(t, []Person{{Name: "Zed"}}, c.Absent)
	require.Equal(t, []Person{o.Roster[0].Person}, c.Students[0].People)
	cem := c.Students[2]
	require.Equal(t, Unread, cem.Status)
	require.Equal(t, verdict.Unread, cem.Exercises[0].Status)
	require.Equal(t, []Attention{{"cem", cem.Problem}, {"bob", "bob is not on the roster."},
		{"cem", "cem.zip is not on the roster."}}, c.Attention)
	text, err := os.ReadFile(filepath.Join(o.Results, studentsDir, "cem.json"))
	require.NoError(t, err)
	var written map[string]any
	require.NoError(t, json.Unmarshal(text, &written))
	require.Nil(t, written["score"])
	require.Equal(t, "unread", written["status"])

	require.NoError(t, os.RemoveAll(filepath.Join(dir, "bob")))
	o.Resume = true
	total := -1
	o.Progress = func(p Progress) { total = p.Total }
	again := grade(t, o)
	require.Equal(t, -1, total, "nothing is graded twice, nor what cannot be read")
	require.True(t, again.Students[1].Withdrawn)
	require.Equal(t, "bob", again.Attention[len(again.Attention)-1].ID)
	text, err = os.ReadFile(filepath.Join(o.Results, studentsDir, "bob.json"))
	require.NoError(t, err)
	require.Contains(t, string(text), `"withdrawn": true`)

	merged, err := Merge([]string{o.Results}, filepath.Join(t.TempDir(), "merged"), Options{})
	require.NoError(t, err)
	require.Equal(t, again.Students, merged.Students)
	require.Equal(t, again.Attention, merged.Attention)
	require.Equal(t, again.Absent, merged.Absent)
}

func TestAFullDiskIsToldAsOne(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_RDWR, 0)
	if err != nil {
		t.Skip("this system has no device that is always full")
	}
	j := &journal{full}
	defer j.close()
	err = fullDisk("results", j.settle(Student{ID: "ada"}))
	var said *UsageError
	require.ErrorAs(t, err, &said)
	require.Equal(t, "The disk is full: nothing more can be written to results. Free some space there and go on with "+
		"--resume: what was finished is kept, and nothing is done twice.", err.Error())
}
