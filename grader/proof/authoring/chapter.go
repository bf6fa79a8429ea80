package authoring

import (
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"cudalab/lessons"
)

// chapter looks at what a student reads first.
func (r *review) chapter(e lessons.Exercise) {
	file := "lessons/" + e.Name + ".md"
	text, ok := r.text(file, "chapter", fmt.Sprintf("Write it; its first line is # %s", e.Title))
	if !ok {
		return
	}
	r.heading(file, text, e.Title)
	r.sections(file, text)
	r.costs(file, text)
	quoted := quotes(text)
	r.traps(e, text, quoted)
	if said, ok := r.said(e); ok {
		r.quoted(file, quoted, said)
	}
	r.shown(file, text)
}

func (r *review) heading(file, text, want string) {
	if first, _, _ := strings.Cut(text, "\n"); first != "# "+want {
		r.add(file, fmt.Sprintf("the first line is %q", first), fmt.Sprintf("Write # %s, as course.toml has it", want))
	}
}

// sections are the headings of every chapter.
var sections = []string{"What you will build", "The idea", "The CUDA names", "A worked example", "The traps",
	"What it costs", "Exercises", "What to read next"}

var sectionHeading = regexp.MustCompile(`(?m)^## (.*)$`)

func (r *review) sections(file, text string) {
	var found []string
	for _, m := range sectionHeading.FindAllStringSubmatch(text, -1) {
		found = append(found, m[1])
	}
	if !slices.Equal(found, sections) {
		r.add(file, "its sections are not those of every chapter",
			"Have ## "+strings.Join(sections, ", ## ")+", in this order, and no other")
	}
}

// section is the text below a heading of a chapter.
func section(text, heading string) string {
	_, below, _ := strings.Cut(text, "\n## "+heading+"\n")
	below, _, _ = strings.Cut(below, "\n## ")
	return below
}

var measuredOn = regexp.MustCompile(`one NVIDIA [^,]+, driver \d+\.\d+\.\d+`)

func (r *review) costs(file, text string) {
	below := section(text, "What it costs")
	switch {
	case below == "" || strings.HasPrefix(strings.TrimSpace(below), "Not yet measured."):
	case !measuredOn.MatchString(below):
		r.add(file, "nothing says what the figures in What it costs were measured on",
			`Name it, as in "one NVIDIA H200, driver 580.159.04", or begin with "Not yet measured."`)
	case !strings.Contains(below, "\n|"):
		r.add(file, "What it costs has no table", `Write one, or begin with "Not yet measured."`)
	}
}

var fold = regexp.MustCompile(`(?ms)^<details>\n<summary>[^\n]+</summary>\n\n(.*?)\n\n</details>$`)

// traps sees to it that what goes wrong is folded away: whoever has not tried yet finds out by trying.
func (r *review) traps(e lessons.Exercise, text string, quoted []finding) {
	file := "lessons/" + e.Name + ".md"
	below := section(text, "The traps")
	if below == "" {
		return // and told as a section that is missing
	}
	folded := fold.FindAllStringSubmatch(below, -1)
	switch {
	case len(folded) != 1 || strings.Count(text, "<details>") != 1:
		r.add(file, "the traps do not lie in one block <details>, the only one of the chapter",
			"Put all of them between <details>, with a line <summary>...</summary> and an empty one below it, and </details>")
	case !strings.HasPrefix(folded[0][1], "**"):
		r.add(file, "the first trap does not begin with its name",
			"Begin it with the name in bold, as in **The clock starts late.**")
	case len(quotes(folded[0][1])) < len(quoted):
		r.add(file, "it quotes a finding outside of the traps", "Move the block into <details>")
	}
	if len(quoted) == 0 {
		r.add(file, "it quotes no finding",
			"Quote one of "+testdata(e)+"/words.txt among the traps, in a block ```text, from its first line on")
	}
}

// shown looks at what any text may have.
func (r *review) shown(file, text string) {
	r.links(file, text)
	r.names(file, text)
	r.pictures(file, text)
	r.figures(file, text)
}

var relative = regexp.MustCompile(`\]\(([^):#]+)(?:#[^)]*)?\)`)

func (r *review) links(file, text string) {
	for _, m := range relative.FindAllStringSubmatch(text, -1) {
		if !r.there(path.Join(path.Dir(file), m[1])) {
			r.add(file, fmt.Sprintf("the link to %s leads nowhere", m[1]), "Correct it")
		}
	}
}

var named = regexp.MustCompile("`((?:exercises|solutions|kernels|lessons|native)/[^`*]+)`")

func (r *review) names(file, text string) {
	for _, m := range named.FindAllStringSubmatch(text, -1) {
		if !r.there(m[1]) {
			r.add(file, fmt.Sprintf("there is no %s, which it names", m[1]), "Correct the name")
		}
	}
}

// there reports whether the course has a file, or somebody has been told already that it has not.
func (r *review) there(file string) bool {
	_, err := fs.Stat(r.course, strings.TrimSuffix(file, "/"))
	return err == nil || slices.ContainsFunc(r.problems, func(p Problem) bool { return p.File == file })
}

// plain matches what is shown as it stands: pictures, messages and what programs print.
var plain = regexp.MustCompile("(?ms)^```text\n(.*?)^```$")

// widestPicture is what a terminal of 80 characters shows of a line beside its margin.
const widestPicture = 78

func (r *review) pictures(file, text string) {
	for _, m := range plain.FindAllStringSubmatch(text, -1) {
		for line := range strings.Lines(m[1]) {
			line = strings.TrimSuffix(line, "\n")
			if n := utf8.RuneCountInString(line); n > widestPicture && !strings.HasPrefix(line, "func ") {
				r.add(file, fmt.Sprintf("a line in a block ```text has %d characters: %s", n, line),
					fmt.Sprintf("Wrap it: a terminal breaks lines of more than %d", widestPicture))
			}
		}
	}
}
