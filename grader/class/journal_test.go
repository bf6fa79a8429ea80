package class

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/grader/judge/visible"
	"cudalab/grader/suite/verdict"
)

// written is a journal with a header and three results, in a folder of its own.
func written(t *testing.T) (dir string) {
	dir = t.TempDir()
	j, state, err := openJournal(dir)
	require.NoError(t, err)
	require.Nil(t, state.header)
	require.NoError(t, j.begin(Header{Schema: SchemaVersion, Seed: 7}))
	require.NoError(t, j.settle(Student{ID: "ada", Status: Errored, Problem: "no GPU", Notes: []string{}}))
	require.NoError(t, j.settle(Student{ID: "bob", Status: Graded, Score: 40, MaxScore: 100, Notes: []string{"a < b & c"},
		Exercises: []verdict.Report{{Exercise: "slab", Output: "line\u2028line", Checks: []verdict.Check{}}}}))
	require.NoError(t, j.settle(Student{ID: "ada", Status: Graded, Score: 100, MaxScore: 100, Notes: []string{}}))
	require.NoError(t, j.close())
	return dir
}

func reopen(t *testing.T, dir string) journalState {
	t.Helper()
	j, state, err := openJournal(dir)
	require.NoError(t, err)
	require.NoError(t, j.close())
	return state
}

func TestJournalTellsWhatWasWritten(t *testing.T) {
	state := reopen(t, written(t))
	require.False(t, state.torn)
	require.Equal(t, uint64(7), state.header.Seed)
	require.Len(t, state.results, 2)
	require.Equal(t, Graded, state.results["ada"].Status, "the last result of a student counts")
	require.Equal(t, 40.0, state.results["bob"].Score)
	require.Equal(t, "line\u2028line", state.results["bob"].Exercises[0].Output)
}

// TestTornJournal cuts a journal off at every byte: all lines that are whole count, and what is written next follows
// them.
func TestTornJournal(t *testing.T) {
	dir := written(t)
	text, err := os.ReadFile(journalPath(dir))
	require.NoError(t, err)
	for n := range text {
		require.NoError(t, os.WriteFile(journalPath(dir), text[:n], 0o644))
		j, state, err := openJournal(dir)
		require.NoError(t, err, "cut off after %d bytes", n)
		whole := bytes.LastIndexByte(text[:n], '\n') + 1
		require.Equal(t, whole != n, state.torn)
		require.Equal(t, whole > 0, state.header != nil)
		if whole > 0 {
			require.NoError(t, j.settle(Student{ID: "eve", Status: Graded}))
			require.NoError(t, j.close())
			require.Contains(t, reopen(t, dir).results, "eve")
			continue
		}
		require.NoError(t, j.close())
	}
}

func TestGarbageAtTheEndIsCutOff(t *testing.T) {
	dir := written(t)
	text, err := os.ReadFile(journalPath(dir))
	require.NoError(t, err)
	for _, garbage := range []string{"\x00\x00\x00\n", `{"sum":"0","event":{}}` + "\n"} {
		require.NoError(t, os.WriteFile(journalPath(dir), append(bytes.Clone(text), garbage...), 0o644))
		state := reopen(t, dir)
		require.True(t, state.torn)
		require.Len(t, state.results, 2)
		now, err := os.ReadFile(journalPath(dir))
		require.NoError(t, err)
		require.Equal(t, string(text), string(now))
	}
}

func TestDamagedJournal(t *testing.T) {
	for _, c := range []struct {
		name   string
		damage func(lines []string)
		says   string
	}{
		{"a grade is changed", func(l []string) { l[2] = strings.Replace(l[2], `"score":40`, `"score":90`, 1) },
			`Line 3 of .* is damaged: its checksum does not match\. Restore the file from a copy, or delete that line and use --resume`},
		{"no JSON", func(l []string) { l[1] = "ada: 100 points" }, `Line 2 of .* is damaged: it is no JSON`},
		{"the header", func(l []string) { l[0] = l[0][1:] },
			`Line 1 of .*, which says what the results have in common, is damaged`},
		{"no header", func(l []string) { l[0], l[1] = l[1], l[0] },
			`Line 1 of .* is damaged: the journal should have one header`},
		{"two headers", func(l []string) { l[2] = l[0] }, `Line 3 of .* is damaged: the journal should have one header`},
		{"from the future", func(l []string) {
			l[3] = `{"sum":"` + sum([]byte(`{"later":1}`)) + `","event":{"later":1}}`
		}, `Line 4 of .* tells no event that this version of cudalab knows`},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := written(t)
			text, err := os.ReadFile(journalPath(dir))
			require.NoError(t, err)
			lines := strings.Split(string(text), "\n")
			c.damage(lines)
			damaged := strings.Join(lines, "\n")
			require.NoError(t, os.WriteFile(journalPath(dir), []byte(damaged), 0o644))
			_, _, err = openJournal(dir)
			var asked *UsageError
			require.ErrorAs(t, err, &asked)
			require.Regexp(t, c.says, asked.Message)
			now, err := os.ReadFile(journalPath(dir))
			require.NoError(t, err)
			require.Equal(t, damaged, string(now), "a damaged journal stays as it is")
		})
	}
}

func TestNoGradeIsNoZero(t *testing.T) {
	text, err := visible.JSON(Student{ID: "ada", Status: Errored, MaxScore: 100})
	require.NoError(t, err)
	require.Contains(t, string(text), `"score":null`)
	text, err = visible.JSON(Student{ID: "bob", Status: Graded, MaxScore: 100})
	require.NoError(t, err)
	require.Contains(t, string(text), `"score":0`)
}
