package corpus

import (
	"errors"
	"slices"
	"strings"
)

// applyAll makes the programs that edits of whole programs are. Its error tells of every edit that cannot be.
func applyAll(edits []edit, whole []Program) ([]Program, error) {
	bases, known := map[string]Program{}, map[string]string{}
	for _, p := range whole {
		bases[p.String()], known[p.String()] = p, "as a whole program"
	}
	var programs []Program
	var faults []error
	for _, e := range edits {
		name := e.program.String()
		if where, twice := known[name]; twice {
			faults = append(faults, e.fault("%s is there already, %s: give one of them another name", name, where))
			continue
		}
		known[name] = "in " + e.file
		base, found := bases[e.base]
		if !found {
			faults = append(faults, e.unknownBase(edits))
			continue
		}
		p, err := e.apply(base)
		programs, faults = append(programs, p), append(faults, err)
	}
	return programs, errors.Join(faults...)
}

func (e edit) unknownBase(edits []edit) error {
	if slices.ContainsFunc(edits, func(other edit) bool { return other.program.String() == e.base }) {
		return e.fault("%s is edited from %s, which is itself an edit: name what that one is edited from, or another whole "+
			"program", e.program, e.base)
	}
	return e.fault("%s is edited from %s, which is not there: name solution, skeleton, or a program with a file of its "+
		"own, such as right/plain", e.program, e.base)
}

// apply makes the program of its base.
func (e edit) apply(base Program) (Program, error) {
	lines := strings.Split(strings.ReplaceAll(base.Text, "\r\n", "\n"), "\n")
	begin := slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(line, "package ") })
	if begin < 0 {
		return e.program, e.fault("%s is edited from %s, which has no package clause", e.program, base)
	}
	for i, line := range lines {
		lines[i] = unmarked(line) // what is wanted of the base is not wanted of what is made of it
	}
	by := map[int]hunk{} // by the line of the base that it begins at
	taken := make([]bool, len(lines))
	var faults []error
	for _, h := range e.hunks {
		at, err := h.find(e.program, base, lines, begin)
		if err != nil {
			faults = append(faults, err)
			continue
		}
		by[at] = h
		for i := range h.old() {
			if taken[at+i] {
				faults = append(faults, h.fault("%s: line %d of %s is in two hunks: make them one", e.program, at+i+1, base))
				break
			}
			taken[at+i] = true
		}
	}
	if len(faults) > 0 {
		return e.program, errors.Join(faults...)
	}
	made, changed := slices.Clone(e.head), false
	for i := begin; i < len(lines); i++ {
		h, ok := by[i]
		if !ok {
			made = append(made, lines[i])
			continue
		}
		old, now := h.old(), h.now()
		made = append(made, now...)
		changed = changed || !slices.EqualFunc(old, now, func(a, b string) bool { return a == unmarked(b) })
		i += len(old) - 1
	}
	if !changed {
		return e.program, e.fault("%s changes nothing in %s: write a hunk that does, or delete the program", e.program, base)
	}
	p := e.program
	p.Base, p.Text = e.base, strings.Join(made, "\n")
	return p, nil
}

// old are the hunk's lines as the base has them, now as the program has them.
func (h hunk) old() (lines []string) {
	for _, line := range h.lines {
		switch line[0] {
		case ' ':
			lines = append(lines, unmarked(line[1:]))
		case '-':
			lines = append(lines, line[1:])
		}
	}
	return lines
}

func (h hunk) now() (lines []string) {
	for _, line := range h.lines {
		if line[0] != '-' {
			lines = append(lines, line[1:])
		}
	}
	return lines
}

// unmarked is a line without what is wanted of it.
func unmarked(line string) string {
	code, _, marked := strings.Cut(line, mark)
	if !marked {
		return line
	}
	return strings.TrimRight(code, " \t")
}

// find answers at which of the base's lines from begin on the hunk's old ones are.
func (h hunk) find(program, base Program, lines []string, begin int) (int, error) {
	old := h.old()
	if len(old) == 0 {
		return 0, h.fault("%s: this hunk does not say where its lines go: write the line above or below them too, as it "+
			"is in %s", program, base)
	}
	found := -1
	for i := begin; i+len(old) <= len(lines); i++ {
		switch {
		case !slices.Equal(lines[i:i+len(old)], old):
		case found >= 0:
			return 0, h.fault("%s: the lines of this hunk are in %s twice, at lines %d and %d: write one more line above or "+
				"below them",
				program, base, found+1, i+1)
		default:
			found = i
		}
	}
	if found >= 0 {
		return found, nil
	}
	for _, line := range old {
		if !slices.Contains(lines[begin:], line) {
			return 0, h.fault("%s: %s has no line %q: write it as it is there", program, base, line)
		}
	}
	return 0, h.fault("%s: %s has each line of this hunk, but not in a row: part it with an empty line, or write the "+
		"lines between too", program, base)
}
