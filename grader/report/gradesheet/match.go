package gradesheet

import (
	"slices"
	"strings"
	"unicode"

	"cudalab/grader/class"
)

// ways are how somebody is found in a gradebook, the surest first.
var ways = []struct {
	name   string
	rows   func(s *Sheet, row []string) []string
	people func(id string, p class.Person) []string
}{
	{"the platform's number", func(s *Sheet, row []string) []string {
		if s.Kind == Canvas {
			return []string{s.cell(row, "ID")}
		}
		return []string{strings.TrimPrefix(s.cell(row, "Identifier"), "Participant ")}
	}, func(_ string, p class.Person) []string { return []string{p.Platform} }},
	{"the student number", func(s *Sheet, row []string) []string {
		return []string{s.cell(row, "SIS User ID"), s.cell(row, "ID number")}
	},
		func(id string, p class.Person) []string { return []string{p.SID, id} }},
	{"the e-mail address", func(s *Sheet, row []string) []string {
		login := s.cell(row, "SIS Login ID")
		if !strings.Contains(login, "@") {
			login = ""
		}
		return []string{s.cell(row, "Email address"), login}
	}, func(id string, p class.Person) []string { return []string{p.Email, id} }},
	{"the login", func(s *Sheet, row []string) []string {
		login := s.cell(row, "SIS Login ID")
		local, _, _ := strings.Cut(firstOf(s.cell(row, "Email address"), login), "@")
		return []string{login, s.cell(row, "Username"), local}
	}, func(id string, p class.Person) []string { return []string{p.Login, id} }},
	{"the name", func(s *Sheet, row []string) []string {
		name := firstOf(s.cell(row, "Student"), s.cell(row, "Full name"))
		if name == "" {
			name = firstOf(s.cell(row, "Last name"), s.cell(row, "Surname")) + ", " + s.cell(row, "First name")
		}
		return nameKeys(name)
	}, func(id string, p class.Person) []string { return nameKeys(firstOf(p.Name, id)) }},
}

// nameKeys are what a name is found by: its words in any order, and run together in theirs, as Canvas names files.
func nameKeys(name string) []string {
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool {
		return !unicode.IsLetter(r) &&
			!unicode.IsDigit(r)
	})
	together := strings.Join(words, "")
	sorted := strings.Join(slices.Sorted(slices.Values(words)), " ")
	if sorted == together {
		return []string{together}
	}
	return []string{sorted, together}
}

// match is who is who.
type match struct {
	Found   map[string]int // rows that have a student, by what told so
	Without []string       // students, by ID, who are in no row
	Empty   []string       // rows, by name, of whom there is no result
	Unclear []string       // rows that several students would be, in words
}

// match finds the student of each row, as an index; -1 where there is none. Nothing is guessed: what several rows have
// in common tells none of them, and of two students for one row it is neither.
func (s *Sheet) match(c *class.Class) (students []int, m match) {
	students = slices.Repeat([]int{-1}, len(s.rows))
	m.Found = map[string]int{}
	placed := map[[2]int]bool{} // student and person
	clash := map[int][]string{}
	for _, way := range ways {
		at := map[string]int{} // rows by key; -1: of several
		for i, row := range s.rows {
			for _, key := range slices.Compact(slices.Sorted(slices.Values(way.rows(s, row)))) {
				if key = strings.ToLower(key); key == "" {
					continue
				}
				if other, known := at[key]; known && other != i {
					at[key] = -1
				} else {
					at[key] = i
				}
			}
		}
		claimed := map[int][][2]int{} // students and persons by row, in this way
		for k := range c.Students {
			people := c.Students[k].People
			if len(people) == 0 {
				people = []class.Person{{}}
			}
			for n, p := range people {
				if placed[[2]int{k, n}] {
					continue
				}
				id := ""
				if len(people) == 1 {
					id = c.Students[k].ID
				}
				for _, key := range way.people(id, p) {
					i, known := at[strings.ToLower(key)]
					if key == "" || !known {
						continue
					}
					if i >= 0 && students[i] < 0 {
						claimed[i] = append(claimed[i], [2]int{k, n})
					}
					break // what several rows have is not made up for by what is less sure
				}
			}
		}
		for i, by := range claimed {
			if len(by) > 1 {
				for _, b := range by {
					clash[i] = append(clash[i], c.Students[b[0]].ID)
				}
				continue
			}
			if clash[i] != nil {
				continue
			}
			students[i] = by[0][0]
			placed[by[0]] = true
			m.Found[way.name]++
		}
	}
	for i, k := range students {
		switch {
		case clash[i] != nil && k < 0:
			m.Unclear = append(m.Unclear, s.name(i)+" may be "+
				strings.Join(slices.Compact(slices.Sorted(slices.Values(clash[i]))), " or "))
		case k < 0:
			m.Empty = append(m.Empty, s.name(i))
		}
	}
	for k, st := range c.Students {
		if !slices.Contains(students, k) {
			m.Without = append(m.Without, st.ID)
		}
	}
	return students, m
}

// name is who a row is about.
func (s *Sheet) name(i int) string {
	row := s.rows[i]
	return firstOf(s.cell(row, "Student"), s.cell(row, "Full name"), strings.TrimSpace(s.cell(row, "First name")+" "+
		firstOf(s.cell(row, "Last name"), s.cell(row, "Surname"))), s.cell(row, "Email address"), s.cell(row, "Identifier"),
		s.cell(row, "ID number"))
}
