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

	"cudalab/lessons"
)

// What stands around the lists of lessons that are generated.
const (
	listBegins = "<!-- lessons: `go generate ./lessons` writes this list from course.toml -->\n"
	listEnds   = "<!-- end of the lessons -->\n"
)

// Generate brings the files of the course at root up to date that follow from course.toml and the exercises, and
// answers which have changed.
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
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			return changed, err
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
			r.add(file, "it is not what follows from course.toml, the exercises, the chapters and what tests have recorded", do)
		}
	}
	left, _ := fs.Glob(r.course, "lessons/figures/*")
	for _, file := range left {
		if _, drawn := files[file]; !drawn {
			r.add(file, "no chapter has this figure", "Delete the file")
		}
	}
}

// generated are the texts of the files that follow from course.toml, the exercises, the chapters and what tests have
// recorded.
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
	for _, e := range exercises {
		if skeleton, err := fs.ReadFile(course, path.Join("exercises", e.Package, e.Package+".go")); err == nil {
			files["lessons/"+e.Name+".skeleton.go.txt"] = string(skeleton)
		}
	}
	listed := func(text, list string) string { return between(text, listBegins, listEnds, list) }
	rewrite("lessons/README.md", func(text string) string { return numbered(listed(text, table(exercises)), exercises) })
	rewrite("README.md", func(text string) string { return listed(text, list(exercises)) })
	maps.Copy(files, figures(course, exercises))
	tables, err := measured(course, exercises)
	if err != nil {
		return nil, err
	}
	for _, chapter := range []string{"fairness", "similarity"} {
		rewrite("lessons/instructors/"+chapter+".md", func(text string) string {
			for name, table := range tables {
				text = between(text, "<!-- "+name+" -->\n", "<!-- end -->", table)
			}
			return text
		})
	}
	return files, nil
}

func link(folder string, e lessons.Exercise) string {
	return fmt.Sprintf("[%s](%s%s.md)", e.Title, folder, e.Name)
}

// between puts new text between two marks; nothing changes where a text lacks them.
func between(text, begins, ends, now string) string {
	head, rest, found := strings.Cut(text, begins)
	_, tail, closed := strings.Cut(rest, ends)
	if !found || !closed {
		return text
	}
	return head + begins + now + ends + tail
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
