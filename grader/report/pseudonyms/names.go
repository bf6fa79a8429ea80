package pseudonyms

import (
	"io"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"cudalab/grader/class"
	"cudalab/grader/report/feedback"
	"cudalab/grader/suite/verdict"
	"cudalab/native/trace"
)

// hidden stands where a name stood.
const hidden = "[name]"

// names are what is not to be told of a class: runs of words, by their first one, in small letters.
type names struct{ runs map[string][][]string }

// shortest is how many letters a single word has at least that is hidden by itself.
const shortest = 3

// newNames are the names of everybody in a class.
func newNames(students []class.Student) *names {
	n := &names{map[string][][]string{}}
	for i := range students {
		n.add(students[i].ID)
		for _, p := range students[i].People {
			words := wordsOf(p.Name)
			n.add(p.Name)
			if len(words) > 1 { // the last name first
				n.addRun(append(slices.Clone(words[len(words)-1:]), words[:len(words)-1]...))
			}
			for _, text := range []string{p.SID, p.Email, p.Login, p.Platform} {
				n.add(text)
			}
		}
	}
	return n
}

// own are these, and each of a student's own names by itself.
func (n *names) own(s *class.Student) *names {
	all := &names{map[string][][]string{}}
	for first, runs := range n.runs {
		all.runs[first] = runs
	}
	texts := []string{s.ID}
	for _, p := range s.People {
		local, _, _ := strings.Cut(p.Email, "@")
		texts = append(texts, p.Name, p.Login, local)
	}
	for _, text := range texts {
		for _, word := range wordsOf(text) {
			if len([]rune(word)) >= shortest && strings.ContainsFunc(word, unicode.IsLetter) {
				all.runs[word] = append(slices.Clone(all.runs[word]), []string{word})
			}
		}
	}
	return all
}

func (n *names) add(text string) { n.addRun(wordsOf(text)) }

func (n *names) addRun(words []string) {
	if len(words) == 0 || len(words) == 1 && len([]rune(words[0])) < shortest {
		return
	}
	n.runs[words[0]] = append(n.runs[words[0]], words)
}

func inWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) }

func wordsOf(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !inWord(r) })
}

// span is a word of a text.
type span struct {
	from, to int
	word     string
}

func spansOf(text string) (all []span) {
	from := -1
	for i, r := range text + " " {
		switch {
		case inWord(r) && from < 0:
			from = i
		case !inWord(r) && from >= 0:
			all = append(all, span{from, i, strings.ToLower(text[from:i])})
			from = -1
		}
	}
	return all
}

// in hides the names in a text. Lines stay lines.
func (n *names) in(text string) string {
	words := spansOf(text)
	var b strings.Builder
	done := 0
	for i := 0; i < len(words); i++ {
		most := 0
		for _, run := range n.runs[words[i].word] {
			if len(run) > most && n.here(text, words[i:], run) {
				most = len(run)
			}
		}
		if most == 0 {
			continue
		}
		b.WriteString(text[done:words[i].from])
		b.WriteString(hidden)
		i += most - 1
		done = words[i].to
	}
	b.WriteString(text[done:])
	return b.String()
}

// here reports whether a run of words stands at the start of others, with no more between them than stands between a
// name's parts.
func (*names) here(text string, words []span, run []string) bool {
	const apart = 3
	if len(words) < len(run) {
		return false
	}
	for i, word := range run {
		if words[i].word != word {
			return false
		}
		if i > 0 {
			between := text[words[i-1].to:words[i].from]
			if len(between) > apart || strings.Contains(between, "\n") {
				return false
			}
		}
	}
	return true
}

var (
	address = regexp.MustCompile(`[\pL\d._%+-]+@[\pL\d.-]+\.\pL{2,}`)
	// author is a comment that tells who wrote something.
	author = regexp.MustCompile(
		`(?i)(//|/\*|^\s*\*)[^\n]*(\b(authors?|autor|autore|auteur|students?|matric|matrikel\w*|(written|submitted|created|made) by|copyright)\b|\b(names?|e-?mail|id)\s*:)[^\n]*`)
)

// source hides the names in a file, and the comments that look as if they told who wrote it.
func (n *names) source(text []byte) []byte {
	lines := strings.Split(string(text), "\n")
	for i, line := range lines {
		lines[i] = author.ReplaceAllString(line, "${1} [a comment about who wrote this]")
	}
	return []byte(n.text(strings.Join(lines, "\n")))
}

func (n *names) text(text string) string { return n.in(address.ReplaceAllString(text, "[e-mail]")) }

// student is a student under a pseudonym. What was left aside of a submission is for those who collect them.
func (n *names) student(s *class.Student, pseudonym string) class.Student {
	own := n.own(s)
	shown := *s
	shown.ID, shown.People, shown.HandedIn, shown.Notes, shown.Page = pseudonym, nil, class.Student{}.HandedIn, nil, ""
	shown.Problem = own.text(s.Problem)
	shown.Exercises = nil
	for _, r := range s.Exercises {
		shown.Exercises = append(shown.Exercises, own.report(r))
	}
	return shown
}

func (n *names) report(r verdict.Report) verdict.Report {
	hide := func(texts ...*string) {
		for _, t := range texts {
			*t = n.text(*t)
		}
	}
	hide(&r.Message, &r.Next, &r.Output)
	if r.Gap != nil {
		gap := *r.Gap
		hide(&gap.File, &gap.Text)
		r.Gap = &gap
	}
	r.Checks = slices.Clone(r.Checks)
	for i := range r.Checks {
		c := &r.Checks[i]
		hide(&c.Message)
		c.Findings = slices.Clone(c.Findings)
		for j := range c.Findings {
			f := &c.Findings[j]
			hide(&f.Message, &f.Why, &f.Fix, &f.Picture, &f.File)
			if f.Follows != nil {
				cause := *f.Follows
				hide(&cause.File)
				f.Follows = &cause
			}
			f.Related = slices.Clone(f.Related)
			for k := range f.Related {
				hide(&f.Related[k].Message, &f.Related[k].File)
			}
		}
	}
	return r
}

// feedback writes a student's page under the pseudonym.
func (k *key) feedback(w io.Writer, f *class.Feedback) error {
	name, err := k.of(f.Student.ID)
	if err != nil {
		return err
	}
	everyone := k.everyone(f.Class)
	own := everyone.own(&f.Student)
	shown := *f
	shown.Student = everyone.student(&f.Student, name)
	real := map[string]string{} // files by the names that they are shown under
	file := func(name string) string {
		hidden := own.text(name)
		real[hidden] = name
		return hidden
	}
	for _, r := range f.Student.Exercises {
		for _, c := range r.Checks {
			for _, found := range c.Findings {
				file(found.File)
				for _, o := range found.Related {
					file(o.File)
				}
			}
		}
	}
	shown.Drawn = nil
	for exercise, r := range f.Drawn {
		if shown.Drawn == nil {
			shown.Drawn = map[string]class.Drawn{}
		}
		r.Report = own.report(r.Report)
		if place := r.Place; place != nil {
			r.Place = func(site trace.Site) []verdict.Place {
				places := slices.Clone(place(site))
				for i := range places {
					places[i].File = file(places[i].File)
				}
				return places
			}
		}
		shown.Drawn[exercise] = r
	}
	shown.Timings.ID = name
	shown.Read = func(name string) ([]byte, error) {
		if was, known := real[name]; known {
			name = was
		}
		text, err := f.Read(name)
		return own.source(text), err
	}
	return feedback.Write(w, &shown)
}

// everyone are the names of a class, found once.
func (k *key) everyone(c *class.Class) *names {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.class != c {
		k.class, k.hide = c, newNames(c.Students)
	}
	return k.hide
}
