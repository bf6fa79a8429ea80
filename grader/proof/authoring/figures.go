package authoring

import (
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"cudalab/grader/report/figure"
	"cudalab/lessons"
)

// figures are the files of the figures that chapters have.
func figures(course fs.FS, exercises []lessons.Exercise) map[string]string {
	files := map[string]string{}
	for _, e := range exercises {
		text, _ := fs.ReadFile(course, "lessons/"+e.Name+".md") // a chapter that is missing is told elsewhere
		for _, f := range figure.Of(string(text)) {
			files["lessons/figures/"+f.Name+".svg"] = f.SVG()
		}
	}
	return files
}

// figures looks at the figures of a chapter: that they can be drawn, and that what they name is there.
func (r *review) figures(file, text string) {
	all := figure.Of(text)
	if shown := strings.Count(text, "](figures/"); shown != len(all) {
		r.add(file, fmt.Sprintf("it shows %d figures, and has what they are drawn of for %d", shown, len(all)),
			"Write an image with its description, and behind it <details class=\"figure\"> with a block ```figure")
	}
	kernels := r.kernels()
	calls := r.calls()
	for _, f := range all {
		for line := range strings.Lines(f.Text) {
			line = strings.TrimSuffix(line, "\n")
			if n := utf8.RuneCountInString(line); n > figure.Columns {
				r.add(file, fmt.Sprintf("a line of figure %s has %d characters: %s", f.Name, n, line),
					fmt.Sprintf("Shorten it to %d", figure.Columns))
			}
			box := ""
			for i, p := range figure.Pieces(line) {
				if p.Class != "text" {
					box = p.Class
				}
				for _, name := range strings.Split(p.Text, ", ") {
					identifier := !strings.ContainsFunc(name, func(c rune) bool { return !unicode.IsLetter(c) }) && len(name) > 2
					_, kernel := kernels[name]
					switch {
					case !identifier || i == 0 && p.Class == "text" || p.Class == "text" && box == "":
					case (p.Class == "work" || p.Class == "text" && box == "work") && !kernel:
						r.add(file, fmt.Sprintf("figure %s names a kernel %s, and there is none", f.Name, name), "Correct the name")
					case p.Class == "text" && unicode.IsUpper(rune(name[0])) && !slices.Contains(calls, name):
						r.add(file, fmt.Sprintf("figure %s names a call %s, and package cuda has none", f.Name, name), "Correct the name")
					}
				}
			}
		}
	}
}

var function = regexp.MustCompile(`(?m)^func (\w+)[\[(]`)

// calls are the functions of package cuda.
func (r *review) calls() (names []string) {
	files, _ := fs.Glob(r.course, "native/cuda/*.go")
	for _, file := range files {
		text, err := fs.ReadFile(r.course, file)
		if err != nil || strings.HasSuffix(path.Base(file), "_test.go") {
			continue
		}
		for _, m := range function.FindAllStringSubmatch(string(text), -1) {
			names = append(names, m[1])
		}
	}
	return names
}
