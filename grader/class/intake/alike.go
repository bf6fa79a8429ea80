package intake

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// onePerson tells of submissions that look like one person's: by an address, a number or a login that they have in
// common, or by a name, unless the platform tells the two apart.
func onePerson(submissions []Submission) []string {
	type owner struct {
		submission *Submission
		person     Person
	}
	by := map[string][]owner{}
	for i := range submissions {
		s := &submissions[i]
		people := s.People
		if len(people) == 0 {
			people = []Person{{Name: Stem(s.From[strings.LastIndex(s.From, "/")+1:])}}
		}
		for _, p := range people {
			for _, key := range p.keys() {
				by[key] = append(by[key], owner{s, p})
			}
		}
	}
	var said []string
	told := map[string]bool{}
	for i := range submissions {
		s := &submissions[i]
		for key, all := range by {
			if all[0].submission != s {
				continue
			}
			what, of, _ := strings.Cut(key, " ")
			var ids []string
			for _, o := range all {
				if what != "name" || !o.person.other(all[0].person) {
					ids = append(ids, o.submission.ID)
				}
			}
			slices.Sort(ids)
			ids = slices.Compact(ids)
			if who := strings.Join(ids, ", "); len(ids) > 1 && !told[who] {
				told[who] = true
				said = append(said, fmt.Sprintf("%s look like one person's, by the %s %s. Each is graded: if they are, leave "+
					"those out that do not count.",
					listed(ids), what, show(of)))
			}
		}
	}
	slices.Sort(said)
	return said
}

// keys are what a person is known by, each with what it is before it.
func (p Person) keys() []string {
	var keys []string
	for _, k := range []struct{ what, of string }{{"number", p.SID}, {"address", p.Email}, {"login", p.Login}} {
		if k.of != "" {
			keys = append(keys, k.what+" "+Fold(k.of))
		}
	}
	words := Words(p.Name)
	slices.Sort(words)
	if len(words) > 1 {
		keys = append(keys, "name "+strings.Join(words, " "))
	}
	return keys
}

// other reports whether two people of the same name are known to be two.
func (p Person) other(q Person) bool {
	differ := func(a, b string) bool { return a != "" && b != "" && Fold(a) != Fold(b) }
	return cmp.Or(differ(p.SID, q.SID), differ(p.Email, q.Email), differ(p.Login, q.Login), differ(p.Platform, q.Platform))
}
