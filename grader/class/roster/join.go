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
	folded     intake.Person // as it is compared
	names      []string      // by which they may be called, folded: names, numbers or logins
	words      [][]string
	spelt      []spelling
	found      *listed
	by         []*listed // those who may be meant, where it cannot be told who
}

// listed is one who is on the roster.
type listed struct {
	Entry
	folded  intake.Person // as it is compared
	words   []string
	name    spelling
	german  string   // the name's key where ä, ö and ü are two letters each
	rotated []string // the name without anything between its parts, from whichever part on
	login   []string // its words
	dashed  string   // the login as it ends the name of a repository
	mailbox string   // of the address
	handed  []*somebody
}

// Join finds who of a roster has handed in what: by student number, address, login or the platform's number, which are
// one person's, by names where only one person and one submission have it, and then by a login within a folder's name.
// Nobody is guessed.
func Join(entries []Entry, submissions []intake.Submission) joined {
	var roster []*listed
	for _, e := range entries {
		l := &listed{Entry: e, folded: folded(e.Person), words: intake.Words(e.Name)}
		l.name, l.german, l.rotated = spell(l.words), key(ascii(l.words, german)), rotations(l.words)
		l.login, l.dashed = intake.Words(e.Login), "-"+l.folded.Login
		l.mailbox, _, _ = strings.Cut(l.folded.Email, "@")
		roster = append(roster, l)
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
	ofNames := map[string]bool{}
	for _, l := range roster {
		for _, word := range l.words {
			ofNames[word] = true
		}
	}
	for _, who := range all {
		if who.found != nil {
			continue
		}
		if by := among(roster, func(l *listed) bool { return who.hasLogin(l, ofNames) }); len(by) == 1 {
			who.take(by[0])
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
			who := &somebody{submission: s, Person: p, folded: folded(p)}
			if p == (intake.Person{Section: p.Section}) {
				who.names = []string{intake.Stem(path.Base(s.From)), s.ID}
			} else {
				who.names = []string{p.Name, p.Login}
			}
			for i, name := range who.names {
				who.words, who.names[i] = append(who.words, intake.Words(name)), intake.Fold(name)
				who.spelt = append(who.spelt, spell(who.words[i]))
			}
			all = append(all, who)
		}
	}
	return all
}

// sameNumber reports whether somebody has a number, address or login of one on the roster, or is called by it.
func (who *somebody) sameNumber(l *listed) bool {
	same := func(a, b string) bool { return a != "" && a == b }
	p, q := who.folded, l.folded
	if same(p.SID, q.SID) || same(p.Email, q.Email) || same(p.Login, q.Login) || same(p.Platform, q.Platform) {
		return true
	}
	for i, name := range who.names {
		switch {
		case same(name, q.SID), same(name, q.Login), same(name, q.Email), same(name, q.Platform), same(name, l.mailbox),
			// "slab-ada" is the repository of the login ada, and in "Ada Lovelace_1234567" there is a student number.
			len(q.Login) > 1 && strings.HasSuffix(name, l.dashed),
			len(q.SID) > 3 && slices.Contains(who.words[i], q.SID),
			strings.Contains(q.Email, "@") && strings.Contains(name, q.Email) &&
				slices.Contains(strings.FieldsFunc(name, betweenAddresses), q.Email):
			return true
		}
	}
	return false
}

// folded are the numbers and names of a person as they are compared.
func folded(p intake.Person) intake.Person {
	for _, field := range []*string{&p.SID, &p.Email, &p.Login, &p.Platform} {
		*field = intake.Fold(*field)
	}
	return p
}

// betweenAddresses reports whether a character ends an address in the name of a folder.
func betweenAddresses(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("_,;()[]<>", r) }

// hasLogin reports whether the login of one on the roster stands within the name of what somebody handed in. A login
// that could be a part of anybody's name says nothing there.
func (who *somebody) hasLogin(l *listed, ofNames map[string]bool) bool {
	login := l.login
	if len(login) == 0 || len(l.Login) < 3 || !slices.ContainsFunc(login,
		func(word string) bool { return !ofNames[word] }) {
		return false
	}
	return slices.ContainsFunc(who.words, func(words []string) bool {
		for i := range words {
			if i+len(login) <= len(words) && slices.Equal(words[i:i+len(login)], login) {
				return true
			}
		}
		return false
	})
}

// sameName reports whether somebody has the name of one on the roster, in whatever order its parts are, and run
// together as Canvas does.
func (who *somebody) sameName(l *listed) bool {
	return len(l.words) > 0 && slices.ContainsFunc(who.spelt, func(name spelling) bool {
		return name.key == l.name.key || name.ascii == l.name.ascii || name.key == l.german ||
			slices.Contains(l.rotated, name.together)
	})
}

// ascii are words as platforms write them that know no other letters, some letters being replaced first.
func ascii(words []string, letters *strings.Replacer) []string {
	plain := make([]string, len(words))
	for i, word := range words {
		if letters != nil {
			word = letters.Replace(norm.NFC.String(word))
		}
		plain[i] = strings.Map(func(r rune) rune {
			if unicode.IsMark(r) {
				return -1
			}
			return r
		}, norm.NFD.String(word))
	}
	return plain
}

var german = strings.NewReplacer("ä", "ae", "ö", "oe", "ü", "ue")

// spelling is a name in the forms that names are compared in.
type spelling struct {
	key      string // its parts, sorted
	ascii    string // the same as platforms write it that know no other letters
	together string // its parts without anything between them
}

func spell(words []string) spelling {
	return spelling{key(words), key(ascii(words, nil)), strings.Join(words, "")}
}

func key(words []string) string { return strings.Join(slices.Sorted(slices.Values(words)), " ") }

// rotations are the parts of a name without anything between them, from whichever part on.
func rotations(parts []string) []string {
	var all []string
	for i := range parts {
		all = append(all, strings.Join(parts[i:], "")+strings.Join(parts[:i], ""))
	}
	return all
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
	return intake.Person{Name: cmp.Or(roster.Name, export.Name), SID: cmp.Or(roster.SID, export.SID),
		Email: cmp.Or(roster.Email, export.Email),
		Login: cmp.Or(roster.Login, export.Login), Platform: cmp.Or(export.Platform, roster.Platform),
		Section: cmp.Or(roster.Section, export.Section)}
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
