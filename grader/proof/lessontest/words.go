package lessontest

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/grader/proof/corpus"
	"cudalab/grader/proof/sample"
	"cudalab/grader/suite/verdict"
)

// transcript is what the checks of one lesson say to a student, to be read: everything once, under the first program
// that is told it. Texts that differ in their numbers alone, or in the line they are about, count as one.
type transcript struct {
	golden map[string]string // what is recorded, by program
	seen   map[string]bool
	text   strings.Builder
	// What is said of the host's own time where it is right: on a busy machine not of every program, so it is told apart
	// from them.
	host []string
}

// wordsFile is where a lesson's transcript is kept.
var wordsFile = filepath.Join("testdata", "words.txt")

func newTranscript(t *testing.T) transcript {
	s := transcript{golden: map[string]string{}, seen: map[string]bool{}}
	text, err := os.ReadFile(wordsFile)
	if !errors.Is(err, fs.ErrNotExist) {
		require.NoError(t, err)
	}
	for section := range strings.SplitSeq("\n"+string(text), "\n== ") {
		name, said, _ := strings.Cut(section, "\n")
		s.golden[name] = strings.TrimRight(said, "\n") + "\n"
	}
	return s
}

// recorded takes down what is recorded of a program that is not run.
func (s *transcript) recorded(p corpus.Program) {
	said, found := s.golden[p.String()]
	if !found {
		return
	}
	fmt.Fprintf(&s.text, "== %s\n%s\n", p, said)
	for _, text := range texts.FindAllString(said+"\n", -1) {
		s.unheard(text)
	}
}

// texts are the texts of a program's section: each begins with a word at the left, and goes on in lines that do not.
var texts = regexp.MustCompile(`(?m)^\S.*\n(?:[ ].*\n)*`)

// unheard reports whether no program has been told a text before.
func (s *transcript) unheard(text string) bool {
	key := number.ReplaceAllString(quote.ReplaceAllString(text, ""), "0")
	heard := s.seen[key]
	s.seen[key] = true
	return !heard
}

// add takes down what a report says that no other has said before. Dir is the folder with the program. Checks that the
// program may pass or fail, as luck has it, are left aside.
func (s *transcript) add(p corpus.Program, dir string, r verdict.Report) {
	may := p.Expect().May
	var news strings.Builder
	tell := func(text string) {
		if s.unheard(text) {
			news.WriteString(text)
		}
	}
	for _, c := range r.Checks {
		if slices.Contains(may, c.ID) {
			continue
		}
		switch said := withoutTimes(c, fmt.Sprintf("%s: %s\n  %s\n", c.Status, c.Name, c.Message)); {
		case c.Message == "":
		case !onHost(c) || c.Status != verdict.Passed:
			tell(said)
		case len(c.Findings) == 0 && s.unheard(said): // else the sentence goes with a remark
			s.host = append(s.host, said)
		}
		for _, f := range c.Findings {
			if !onHost(c) || f.Severity == verdict.Error { // a remark may come of a machine that is busy
				text := withoutTimes(c, findingText(dir, f))
				switch f.Rule {
				case "wrong-when-timed":
					text = counted.ReplaceAllString(text, "…")
				case "grows":
					text = many.ReplaceAllString(text, "With … ")
				}
				tell(text)
			}
		}
	}
	if r.Message != "" {
		tell("message: " + r.Message + "\n")
	}
	if r.Next != "" {
		tell("next: " + strings.ReplaceAll(r.Next, dir+string(filepath.Separator), "") + "\n")
	}
	if news.Len() > 0 {
		fmt.Fprintf(&s.text, "== %s\n%s\n", p, news.String())
	}
}

var (
	number   = regexp.MustCompile(`[0-9][0-9.,]*`)
	quote    = regexp.MustCompile(`(?m)^ *\| .*\n`)
	counted  = regexp.MustCompile(`[0-9]{4,}`)     // in as much time as there was
	many     = regexp.MustCompile(`With [0-9,]+ `) // as few as it took to see it
	measured = regexp.MustCompile(`[0-9]+( ns| times as long|, which is)`)
)

const ofTheHost = "of the host's own time"

// String is all that was taken down.
func (s *transcript) String() string {
	if sample.Part() != "" { // not each part of the programs is told all
		for _, text := range texts.FindAllString(s.golden[ofTheHost], -1) {
			if s.unheard(text) {
				s.host = append(s.host, text)
			}
		}
	}
	if len(s.host) == 0 {
		return s.text.String()
	}
	slices.Sort(s.host)
	return s.text.String() + "== " + ofTheHost + "\n" + strings.Join(s.host, "")
}

// onHost reports whether a check has measured the host's own time, which the simulator's clock does not replace.
func onHost(c verdict.Check) bool {
	return slices.ContainsFunc(c.Measurements, func(m verdict.Measurement) bool { return m.Unit == "ns" })
}

// withoutTimes is a text of a check without the times that differ from run to run.
func withoutTimes(c verdict.Check, text string) string {
	if !onHost(c) {
		return text
	}
	return measured.ReplaceAllString(text, "…$1")
}

// findingText is a finding as a student reads it, with the lines it is about in place of their positions.
func findingText(dir string, f verdict.Finding) string {
	var b strings.Builder
	origin := ""
	if c := f.Follows; c != nil && !c.Same {
		origin = ", of the " + c.Rule
	}
	fmt.Fprintf(&b, "%s %s%s\n%s  %s\n", f.Severity, f.Rule, origin, sourceLine(dir, f.File, f.Line), f.Message)
	if f.Why != "" {
		fmt.Fprintf(&b, "  Why: %s\n", f.Why)
	}
	fmt.Fprintf(&b, "  Fix: %s\n", f.Fix)
	for _, x := range f.Related {
		fmt.Fprintf(&b, "  - %s\n%s", x.Message, sourceLine(dir, x.File, x.Line))
	}
	return b.String()
}

// sourceLine is a line of the program without what the corpus says in its comment; "" where there is none.
func sourceLine(dir, file string, line int) string {
	text, err := os.ReadFile(filepath.Join(dir, filepath.Base(file)))
	if err != nil || line == 0 {
		return ""
	}
	code, _, _ := strings.Cut(strings.Split(string(text), "\n")[line-1], " // want: ")
	return "    | " + strings.TrimSpace(code) + "\n"
}

// compareGolden holds a text to the golden file of its lesson, or writes it.
func compareGolden(t *testing.T, file, text string) {
	if *record {
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
	}
	want, err := os.ReadFile(file)
	requireRecorded(t, file, err)
	was, is := strings.Split(string(want), "\n"), strings.Split(text, "\n")
	for i := range max(len(was), len(is)) {
		if i >= len(was) || i >= len(is) || was[i] != is[i] {
			require.Equalf(t, was[min(i, len(was)):min(i+3, len(was))], is[min(i, len(is)):min(i+3, len(is))],
				"%s differs from line %d on: read it, and record it with -record", filepath.Base(file), i+1)
		}
	}
}
