package corpus

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const base = `// Adds up, in few words.
package sums

func Sum(numbers []int) (sum int) {
	if len(numbers) == 0 {
		return 0
	}
	for _, n := range numbers {
		sum += n // want: surprise
	}
	if sum < 0 {
		return 0
	}
	return sum
}
`

// apply makes the programs of a file's edits, whose base is right/plain.
func apply(text string) ([]Program, error) {
	edits, err := parse("wrong.diff", text)
	if err != nil {
		return nil, err
	}
	return applyAll(edits, []Program{{Kind: Right, Name: "plain", Text: base}, {Kind: Wrong, Name: "whole", Text: base}})
}

func TestAnEditIsMadeOfItsBase(t *testing.T) {
	made, err := apply(`# A remark.

-- wrong/off-by-one --
from right/plain
// Leaves out the first,
// and says nothing.
//cudalab:fails results
//cudalab:may order

-	for _, n := range numbers {
+	for _, n := range numbers[1:] { // want: wrong-result

 	if sum < 0 {
+		println(sum)

 func Sum(numbers []int) (sum int) { // want: host-wait

# The same without a word.
-- cheat/forged --
from right/plain

-		sum += n
`)
	require.NoError(t, err)
	require.Len(t, made, 2)
	require.Equal(t, "wrong/off-by-one", made[0].String())
	require.Equal(t, `// Leaves out the first,
// and says nothing.
//
//cudalab:fails results
//cudalab:may order
package sums

func Sum(numbers []int) (sum int) { // want: host-wait
	if len(numbers) == 0 {
		return 0
	}
	for _, n := range numbers[1:] { // want: wrong-result
		sum += n
	}
	if sum < 0 {
		println(sum)
		return 0
	}
	return sum
}
`, made[0].Text)
	require.Equal(t, expectation{Wrong: true, Fails: []string{"results"}, May: []string{"order"},
		Wants: []want{{"host-wait", 8}, {"wrong-result", 12}}}, made[0].Expect())
	require.Equal(t, "cheat/forged", made[1].String())
	require.NotContains(t, made[1].Text, "sum += n")
	require.True(t, strings.HasPrefix(made[1].Text, "package sums\n"))
}

func TestTheEndsOfLinesDoNotMatter(t *testing.T) {
	text := "-- wrong/none --\nfrom right/plain\n\n-\t\tsum += n\n"
	made, err := apply(text)
	require.NoError(t, err)
	again, err := apply(strings.ReplaceAll(text, "\n", "\r\n"))
	require.NoError(t, err)
	require.Equal(t, made, again)
}

func TestAnEditThatIsNotRightIsSaidWhere(t *testing.T) {
	const head = "-- wrong/x --\nfrom right/plain\n"
	const hunk = "\n-\t\tsum += n\n"
	for name, c := range map[string]struct{ text, want string }{
		"no heading": {"from right/plain\n",
			`wrong.diff:1: the first program begins with a line like "-- wrong/too-small --"`},
		"unknown kind": {"-- wrnog/x --\nfrom right/plain\n" + hunk, `wrong.diff:1: "wrnog/x" is no program's name`},
		"strange name": {"-- wrong/../x --\nfrom right/plain\n" + hunk,
			`wrong.diff:1: "wrong/../x" is no program's name`},
		"no base":   {"-- wrong/x --\n" + hunk, `wrong.diff:1: wrong/x does not say what it is edited from`},
		"two bases": {head + "from solution\n" + hunk, `wrong.diff:3: wrong/x has a base already, right/plain`},
		"unknown base": {"-- wrong/x --\nfrom right/plian\n" + hunk,
			`wrong.diff:1: wrong/x is edited from right/plian, which is not there`},
		"edit of an edit": {head + hunk + "-- wrong/y --\nfrom wrong/x\n" + hunk,
			`wrong.diff:5: wrong/y is edited from wrong/x, which is itself an edit`},
		"twice": {head + hunk + head + hunk, `wrong.diff:5: wrong/x is there already, in wrong.diff`},
		"whole already": {"-- wrong/whole --\nfrom right/plain\n" + hunk,
			`wrong.diff:1: wrong/whole is there already, as a whole program`},
		"no hunk":         {head, `wrong.diff:1: wrong/x changes nothing in right/plain`},
		"nothing changed": {head + "\n \t\tsum += n // want: x\n", `wrong.diff:1: wrong/x changes nothing in right/plain`},
		"the same again": {head + "\n-\t\tsum += n\n+\t\tsum += n\n",
			`wrong.diff:1: wrong/x changes nothing in right/plain`},
		"unknown directive": {head + "//cudalab:fail order\n" + hunk,
			`wrong.diff:3: wrong/x: there is no directive //cudalab:fail order`},
		"strange line": {head + "fails order\n" + hunk,
			`wrong.diff:3: wrong/x: before the hunks stand "from right/plain"`},
		"no sign": {head + hunk + "\t}\n", "wrong.diff:5: wrong/x: a line of a hunk begins with"},
		"nowhere": {head + "\n-\t\tsum += m\n", `wrong.diff:4: wrong/x: right/plain has no line "\t\tsum += m"`},
		"not in a row": {head + "\n \tif sum < 0 {\n-\t}\n",
			`wrong.diff:4: wrong/x: right/plain has each line of this hunk, but not in a row`},
		"in two places": {head + "\n-\t\treturn 0\n",
			`wrong.diff:4: wrong/x: the lines of this hunk are in right/plain twice, at lines 6 and 12`},
		"in the comments": {head + "\n-// Adds up, in few words.\n", `wrong.diff:4: wrong/x: right/plain has no line`},
		"no place":        {head + "\n+\tprintln()\n", `wrong.diff:4: wrong/x: this hunk does not say where its lines go`},
		"over one another": {head + hunk + "\n \t\tsum += n\n-\t}\n",
			`wrong.diff:6: wrong/x: line 9 of right/plain is in two hunks`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := apply(c.text)
			require.ErrorContains(t, err, c.want)
		})
	}
}

func TestEveryFaultIsSaid(t *testing.T) {
	_, err := apply("-- wrong/x --\nfrom right/plain\n\n-nowhere\n\n-nor here\n-- wrong/y --\nfrom nothing\n")
	require.ErrorContains(t, err, "wrong.diff:4: ")
	require.ErrorContains(t, err, "wrong.diff:6: ")
	require.ErrorContains(t, err, "wrong.diff:7: ")
}

// FuzzEdits reads any text as a file of edits, and applies what it is to any text. What is made is the same each time,
// has every line that an edit adds, and is marked nowhere but where the edit says so.
func FuzzEdits(f *testing.F) {
	f.Add("-- wrong/x --\nfrom right/plain\n// Why.\n//cudalab:fails order\n\n-\t\tsum += n\n+\t\tsum -= n // want: "+
		"x\n\n \treturn sum\n", base)
	f.Add("-- cheat/x --\nfrom right/plain\n\n-func\n# no remark\n", "package p\nfunc\n\nfunc\n")
	f.Add("-- half/a --\n-- half/b --\n+\n", "package p")
	f.Fuzz(func(t *testing.T, text, base string) {
		make := func() ([]edit, []Program, error) {
			edits, err := parse("any.diff", text)
			if err != nil {
				return nil, nil, err
			}
			made, err := applyAll(edits, []Program{{Kind: Right, Name: "plain", Text: base}})
			return edits, made, err
		}
		edits, made, err := make()
		_, again, errAgain := make()
		require.Equal(t, made, again)
		require.Equal(t, err, errAgain)
		if err != nil {
			require.Contains(t, err.Error(), "any.diff:")
			return
		}
		require.Len(t, made, len(edits))
		for i, e := range edits {
			marks := 0
			for _, h := range e.hunks {
				for _, line := range h.now() {
					require.Contains(t, strings.Split(made[i].Text, "\n"), line)
					marks += strings.Count(line, mark)
				}
			}
			for _, line := range e.head {
				marks += strings.Count(line, mark)
			}
			require.Equal(t, marks, strings.Count(made[i].Text, mark))
		}
	})
}
