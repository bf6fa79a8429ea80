package authoring

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"cudalab/lessons"
)

// What stands around the lists of lessons that are generated.
const (
	listBegins = "<!-- lessons: `go generate ./lessons` writes this list from course.toml -->\n"
	listEnds   = "<!-- end of the lessons -->\n"
)

// lineWidth is how wide the lines of a chapter are.
const lineWidth = 120

// Generate brings the files of the course at root up to date that follow from course.toml and the exercises, and answers
// which have changed.
func Generate(root string) (changed []string, err error) {
	files, err := generated(os.DirFS(root))
	if err != nil {
		return nil, err
	}
	for _, file := range slices.Sorted(maps.Keys(files)) {
		at := filepath.Join(root, filepath.FromSlash(file))
		if now, err := os.ReadFile(at); err == nil && string(now) == files[file] {
			continue
		}
		if err := os.WriteFile(at, []byte(files[file]), 0o644); err != nil {
			return changed, err
		}
		changed = append(changed, file)
	}
	return changed, nil
}

// generated finds what is out of date.
func (r *review) generated() {
	const do = "Run go generate ./lessons"
	files, err := generated(r.course)
	if err != nil {
		r.add("lessons", err.Error(), do)
	}
	for _, file := range slices.Sorted(maps.Keys(files)) {
		if now, err := fs.ReadFile(r.course, file); err != nil || string(now) != files[file] {
			r.add(file, "it is not what follows from course.toml and the exercises", do)
		}
	}
}

// generated are the texts of the files that follow from course.toml and the exercises. What is not there yet, such as a
// chapter that is still to be written, is left out.
func generated(course fs.FS) (map[string]string, error) {
	texts, err := fs.Sub(course, "lessons")
	if err != nil {
		return nil, err
	}
	exercises, err := lessons.Read(texts)
	if err != nil {
		return nil, err
	}
	files := map[string]string{}
	rewrite := func(file string, change func(text string) string) {
		if text, err := fs.ReadFile(course, file); err == nil {
			files[file] = change(string(text))
		}
	}
	for i, e := range exercises {
		rewrite("lessons/"+e.Name+".md", func(text string) string { return linked(text, exercises, i) })
		if skeleton, err := fs.ReadFile(course, path.Join("exercises", e.Package, e.Package+".go")); err == nil {
			files["lessons/"+e.Name+".skeleton.go.txt"] = string(skeleton)
		}
	}
	rewrite("lessons/README.md", func(text string) string { return numbered(between(text, table(exercises)), exercises) })
	rewrite("README.md", func(text string) string { return between(text, list(exercises)) })
	return files, nil
}

// place is the second paragraph of a chapter, which says where in the course it is.
var place = regexp.MustCompile(`\A(# .*\n\n)(?:Lesson \d+ of \d+ · (?:.+\n)+\n)?`)

// nextItem is the item about the next lesson in what a chapter says to read next.
var nextItem = regexp.MustCompile(`(?m)^- The next lesson: .*\n(?: +.*\n)*`)

// linked is a chapter with the links to those before and after it.
func linked(text string, exercises []lessons.Exercise, i int) string {
	words := []string{fmt.Sprintf("Lesson %d of %d · [the course](README.md)", i+1, len(exercises))}
	next := ""
	if i > 0 {
		words = append(words, "before:", link("", exercises[i-1]))
	}
	if i+1 < len(exercises) {
		words = append(words, "next:", link("", exercises[i+1]))
		next = "- The next lesson: " + link("", exercises[i+1]) + ".\n"
	}
	line, width := words[0], utf8.RuneCountInString(words[0])
	for k, word := range words[1:] {
		if k%2 == 0 {
			word = "· " + word
		}
		line += " "
		if width += 1 + utf8.RuneCountInString(word); width > lineWidth {
			line, width = strings.TrimRight(line, " ")+"\n", utf8.RuneCountInString(word)
		}
		line += word
	}
	text = place.ReplaceAllString(text, "${1}"+strings.ReplaceAll(line, "$", "$$")+"\n\n")
	if nextItem.MatchString(text) {
		return nextItem.ReplaceAllString(text, strings.ReplaceAll(next, "$", "$$"))
	}
	if next != "" && strings.Contains(text, "\n## What to read next\n") { // the last section of a chapter
		return strings.TrimRight(text, "\n") + "\n" + next
	}
	return text
}

func link(folder string, e lessons.Exercise) string {
	return fmt.Sprintf("[%s](%s%s.md)", e.Title, folder, e.Name)
}

// between puts a list in the place of the one that a text has; nothing changes where the text has no room for it.
func between(text, list string) string {
	head, rest, begins := strings.Cut(text, listBegins)
	_, tail, ends := strings.Cut(rest, listEnds)
	if !begins || !ends {
		return text
	}
	return head + listBegins + list + listEnds + tail
}

// table is the table of contents.
func table(exercises []lessons.Exercise) string {
	var b strings.Builder
	b.WriteString("\n| | lesson | what it is about |\n|---|---|---|\n")
	for i, e := range exercises {
		fmt.Fprintf(&b, "| %d | %s | %s |\n", i+1, link("", e), e.About)
	}
	return b.String() + "\n"
}

// list is the list of lessons of the course's README.
func list(exercises []lessons.Exercise) string {
	var b strings.Builder
	b.WriteString("\n")
	for i, e := range exercises {
		fmt.Fprintf(&b, "%d. %s\n", i+1, link("lessons/", e))
	}
	return b.String() + "\n"
}

// numberedLink is a link to a chapter whose text is the lesson's number, as the glossary has them.
var numberedLink = regexp.MustCompile(`\[\d+\]\(([a-z0-9-]+)\.md\)`)

// numbered is a text whose links by number have the numbers of now.
func numbered(text string, exercises []lessons.Exercise) string {
	return numberedLink.ReplaceAllStringFunc(text, func(found string) string {
		name := numberedLink.FindStringSubmatch(found)[1]
		for i, e := range exercises {
			if e.Name == name {
				return fmt.Sprintf("[%d](%s.md)", i+1, name)
			}
		}
		return found
	})
}
