package lessons

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// sections are the headings of a chapter, the same in each.
var sections = []string{"What you will build", "The idea", "The CUDA names", "A worked example", "The traps", "What it costs",
	"Exercises", "What to read next"}

func TestChaptersHaveOneShape(t *testing.T) {
	heading := regexp.MustCompile(`(?m)^## (.*)$`)
	for _, e := range course(t) {
		chapter, err := e.Chapter()
		require.NoError(t, err)
		var found []string
		for _, match := range heading.FindAllStringSubmatch(chapter, -1) {
			found = append(found, match[1])
		}
		require.Equal(t, sections, found, "the headings of lessons/%s.md", e.Name)

		costs := section(chapter, "What it costs")
		if strings.HasPrefix(strings.TrimSpace(costs), "Not yet measured.") {
			continue
		}
		require.Regexp(t, `one NVIDIA H[12]00[^,]*, driver \d+\.\d+\.\d+`, costs, "%s: figures name their device, or are \"Not yet measured.\"", e.Name)
		require.Contains(t, costs, "\n|", e.Name)
	}
}

// The traps are folded away: whoever has not tried yet finds out by trying. All that a chapter quotes of the checks is
// among them.
func TestTrapsAreFoldedAway(t *testing.T) {
	fold := regexp.MustCompile(`(?ms)^<details>\n<summary>[^\n]+</summary>\n\n(.*?)\n\n</details>$`)
	for _, e := range course(t) {
		chapter, err := e.Chapter()
		require.NoError(t, err)
		folded := fold.FindAllStringSubmatch(section(chapter, "The traps"), -1)
		require.Len(t, folded, 1, "the traps of lessons/%s.md lie in one block <details>, with a <summary>", e.Name)
		require.Equal(t, 1, strings.Count(chapter, "<details>"), e.Name)
		require.Len(t, quotes(folded[0][1]), len(quotes(chapter)), "%s: what the checks say of a mistake stands with the traps", e.Name)
		require.True(t, strings.HasPrefix(folded[0][1], "**"), "%s: the first trap begins with its name", e.Name)
	}
}

// section is the text below a heading of a chapter.
func section(chapter, heading string) string {
	_, text, _ := strings.Cut(chapter, "\n## "+heading+"\n")
	text, _, _ = strings.Cut(text, "\n## ")
	return text
}

// words is a text with its lines joined.
func words(text string) string { return strings.Join(strings.Fields(text), " ") }

// A term is set in bold where it is explained, and it is explained once: in the lesson that the glossary names.
func TestGlossaryNamesTheLessonThatExplains(t *testing.T) {
	index, err := os.ReadFile("README.md")
	require.NoError(t, err)
	row := regexp.MustCompile(`(?m)^\| \*\*(.+)\*\* \| .+ \| \[(\d+)\]\((.+)\.md\) \|$`)
	rows := row.FindAllStringSubmatch(section(string(index), "Words"), -1)
	explains := map[string]bool{}
	for _, r := range rows {
		// "launches" and "spilled" explain "launch" and "spill".
		term := regexp.MustCompile(`(?i)\*\*` + r[1] + `\w*\*\*`)
		for i, e := range course(t) {
			chapter, err := e.Chapter()
			require.NoError(t, err)
			require.Equal(t, e.Name == r[3], term.MatchString(words(chapter)), "%q in %s", r[1], e.Name)
			if e.Name == r[3] {
				require.Equal(t, fmt.Sprint(i+1), r[2], r[1])
				explains[e.Name] = true
			}
		}
	}
	for _, e := range course(t) {
		require.True(t, explains[e.Name], "the glossary has no term of %s: set in bold in the chapter what it explains first, and add a row to "+
			"the section Words of lessons/README.md", e.Name)
	}
}

func TestLinksLeadSomewhere(t *testing.T) {
	relative := regexp.MustCompile(`\]\(([^):#]+)(?:#[^)]*)?\)`)
	file := regexp.MustCompile("`((?:exercises|solutions|kernels|lessons|native)/[^`*]+)`")
	var texts []string
	for _, pattern := range []string{"*.md", "authors/*.md", "../README.md"} {
		found, err := filepath.Glob(pattern)
		require.NoError(t, err)
		texts = append(texts, found...)
	}
	for _, text := range texts {
		markdown, err := os.ReadFile(text)
		require.NoError(t, err)
		for _, match := range relative.FindAllStringSubmatch(string(markdown), -1) {
			_, err := os.Stat(filepath.Join(filepath.Dir(text), match[1]))
			require.NoError(t, err, text)
		}
		for _, match := range file.FindAllStringSubmatch(string(markdown), -1) {
			_, err := os.Stat(filepath.Join("..", match[1]))
			require.NoError(t, err, text)
		}
	}
}

// plain matches what is shown as it stands: pictures, messages and what programs print.
var plain = regexp.MustCompile("(?ms)^```text\n(.*?)^```$")

// A picture whose lines are broken is none: a terminal may have no more than 80 characters in a line, and two of them go
// to the margin.
func TestPicturesFit(t *testing.T) {
	texts, err := filepath.Glob("*.md")
	require.NoError(t, err)
	for _, text := range texts {
		markdown, err := os.ReadFile(text)
		require.NoError(t, err)
		for _, match := range plain.FindAllStringSubmatch(string(markdown), -1) {
			for _, line := range strings.Split(match[1], "\n") {
				if !strings.HasPrefix(line, "func ") {
					require.LessOrEqual(t, utf8.RuneCountInString(line), 78, "%s: %s", text, line)
				}
			}
		}
	}
}

// What a chapter quotes of the checks, the checks say: a block that begins with a finding's rule is held to the words
// that the lesson's corpus draws from them, which its test records. The index may quote any lesson's.
func TestEveryQuotedFindingIsReal(t *testing.T) {
	var all []finding
	for _, e := range course(t) {
		chapter, err := e.Chapter()
		require.NoError(t, err)
		said := recorded(t, e.Package)
		all = append(all, said...)
		found := quotes(chapter)
		require.NotEmpty(t, found, "%s quotes no finding: quote one of the lesson's words.txt in a block ```text, from its first line on", e.Name)
		for _, q := range found {
			require.True(t, q.isIn(said), "%s: no check says\n%s", e.Name, q)
		}
	}
	index, err := os.ReadFile("README.md")
	require.NoError(t, err)
	for _, q := range quotes(string(index)) {
		require.True(t, q.isIn(all), "README.md: no check says\n%s", q)
	}
}

// finding is a finding's head, "error leak", with its message, its Why and its Fix, or some of these, each as one line.
type finding struct {
	head  string
	parts []string
}

func (f finding) String() string { return f.head + "\n" + strings.Join(f.parts, "\n") }

// isIn reports whether one of the findings said has all that f has.
func (f finding) isIn(said []finding) bool {
	return slices.ContainsFunc(said, func(s finding) bool {
		missing := func(part string) bool { return !slices.Contains(s.parts, part) }
		return s.head == f.head && !slices.ContainsFunc(f.parts, missing)
	})
}

// head matches a finding's head, with or without what it comes of.
var head = regexp.MustCompile(`^((?:error|remark) [a-z-]+)(?:, of the [a-z-]+)?$`)

// quotes are the findings that a text in Markdown quotes, and in which lines may have been wrapped.
func quotes(markdown string) (found []finding) {
	for _, match := range plain.FindAllStringSubmatch(markdown, -1) {
		lines := strings.Split(strings.TrimSpace(match[1]), "\n")
		if !head.MatchString(lines[0]) {
			continue
		}
		f := finding{head: lines[0]}
		for i, line := range lines[1:] {
			line = strings.TrimSpace(line)
			if i == 0 || strings.HasPrefix(line, "Why: ") || strings.HasPrefix(line, "Fix: ") {
				f.parts = append(f.parts, line)
			} else {
				f.parts[len(f.parts)-1] += " " + line
			}
		}
		found = append(found, f)
	}
	return found
}

// recorded are the findings that the corpus of a lesson leads to.
func recorded(t *testing.T, lessonPackage string) (said []finding) {
	text, err := os.ReadFile(filepath.Join("..", "grader", "suites", lessonPackage, "testdata", "words.txt"))
	require.NoError(t, err)
	in := false
	for _, line := range strings.Split(string(text), "\n") {
		switch {
		case head.MatchString(line):
			said, in = append(said, finding{head: head.FindStringSubmatch(line)[1]}), true
		case !strings.HasPrefix(line, "  "):
			in = false
		case in && !strings.HasPrefix(line, "    |") && !strings.HasPrefix(line, "  - "):
			f := &said[len(said)-1]
			f.parts = append(f.parts, strings.TrimSpace(line))
		}
	}
	return said
}
