package intake

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// The lines of submission_metadata.yml that tell whose a submission is. The file is YAML, but written by a program that
// always lays it out the same way.
var (
	gradescopeSubmission = regexp.MustCompile(`^(submission_\d+):\s*$`)
	gradescopeName       = regexp.MustCompile(`^\s+(?:- )?\s*:name:\s+(\S.*?)\s*$`)
)

// maxMetadata bounds that file, in bytes.
const maxMetadata = 16 << 20

// submitters are the names of those who handed in together, by the names of Gradescope's folders. A name that cannot be
// read is left out: the folder's own name has to do.
func submitters(kids []*child) map[string]string {
	names := map[string]string{}
	for _, c := range kids {
		if c.folder || !slices.Contains(gradescopeNames, c.name) || c.entry.load == nil {
			continue
		}
		text, err := c.entry.load(maxMetadata)
		if err != nil {
			continue
		}
		submission := ""
		for line := range strings.Lines(string(text)) {
			line = strings.TrimRight(line, "\r\n")
			if m := gradescopeSubmission.FindStringSubmatch(line); m != nil {
				submission = m[1]
				continue
			}
			m := gradescopeName.FindStringSubmatch(line)
			if m == nil || submission == "" {
				continue
			}
			switch name := unquoteYAML(m[1]); {
			case name == "":
			case names[submission] == "":
				names[submission] = name
			default:
				names[submission] += " and " + name
			}
		}
	}
	return names
}

// unquoteYAML is the text of a scalar on one line, "" if it is of a form that names are not written in.
func unquoteYAML(s string) string {
	switch s[0] {
	case '\'':
		s, ok := strings.CutSuffix(s[1:], "'")
		if !ok {
			return ""
		}
		return strings.ReplaceAll(s, "''", "'")
	case '"':
		text, err := strconv.Unquote(s)
		if err != nil || !utf8.ValidString(text) {
			return ""
		}
		return text
	case '|', '>', '&', '*', '!', '{', '[', '#':
		return ""
	}
	return s
}
