package compile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// foundation is what every runner is built from beside the exercises: files, and folders with all that is below them.
// In a course outside of this repository it lies in module cudalab.
var foundation = []string{"go.mod", "go.sum", "exercises/contract", "grader/judge/runner", "grader/judge/wire",
	"grader/machine/self", "grader/suite", "kernels", "native"}

// Sources are the files that runners of these exercises are built from in the course at root, relative to it, but for
// the students' own: paths that begin with .. are module cudalab's. Tests and what only they use are none of them. The
// solutions may be missing, as they are in a handout.
func Sources(root string, packages ...string) ([]string, error) {
	parts := slices.Clone(foundation)
	for _, p := range packages {
		parts = append(parts, "grader/suites/"+p, "solutions/"+p)
	}
	if Module(root) != cudalab {
		parts = append(parts[len(foundation):], "go.mod", "go.sum", "exercises/contract", "kernels")
		files, err := collected(root, parts)
		if err != nil {
			return nil, err
		}
		theirs := Cudalab(root)
		below, err := filepath.Rel(root, theirs)
		if err != nil {
			return nil, fmt.Errorf("the course's sources: %w", err)
		}
		more, err := collected(theirs, foundation)
		for _, file := range more {
			files = append(files, path.Join(filepath.ToSlash(below), file))
		}
		return files, err
	}
	return collected(root, parts)
}

// collected are the sources below some parts of a module, relative to its root.
func collected(root string, parts []string) ([]string, error) {
	module := os.DirFS(root)
	var files []string
	for _, part := range parts {
		err := fs.WalkDir(module, part, func(file string, e fs.DirEntry, err error) error {
			switch {
			case errors.Is(err, fs.ErrNotExist) && strings.HasPrefix(part, "solutions/"):
				return nil
			case err != nil:
				return err
			case e.IsDir() && e.Name() == "testdata":
				return fs.SkipDir
			case !e.IsDir() && isSource(file):
				files = append(files, file)
			}
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("the course's sources: %w", err)
		}
	}
	return files, nil
}

func isSource(file string) bool {
	return !strings.HasSuffix(file, "_test.go") &&
		slices.Contains([]string{".go", ".s", ".ptx", ".txt", ".mod", ".sum"}, path.Ext(file))
}
