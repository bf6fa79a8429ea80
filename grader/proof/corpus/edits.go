package corpus

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// edit is a program that is told by what it changes in a base.
type edit struct {
	place
	program Program // still without its text
	base    string
	head    []string // the comments above the package clause
	hunks   []hunk
}

// hunk is lines of the base in a row, and what becomes of them.
type hunk struct {
	place
	lines []string // each begins with " ", "-" or "+"
}

// place is where something stands.
type place struct {
	file string
	line int // from 1 on
}

func (p place) fault(format string, args ...any) error {
	return fmt.Errorf("%s:%d: %s", p.file, p.line, fmt.Sprintf(format, args...))
}

var (
	heading   = regexp.MustCompile(`^-- (.*) --$`)
	named     = regexp.MustCompile(`^(half|right|wrong|cheat|slower|gap)/([a-z0-9]+(?:-[a-z0-9]+)*)$`)
	directive = regexp.MustCompile(`^//cudalab:(?:fails(?: .*)?|(?:may|next|remark|slower|unseen) .+|refused)$`)
)

// parse reads a file of edits. Its error tells of every line that is not right.
func parse(file, text string) ([]edit, error) {
	var edits []edit
	var faults []error
	within := false // the line before is of a hunk
	for i, line := range strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n") {
		at := place{file, i + 1}
		if m := heading.FindStringSubmatch(line); m != nil {
			e, err := begin(at, m[1])
			edits, faults, within = append(edits, e), append(faults, err), false
			continue
		}
		switch {
		case line == "":
			within = false
		case line[0] == '#' && !within:
		case len(edits) == 0:
			faults = append(faults,
				at.fault(`the first program begins with a line like "-- wrong/too-small --", and remarks begin with "#"`))
			return nil, errors.Join(faults...)
		default:
			e := &edits[len(edits)-1]
			faults = append(faults, e.add(at, line, within))
			within = len(e.hunks) > 0
		}
	}
	for _, e := range edits {
		if e.base == "" {
			faults = append(faults,
				e.fault(`%s does not say what it is edited from: write "from right/plain", or another base, below this line`,
					e.program))
		}
	}
	return edits, errors.Join(faults...)
}

func begin(at place, name string) (edit, error) {
	m := named.FindStringSubmatch(name)
	if m == nil {
		return edit{place: at},
			at.fault(
				`%q is no program's name: it is half, right, wrong, cheat or gap, a slash, and small letters, digits and hyphens`,
				name)
	}
	return edit{place: at, program: Program{Kind: kind(m[1]), Name: m[2]}}, nil
}

// add takes the next line. Within is whether the line before is of a hunk, to which this one belongs too.
func (e *edit) add(at place, line string, within bool) error {
	base, isBase := strings.CutPrefix(line, "from ")
	isComment := strings.HasPrefix(line, "//")
	switch {
	case strings.ContainsRune(" +-", rune(line[0])):
		if !within {
			e.hunks = append(e.hunks, hunk{place: at})
		}
		h := &e.hunks[len(e.hunks)-1]
		h.lines = append(h.lines, line)
	case len(e.hunks) > 0:
		return at.fault(
			`%s: a line of a hunk begins with "-" if it goes, "+" if it is new and " " if it stays, and this is none: %s`,
			e.program, line)
	case isBase && e.base == "":
		e.base = strings.TrimSpace(base)
	case isBase:
		return at.fault("%s has a base already, %s: keep one of them", e.program, e.base)
	case isComment:
		return e.comment(at, line)
	default:
		return at.fault(
			`%s: before the hunks stand "from right/plain" or another base, and comments, and this is neither: %s`, e.program,
			line)
	}
	return nil
}

// comment takes a line of the program's comments. As gofmt wants it, an empty one parts directives from what is before
// them.
func (e *edit) comment(at place, line string) error {
	isDirective := strings.HasPrefix(line, "//cudalab:")
	if isDirective && !directive.MatchString(line) {
		return at.fault("%s: there is no directive %s: it is fails, may, next, remark or unseen with words behind it, or "+
			"refused", e.program, line)
	}
	if last := len(e.head) - 1; isDirective && last >= 0 && e.head[last] != "//" && !strings.HasPrefix(e.head[last],
		"//cudalab:") {
		e.head = append(e.head, "//")
	}
	e.head = append(e.head, line)
	return nil
}
