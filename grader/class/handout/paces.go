package handout

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"

	"cudalab/grader/judge/check"
	"cudalab/grader/suites/course"
)

// paces are the texts of the paces.txt files for a course with a profile of its own. What the solutions take beside the
// baselines on its simulated device is in no file of the course, so they are raced there. A handout of a handout has
// the paces already.
func paces(ctx context.Context, c *course.Course, files []string) (map[string]string, error) {
	f, err := course.Profile(c.Root)
	if err != nil {
		return nil, usagef("%v, or delete the file to have the built-in profile.", err)
	}
	changed := map[string]string{}
	for _, e := range c.Exercises {
		file := path.Join("grader/suites", e.Package, "paces.txt")
		if f == nil || !slices.Contains(files, file) || !e.HasSolution(c.Root) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(c.Root, filepath.FromSlash(file)))
		if err != nil {
			return nil, err
		}
		if changed[file], err = check.Paces(ctx, c.Root, e, &f.Profile, string(text)); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
	}
	return changed, nil
}
