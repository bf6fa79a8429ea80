package markdown_test

import (
	"bytes"
	"context"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"cudalab/grader/desk/markdown"
	"cudalab/lessons"
)

func render(t *testing.T, text string, width int, color bool) string {
	t.Helper()
	return markdown.Render(text, width, color)
}

func TestTextFollowsTheWidth(t *testing.T) {
	text := "One two three **four\nfive** six seven.\n\n- An item\n  of two lines\n- Another\n\n> A quote\n> of two\n"
	require.Equal(t, "One two three four five six seven.\n\n• An item of two lines\n• Another\n\n│ A quote of two\n",
		render(t, text, 80, false))
	require.Equal(t, "One two three\nfour five six\nseven.\n\n• An item of two\n  lines\n• Another\n\n│ A quote of two\n",
		render(t, text, 16, false))
}

func TestCodeAndDrawingsStayAsTheyAre(t *testing.T) {
	shown := render(t, "# Head\n\n```text\na   PPP ● I\n         ╲\nb         ○ R\n```\n\n```go\nif x "+
		"{\n\treturn\n}\n```\n", 80, false)
	require.Equal(t, "Head\n\n  a   PPP ● I\n           ╲\n  b         ○ R\n\n  if x {\n      return\n  }\n", shown)
}

func TestOfAFigureTheLettersAreShown(t *testing.T) {
	shown := render(t, "Before\n\n![A fill in\nstream a.](figures/x.svg)\n\n<details class=\"figure\">\n"+
		"<summary>The same in letters</summary>\n\n```figure\na  [fill]●1\n```\n\n</details>\n\n"+
		"Behind\n", 80, false)
	require.Equal(t, "Before\n\n  a  [fill]●1\n\nBehind\n", shown)
}

func TestItemsHangBehindTheirMarks(t *testing.T) {
	text := "- One\n  of two words\n  - within it\n- [x] done\n\n9. nine nine nine\n\n   more of it\n10. ten\n\n    " +
		"```text\n    code\n    ```\n"
	require.Equal(t, `• One of
  two
  words
  • within
    it
• ☑ done

9. nine
   nine
   nine

   more of
   it

10. ten

      code
`, render(t, text, 10, false))
}

func TestTablesAreAsWideAsTheirTextOrTheLine(t *testing.T) {
	text := "| What | µs | |\n|---|---:|:-:|\n| one `code` or two | 1,234 | x |\n| an-unbreakable-word | 5 |\n"
	require.Equal(t, `What                │    µs │
────────────────────┼───────┼──
one code or two     │ 1,234 │ x
an-unbreakable-word │     5 │
`, render(t, text, 80, false))
	require.Equal(t, `What      │    µs │
──────────┼───────┼──
one code  │ 1,234 │ x
or two    │       │
an-unbrea │     5 │
kable-wor │       │
d         │       │
`, render(t, text, 21, false))
}

func TestCodeIsColouredAsItsLanguageReads(t *testing.T) {
	require.Equal(t, "  \x1b[34mvar\x1b[m s \x1b[36mstring\x1b[m = \x1b[32m`a\x1b[m\n  \x1b[32mb`\x1b[m \x1b[90m// "+
		"1\x1b[m\n",
		render(t, "```go\nvar s string = `a\nb` // 1\n```\n", 80, true))
	require.Equal(t, "  \x1b[34m__global__\x1b[m \x1b[34mvoid\x1b[m k(string \x1b[34mfor\x1b[m) \x1b[90m/* 1 */\x1b[m\n",
		render(t, "```cpp\n__global__ void k(string for) /* 1 */\n```\n", 80, true))
	require.Equal(t, "  var 1\n", render(t, "```text\nvar 1\n```\n", 80, true))
}

func TestWhatMarkdownNeedsToBeWrittenIsNotShown(t *testing.T) {
	require.Equal(t, "1 < 2 & 3 * 4\nnext, gone – not <this>\n\nseen\n",
		render(t, "1 &lt; 2 &amp; 3 \\* 4\\\nnext, <b>gone</b> &ndash; not `<this>`\n\n<div>\nseen\n<!-- not seen "+
			"-->\n</div>\n", 80, false))
}

var colours = regexp.MustCompile(`\x1b\[[0-9;]*m`)

func FuzzRender(f *testing.F) {
	f.Add("&#27;[31m \x1b[2J\u009b", 9)
	f.Add("| a |\n|---|\n| b | c |\n", 1)
	f.Add("1. > - [x] `a\r\n\tb` ~~**c**~~\n\n    d\n```go\n`\x00\r", 5)
	f.Fuzz(func(t *testing.T, text string, width int) {
		require.NotContains(t, markdown.Render(text, width, false), "\x1b")
		colored := markdown.Render(text, width, true)
		require.NotContains(t, colours.ReplaceAllString(colored, ""), "\x1b", "there are colours alone")
	})
}

func TestLinksLeadToAddressesOnly(t *testing.T) {
	require.Equal(t, "Read the next lesson or the manual https://docs.nvidia.com/cuda.\n",
		render(t, "Read [the next\nlesson](slab.md) or [the manual](https://docs.nvidia.com/cuda).\n", 80, false))
}

func TestColourIsAskedFor(t *testing.T) {
	text := "# Head\n\nUse `cuda.Free`.\n\n```go\nreturn nil\n```\n"
	require.NotContains(t, render(t, text, 80, false), "\x1b")
	require.Contains(t, render(t, text, 80, true), "\x1b[33mcuda.Free\x1b[m")
}

func TestWhatIsFoldedAwayIsShownOnRequest(t *testing.T) {
	text := "One.\n\n<details>\n<summary>More of it</summary>\n\n**Two.** " +
		"Three.\n\n```text\nfour\n```\n\n</details>\n\nFive.\n"
	require.Equal(t, "One.\n\n▸ **More of it**\n\nOpen it.\n\nFive.\n", markdown.Unfold(text, false, "Open it."))
	require.Equal(t, "One.\n\n**Two.** Three.\n\n```text\nfour\n```\n\nFive.\n", markdown.Unfold(text, true, "Open it."))
	plain := "Nothing is folded away here.\n"
	require.Equal(t, plain, markdown.Unfold(plain, false, "Open it."))
}

func TestEveryChapterFitsOnATerminal(t *testing.T) {
	exercises, err := lessons.Course()
	require.NoError(t, err)
	for _, e := range exercises {
		chapter, err := e.Chapter()
		require.NoError(t, err)
		short, whole := markdown.Unfold(chapter, false, "Open it."), markdown.Unfold(chapter, true, "Open it.")
		require.Less(t, len(short), len(whole), e.Name)
		for _, width := range []int{40, 80, 200} {
			for line := range strings.Lines(render(t, short, width, false) + render(t, whole, width, false)) {
				require.NotContains(t, line, "details>")
				code := strings.HasPrefix(line, "  ")
				if !code && len(strings.Fields(strings.TrimPrefix(line, "• "))) > 1 { // a word that is longer has a line to itself
					require.LessOrEqual(t, utf8.RuneCountInString(line)-1, width, "%s: %s", e.Name, line)
				}
			}
		}
	}
}

func TestThePagerIsTheReaders(t *testing.T) {
	cat, err := exec.LookPath("cat")
	if err != nil {
		t.Skip("there is no cat to be the pager")
	}
	t.Setenv("TERM", "xterm")
	for _, c := range []struct{ pager, want string }{
		{cat + " -n", "     1\ttext\n"},
		{"no-such-pager", "text\n"},
	} {
		t.Setenv("PAGER", c.pager)
		var out bytes.Buffer
		require.NoError(t, markdown.Show(context.Background(), &out, "text\n"))
		require.Equal(t, c.want, out.String())
	}
	t.Setenv("PAGER", cat+" -n")
	t.Setenv("TERM", "dumb")
	var out bytes.Buffer
	require.NoError(t, markdown.Show(context.Background(), &out, "text\n"))
	require.Equal(t, "text\n", out.String())
}
