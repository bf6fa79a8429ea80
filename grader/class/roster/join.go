package roster

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"cudalab/grader/class/intake"
)

// joined is who of a roster has handed in what.
type joined struct {
	People map[string][]intake.Person // by the ID of the submission
	Absent []intake.Person            // in the order of the roster
	Asked  []asked                    // what a person has to decide, by submission
}

// asked is what cannot be told of a submission, in a sentence.
type asked struct{ ID, Text string }

// somebody is one who has handed in, to be found on the roster.
type somebody struct {
	intake.Person
	submission *intake.Submission
	names      []string // by which they may be called: names, numbers or logins
	words      [][]string
	found      *listed
	by         []*listed // those who may be meant, where it cannot be told who
}

// listed is one who is on the roster.
type listed struct {
	Entry
	words   []string
	mailbox string // of the address
	handed  []*somebody
}

// Join finds who of a roster has handed in what: by student number, address, login or the platform's number, which are one
// person's, and then by names where only one person and one submission have it. Nobody is guessed.
func Join(entries []Entry, submissions []intake.Submission) joined {
	var roster []*listed
	for _, e := range entries {
		mailbox, _, _ := strings.Cut(e.Email, "@")
		roster = append(roster, &listed{Entry: e, words: words(e.Name), mailbox: mailbox})
	}
	all := everybody(submissions)
	for _, who := range all {
		if who.by = among(roster, who.sameNumber); len(who.by) == 1 {
			who.take(who.by[0])
		}
	}
	claims := map[*listed][]*somebody{}
	for _, who := range all {
		if len(who.by) > 0 {
			continue
		}
		who.by = among(roster, func(l *listed) bool { return len(l.handed) == 0 && who.sameName(l) })
		for _, l := range who.by {
			claims[l] = append(claims[l], who)
		}
	}
	for _, l := range roster {
		if claim := claims[l]; len(claim) == 1 && len(claim[0].by) == 1 {
			claim[0].take(l)
		}
	}
	return report(roster, all)
}

func (who *somebody) take(l *listed) {
	who.found = l
	l.handed = append(l.handed, who)
}

func among(roster []*listed, fits func(*listed) bool) []*listed {
	var found []*listed
	for _, l := range roster {
		if fits(l) {
			found = append(found, l)
		}
	}
	return found
}

func everybody(submissions []intake.Submission) []*somebody {
	var all []*somebody
	for i := range submissions {
		s := &submissions[i]
		people := s.People
		if len(people) == 0 {
			people = []intake.Person{{}}
		}
		for _, p := range people {
			who := &somebody{submission: s, Person: p}
			if p == (intake.Person{Section: p.Section}) {
				who.names = []string{intake.Stem(path.Base(s.From)), s.ID}
			} else {
				who.names = []string{p.Name, p.Login}
			}
			for _, name := range who.names {
				who.words = append(who.words, words(name))
			}
			all = append(all, who)
		}
	}
	return all
}

// sameNumber reports whether somebody has a number, address or login of one on the roster, or is called by it.
func (who *somebody) sameNumber(l *listed) bool {
	same := func(a, b string) bool { return a != "" && strings.EqualFold(a, b) }
	if same(who.SID, l.SID) || same(who.Email, l.Email) || same(who.Login, l.Login) || same(who.Platform, l.Platform) {
		return true
	}
	for i, name := range who.names {
		switch {
		case same(name, l.SID), same(name, l.Login), same(name, l.Email), same(name, l.Platform), same(name, l.mailbox),
			// "slab-ada" is the repository of the login ada, and in "Ada Lovelace_1234567" there is a student number.
			len(l.Login) > 1 && strings.HasSuffix(strings.ToLower(name), "-"+strings.ToLower(l.Login)),
			len(l.SID) > 3 && slices.Contains(who.words[i], strings.ToLower(l.SID)):
			return true
		}
	}
	return false
}

// sameName reports whether somebody has the name of one on the roster, in whatever order its parts are, and run together as Canvas
// does.
func (who *somebody) sameName(l *listed) bool {
	return len(l.words) > 0 && slices.ContainsFunc(who.words, func(words []string) bool {
		return sameWords(words, l.words) || runTogether(strings.Join(words, ""), l.words)
	})
}

// words are a name's parts, in small letters.
func words(name string) []string {
	name = strings.ToLower(norm.NFKC.String(name))
	name = strings.NewReplacer("'", "", "\u2019", "").Replace(name)
	return strings.FieldsFunc(name, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) })
}

func sameWords(a, b []string) bool {
	a, b = slices.Clone(a), slices.Clone(b)
	slices.Sort(a)
	slices.Sort(b)
	return slices.Equal(a, b)
}

// runTogether reports whether a text is the parts of a name without anything between them, from whichever part on.
func runTogether(text string, parts []string) bool {
	for i := range parts {
		if text == strings.Join(parts[i:], "")+strings.Join(parts[:i], "") {
			return true
		}
	}
	return false
}

func report(roster []*listed, all []*somebody) joined {
	j := joined{People: map[string][]intake.Person{}}
	ask := func(id, format string, a ...any) { j.Asked = append(j.Asked, asked{id, fmt.Sprintf(format, a...)}) }
	for _, who := range all {
		id, p := who.submission.ID, who.Person
		switch {
		case who.found != nil:
			p = merged(p, who.found.Person)
			if others := who.found.handed; len(others) > 1 {
				ask(id, "%s has handed in %d submissions, and each is graded: %s.", nameOf(p), len(others), ids(others))
			}
		case len(who.by) > 0:
			ask(id, "It cannot be told whose this is: on the roster it may be %s.", named(who.by))
		default:
			ask(id, "%s is not on the roster.", cmp.Or(nameOf(p), who.submission.From))
		}
		if p != (intake.Person{}) {
			j.People[id] = append(j.People[id], p)
		}
	}
	for _, l := range roster {
		if len(l.handed) == 0 {
			j.Absent = append(j.Absent, l.Person)
		}
	}
	return j
}

// merged is what export and roster tell of one person; where both do, the roster counts.
func merged(export, roster intake.Person) intake.Person {
	return intake.Person{Name: cmp.Or(roster.Name, export.Name), SID: cmp.Or(roster.SID, export.SID), Email: cmp.Or(roster.Email, export.Email),
		Login: cmp.Or(roster.Login, export.Login), Platform: cmp.Or(export.Platform, roster.Platform), Section: cmp.Or(roster.Section, export.Section)}
}

// nameOf is what a person is called in a sentence.
func nameOf(p intake.Person) string { return cmp.Or(p.Name, p.Login, p.Email, p.SID, p.Platform) }

func ids(all []*somebody) string {
	var names []string
	for _, who := range all {
		names = append(names, who.submission.ID)
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

func named(entries []*listed) string {
	var names []string
	for _, e := range entries {
		names = append(names, fmt.Sprintf("%s (line %d)", nameOf(e.Person), e.Line))
	}
	const most = 5
	if more := len(names) - most; more > 0 {
		names = append(names[:most], fmt.Sprintf("%d more", more))
	}
	return strings.Join(names, " or ")
}
