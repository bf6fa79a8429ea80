package handout

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"

	"cudalab/grader/build"
	"cudalab/grader/course"
)

// module is the course's module path.
const module = "cudalab"

// roots are the packages that cudalab and the runners are built from; what they import comes with them.
var roots = []string{"./cmd/cudalab", "./grader/runner"}

// systems are what students may have: a package may be there for one of them only.
var systems = []string{"linux", "windows", "darwin"}

// documents are files to read that no build needs, as patterns below the course's root.
var documents = []string{"LICENSE", "go.mod", "go.sum", "kernels/*.cu", "kernels/*.h", "kernels/*/*.cu", course.ProfileFile}

// needed are the files of the course that a handout holds, relative to its root, in order. What lies about in the
// course's folders beside them is left where it is.
func needed(ctx context.Context, root string) ([]string, error) {
	files := map[string]bool{}
	for _, system := range systems {
		packages, err := list(ctx, root, system)
		if err != nil {
			return nil, err
		}
		for _, p := range packages {
			below, own := strings.CutPrefix(p.ImportPath, module+"/")
			if !own {
				continue // the standard library's, or another module's
			}
			if strings.HasPrefix(below, "solutions/") {
				return nil, fmt.Errorf("cudalab itself imports %s, so that no handout can be without it", p.ImportPath)
			}
			for _, file := range slices.Concat(p.GoFiles, p.SFiles, p.EmbedFiles) {
				if full := path.Join(below, file); !tells(full) {
					files[full] = true
				}
			}
		}
	}
	for _, pattern := range documents {
		found, err := fs.Glob(os.DirFS(root), pattern)
		if err != nil {
			return nil, err
		}
		for _, file := range found {
			files[file] = true
		}
	}
	return slices.Sorted(maps.Keys(files)), nil
}

// tells reports whether a file shows how an exercise may be solved: a walk-through, or a test.
func tells(file string) bool {
	return strings.HasSuffix(file, ".solution.md") || strings.HasSuffix(file, "_test.go") || strings.Contains(file, "/testdata/")
}

// listed is what go list says of a package.
type listed struct {
	ImportPath                  string
	GoFiles, SFiles, EmbedFiles []string
}

// list asks go which packages the roots consist of on a system.
func list(ctx context.Context, root, system string) ([]listed, error) {
	tool, env, err := build.GoCommand(root)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, tool, append([]string{"list", "-deps", "-json=ImportPath,GoFiles,SFiles,EmbedFiles"}, roots...)...)
	cmd.Dir, cmd.Env = root, append(env, "GOOS="+system) // the last one counts
	var complaint bytes.Buffer
	cmd.Stderr = &complaint
	said, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list could not say what cudalab is built from: %w\n%s", err, complaint.Bytes())
	}
	var all []listed
	for d := json.NewDecoder(bytes.NewReader(said)); ; {
		var p listed
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, fmt.Errorf("go list could not be understood: %w", err)
		}
		all = append(all, p)
	}
}
