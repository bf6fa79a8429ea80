package check_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/grader/suite"
)

var recordWords = flag.Bool("record-words", false,
	"write what the checks say of the corpora to testdata/words instead of comparing it")

// transcript is what the checks of one lesson say to a student, to be read: everything once, under the first program
// that is told it. Texts that differ in their numbers alone, or in the line they are about, count as one.
type transcript struct {
	told     map[string]bool
	text     strings.Builder
	programs int
}

// add takes down what a report says that no other has said before. Dir is the folder with the program.
func (s *transcript) add(program, dir string, r suite.Report) {
	s.programs++
	var news strings.Builder
	tell := func(text string) {
		if key := number.ReplaceAllString(quote.ReplaceAllString(text, ""), "0"); !s.told[key] {
			s.told[key] = true
			news.WriteString(text)
		}
	}
	for _, c := range r.Checks {
		if c.Message != "" {
			tell(fmt.Sprintf("%s: %s\n  %s\n", c.Status, c.Name, c.Message))
		}
		for _, f := range c.Findings {
			tell(spelled(dir, f))
		}
	}
	if r.Message != "" {
		tell("message: " + r.Message + "\n")
	}
	if r.Next != "" {
		tell("next: " + strings.ReplaceAll(r.Next, dir+string(filepath.Separator), "") + "\n")
	}
	if news.Len() > 0 {
		fmt.Fprintf(&s.text, "== %s\n%s\n", program, news.String())
	}
}

var (
	number = regexp.MustCompile(`[0-9][0-9.,]*`)
	quote  = regexp.MustCompile(`(?m)^ *\| .*\n`)
)

// spelled is a finding as a student reads it, with the lines it is about in place of their positions.
func spelled(dir string, f suite.Finding) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s\n%s  %s\n", f.Severity, f.Rule, quoted(dir, f.File, f.Line), f.Message)
	if f.Why != "" {
		fmt.Fprintf(&b, "  Why: %s\n", f.Why)
	}
	fmt.Fprintf(&b, "  Fix: %s\n", f.Fix)
	for _, x := range f.Related {
		fmt.Fprintf(&b, "  - %s\n%s", x.Message, quoted(dir, x.File, x.Line))
	}
	return b.String()
}

// quoted is a line of the program without what the corpus says in its comment; "" where there is none.
func quoted(dir, file string, line int) string {
	text, err := os.ReadFile(filepath.Join(dir, filepath.Base(file)))
	if err != nil || line == 0 {
		return ""
	}
	code, _, _ := strings.Cut(strings.Split(string(text), "\n")[line-1], " // want: ")
	return "    | " + strings.TrimSpace(code) + "\n"
}

// compare holds the transcript to the golden file of its lesson, or writes it.
func (s *transcript) compare(t *testing.T, lesson string) {
	file := filepath.Join("testdata", "words", lesson+".txt")
	if *recordWords {
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, []byte(s.text.String()), 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(want), s.text.String(), "what the checks say has changed: read it, and record it with -record-words")
}
