package handout

import (
	"os"
	"path"
	"path/filepath"
	"regexp"

	"cudalab/grader/suites/course"
)

// item is an item of a list in Markdown, with the lines that it goes on in.
var item = regexp.MustCompile(`(?m)^(- |\d+\. ).*\n(?: +.*\n)*`)

// pointsToSolution is how texts of the course send readers to the solutions.
var pointsToSolution = regexp.MustCompile("\\bsolutions/|\\.solution\\.md|`cudalab solution")

// chapters are the texts of those of the files that send readers to the solutions, without the items that do.
func chapters(c *course.Course, files []string) (map[string]string, error) {
	changed := map[string]string{}
	for _, file := range files {
		if path.Ext(file) != ".md" {
			continue
		}
		text, err := os.ReadFile(filepath.Join(c.Root, filepath.FromSlash(file)))
		if err != nil {
			return nil, err
		}
		if pointsToSolution.Match(text) {
			changed[file] = item.ReplaceAllStringFunc(string(text), func(item string) string {
				if pointsToSolution.MatchString(item) {
					return ""
				}
				return item
			})
		}
	}
	return changed, nil
}
