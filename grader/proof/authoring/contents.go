package authoring

import (
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"

	"cudalab/lessons"
)

// contentsPage is the page that lists the lessons, and explains words and findings.
const contentsPage = "lessons/README.md"

// contents looks at that page.
func (r *review) contents(exercises []lessons.Exercise) {
	text, ok := r.text(contentsPage, "table of contents",
		"Write one with the places that go generate ./lessons fills, and a section Words")
	if !ok {
		return
	}
	r.glossary(text, exercises)
	var all []finding
	for _, e := range exercises {
		said, _ := r.said(e)
		all = append(all, said...)
	}
	r.quoted(contentsPage, quotes(text), all)
	r.shown(contentsPage, text)
}

var glossaryRow = regexp.MustCompile(`(?m)^\| \*\*(.+)\*\* \| .+ \| \[\d+\]\((.+)\.md\) \|$`)

// glossary sees to it that a term is set in bold where it is explained, and is explained once: in the lesson that its
// row names.
func (r *review) glossary(text string, exercises []lessons.Exercise) {
	rows := glossaryRow.FindAllStringSubmatch(section(text, "Words"), -1)
	var bold []*regexp.Regexp
	for _, row := range rows { // "launches" and "spilled" explain "launch" and "spill"
		bold = append(bold, regexp.MustCompile(`(?i)\*\*`+regexp.QuoteMeta(row[1])+`\w*\*\*`))
	}
	for _, e := range exercises {
		file := "lessons/" + e.Name + ".md"
		chapter, err := fs.ReadFile(r.course, file)
		if err != nil {
			continue
		}
		words := strings.Join(strings.Fields(string(chapter)), " ")
		for i, row := range rows {
			explained := bold[i].MatchString(words)
			switch {
			case row[2] == e.Name && !explained:
				r.add(file, fmt.Sprintf("it does not explain %q, as the glossary says", row[1]),
					"Set the term in bold where it is explained")
			case row[2] != e.Name && explained:
				r.add(file, fmt.Sprintf("%q is in bold, and the glossary has it explained in %s", row[1], row[2]),
					"Set it plainly, or correct the row of "+contentsPage)
			}
		}
		if !slices.ContainsFunc(rows, func(row []string) bool { return row[2] == e.Name }) {
			r.add(contentsPage, "the glossary has no term of "+e.Name,
				fmt.Sprintf("Set in bold in the chapter what it is the first to explain, and add a row to the section Words: "+
					"| **term** | meaning | [0](%s.md) |; go generate ./lessons puts the number right", e.Name))
		}
	}
}

// guide is what authors read; the lesson whose files it names is made up.
const guide = "lessons/authors/README.md"

// pages looks at what is read by those who work on the course.
func (r *review) pages() {
	for _, pattern := range []string{"README.md", "lessons/authors/*.md"} {
		files, _ := fs.Glob(r.course, pattern)
		for _, file := range files {
			text, _ := fs.ReadFile(r.course, file)
			r.links(file, string(text))
			if file != guide {
				r.names(file, string(text))
			}
		}
	}
}
