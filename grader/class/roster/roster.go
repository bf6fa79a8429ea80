// Package roster reads lists of a class, as learning platforms and spreadsheets write them, and finds out who has
// handed in what.
package roster

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"cudalab/grader/class/intake"
)

// Error is why a roster cannot be used, in sentences.
type Error struct{ Message string }

func (e *Error) Error() string { return e.Message }

// Entry is one person on a roster.
type Entry struct {
	intake.Person
	Line int // in the file, from 1
}

// maxSize bounds the file, in bytes, and maxEntries those who are on it.
const (
	maxSize    = 16 << 20
	maxEntries = 100_000
)

// Read reads the roster in a file.
func Read(path string) ([]Entry, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, &Error{fmt.Sprintf("The roster %s cannot be read: %v. Name a file of comma-separated values.", path,
			errors.Unwrap(err))}
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxSize+1))
	if err != nil {
		return nil, &Error{fmt.Sprintf("The roster %s cannot be read: %v.", path, err)}
	}
	return parse(path, text)
}

// parse reads a table with a line of heads. Platforms separate by commas, spreadsheets in many countries by semicolons
// or tabs.
func parse(path string, text []byte) ([]Entry, error) {
	fail := func(format string, a ...any) error { return &Error{fmt.Sprintf(format, a...)} }
	if len(text) > maxSize {
		return nil, fail("The roster %s has more than %d MiB. Name a file with a line for each student.", path, maxSize>>20)
	}
	text = decoded(text)
	if !utf8.Valid(text) {
		line := 1 + bytes.Count(text[:firstInvalid(text)], []byte("\n"))
		return nil, fail("%s:%d: this is not UTF-8. Save the roster as \"CSV UTF-8\".", path, line)
	}
	head, _, _ := bytes.Cut(text, []byte("\n"))
	r := csv.NewReader(bytes.NewReader(text))
	r.Comma = separator(head)
	r.FieldsPerRecord = -1
	r.TrimLeadingSpace = true
	named, err := r.Read()
	if errors.Is(err, io.EOF) {
		return nil, fail("The roster %s is empty. It needs a line of heads, such as name,sid,email,section, and then a line "+
			"for each student.", path)
	}
	if err != nil {
		return nil, malformed(path, err)
	}
	at, err := columnsOf(path, named)
	if err != nil {
		return nil, err
	}
	var entries []Entry
	for {
		row, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, malformed(path, err)
		}
		line, _ := r.FieldPos(0)
		e := Entry{Person: at.person(row), Line: line}
		switch {
		case e.Person == (intake.Person{}) || e.Person == (intake.Person{Section: e.Section}) || staff(e.Person):
			continue
		case len(row) > len(named) && strings.TrimSpace(strings.Join(row[len(named):], "")) != "":
			return nil, fail("%s:%d: this line has %d cells, but there are %d heads. Put a cell that has a %q in it into "+
				"quotes.",
				path, line, len(row), len(named), string(r.Comma))
		case len(entries) == maxEntries:
			return nil, fail("%s:%d: a roster has at most %d students.", path, line, maxEntries)
		}
		entries = append(entries, e)
	}
	if len(entries) == 0 {
		return nil, fail("The roster %s has heads but no student. It needs a line for each.", path)
	}
	return entries, twice(path, entries)
}

// staff reports whether a line is none of a student's: Canvas writes what the points are out of, and a student for
// trying out.
func staff(p intake.Person) bool {
	name := strings.TrimSpace(p.Name)
	return strings.EqualFold(name, "Points Possible") || strings.EqualFold(name, "Student, Test") && p.SID == ""
}

// twice refuses a roster on which a number, an address or a login is two people's.
func twice(path string, entries []Entry) error {
	for _, what := range []struct {
		name string
		of   func(intake.Person) string
	}{
		{"student number", func(p intake.Person) string { return p.SID }},
		{"e-mail address", func(p intake.Person) string { return p.Email }},
		{"login", func(p intake.Person) string { return p.Login }},
	} {
		seen := map[string]int{}
		for _, e := range entries {
			key := strings.ToLower(what.of(e.Person))
			if key == "" {
				continue
			}
			if before, ok := seen[key]; ok {
				return &Error{fmt.Sprintf("%s:%d: the %s %q is also in line %d. Each is one person's: mend one of the lines, or "+
					"remove it.",
					path, e.Line, what.name, what.of(e.Person), before)}
			}
			seen[key] = e.Line
		}
	}
	return nil
}

func malformed(path string, err error) error {
	var wrong *csv.ParseError
	if errors.As(err, &wrong) {
		return &Error{fmt.Sprintf("%s:%d: this is no line of comma-separated values: a quote (\") is not closed, or stands "+
			"within a cell. Write a quote in a cell twice, and put the cell into quotes.", path, wrong.StartLine)}
	}
	return &Error{fmt.Sprintf("The roster %s cannot be read: %v.", path, err)}
}

// column is one thing that a roster may tell.
type column int

const (
	name column = iota
	first
	last
	sid
	email
	login
	platform
	section
	columns
)

// heads are what platforms call their columns, in small letters and without what is neither letter nor digit. Canvas:
// "Student", "ID", "SIS User ID", "SIS Login ID", "Section". Moodle: "Identifier", "Full name", "ID number", "Email
// address", "Groups". Gradescope: "First Name", "Last Name", "SID", "Email", "Sections". GitHub Classroom:
// "identifier", "github_username", "name". Blackboard: "Last Name", "First Name", "Username", "Student ID".
var heads = [columns]string{
	name:     "name student fullname studentname displayname sortablename",
	first:    "first firstname givenname forename",
	last:     "last lastname surname familyname",
	sid:      "sid studentid studentnumber sisuserid idnumber matriculation matriculationnumber universityid",
	email:    "email emailaddress mail",
	login:    "login username loginid sisloginid githubusername github",
	platform: "id identifier canvasid participant",
	section:  "section sections group groups",
}

// where is where on a line each thing stands; -1 where it does not.
type where [columns]int

func columnsOf(path string, row []string) (where, error) {
	var at where
	for c := range at {
		at[c] = -1
		for i, head := range row {
			switch {
			case !slices.Contains(strings.Fields(heads[c]), letters(head)):
			case at[c] < 0:
				at[c] = i
			case column(c) != section:
				return at, &Error{fmt.Sprintf("%s:1: two heads mean the same: %q and %q. Rename the one that is not meant.", path,
					row[at[c]], head)}
			}
		}
	}
	if at[name] < 0 && at[first] < 0 && at[last] < 0 && at[sid] < 0 && at[email] < 0 && at[login] < 0 && at[platform] < 0 {
		return at, &Error{fmt.Sprintf("%s:1: no head says who somebody is; there are %s. Name the columns in the first "+
			"line, such as name,sid,email,section.",
			path, strings.Join(quoted(row), ", "))}
	}
	return at, nil
}

func quoted(row []string) []string {
	var all []string
	for _, cell := range row[:min(len(row), 8)] {
		all = append(all, fmt.Sprintf("%q", cell))
	}
	return all
}

func (at where) person(row []string) intake.Person {
	cell := func(c column) string {
		if i := at[c]; i >= 0 && i < len(row) {
			return strings.Join(strings.FieldsFunc(row[i], func(r rune) bool {
				return unicode.IsSpace(r) ||
					unicode.IsControl(r)
			}), " ")
		}
		return ""
	}
	full := cell(name)
	if full == "" {
		full = strings.TrimSpace(cell(first) + " " + cell(last))
	}
	return intake.Person{Name: full, SID: cell(sid), Email: cell(email), Login: cell(login),
		Platform: strings.TrimPrefix(cell(platform), "Participant "), Section: cell(section)}
}

// separator is what stands most often in the line of heads.
func separator(line []byte) rune {
	best := ','
	for _, r := range ";\t" {
		if bytes.Count(line, []byte(string(r))) > bytes.Count(line, []byte(string(best))) {
			best = r
		}
	}
	return best
}

// decoded is a text without its byte-order mark, from UTF-16 if that is what it marks: spreadsheets write it as
// "Unicode text".
func decoded(text []byte) []byte {
	if text, ok := bytes.CutPrefix(text, []byte("\xEF\xBB\xBF")); ok {
		return text
	}
	little := bytes.HasPrefix(text, []byte("\xFF\xFE"))
	if !little && !bytes.HasPrefix(text, []byte("\xFE\xFF")) {
		return text
	}
	var units []uint16
	for i := 2; i+1 < len(text); i += 2 {
		low, high := text[i], text[i+1]
		if !little {
			low, high = high, low
		}
		units = append(units, uint16(low)|uint16(high)<<8)
	}
	return []byte(string(utf16.Decode(units)))
}

func firstInvalid(text []byte) int {
	at := 0
	for at < len(text) {
		r, size := utf8.DecodeRune(text[at:])
		if r == utf8.RuneError && size == 1 {
			return at
		}
		at += size
	}
	return at
}

// letters are a text's letters and digits, in small ones.
func letters(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, text)
}
