package authoring

import (
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"

	"cudalab/lessons"
)

// finding is a finding's head, "error leak", with its message, its Why and its Fix, or some of these, each as one line.
type finding struct {
	head  string
	parts []string
}

// quoted holds a text's quotes to what the checks say.
func (r *review) quoted(file string, quotes, said []finding) {
	for _, q := range quotes {
		if !q.isIn(said) {
			r.add(file, fmt.Sprintf("no check says %q", q.head+": "+strings.Join(q.parts, " ")),
				"Quote a words.txt of grader/suites as it is; only where lines break is yours to say")
		}
	}
}

// isIn reports whether one of the findings said has all that f has.
func (f finding) isIn(said []finding) bool {
	return slices.ContainsFunc(said, func(s finding) bool {
		missing := func(part string) bool { return !slices.Contains(s.parts, part) }
		return s.head == f.head && !slices.ContainsFunc(f.parts, missing)
	})
}

// findingHead matches a finding's head, with or without what it comes of.
var findingHead = regexp.MustCompile(`^((?:error|remark) [a-z-]+)(?:, of the [a-z-]+)?$`)

// quotes are the findings that a text in Markdown quotes, and in which lines may have been wrapped.
func quotes(markdown string) (found []finding) {
	for _, match := range plain.FindAllStringSubmatch(markdown, -1) {
		lines := strings.Split(strings.TrimSpace(match[1]), "\n")
		if !findingHead.MatchString(lines[0]) {
			continue
		}
		f := finding{head: lines[0]}
		for i, line := range lines[1:] {
			line = strings.TrimSpace(line)
			if i == 0 || strings.HasPrefix(line, "Why: ") || strings.HasPrefix(line, "Fix: ") {
				f.parts = append(f.parts, line)
			} else {
				f.parts[len(f.parts)-1] += " " + line
			}
		}
		found = append(found, f)
	}
	return found
}

// said are the findings that the programs of a lesson lead to; false where its test has not recorded them yet.
func (r *review) said(e lessons.Exercise) (said []finding, recorded bool) {
	text, err := fs.ReadFile(r.course, testdata(e)+"/words.txt")
	if err != nil {
		return nil, false
	}
	in := false
	for _, line := range strings.Split(string(text), "\n") {
		switch {
		case findingHead.MatchString(line):
			said, in = append(said, finding{head: findingHead.FindStringSubmatch(line)[1]}), true
		case !strings.HasPrefix(line, "  "):
			in = false
		case in && !strings.HasPrefix(line, "    |") && !strings.HasPrefix(line, "  - "):
			f := &said[len(said)-1]
			f.parts = append(f.parts, strings.TrimSpace(line))
		}
	}
	return said, true
}
