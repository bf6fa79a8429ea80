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
	"path/filepath"
	"slices"
	"strings"

	"cudalab/grader/judge/compile"
	"cudalab/grader/suites/course"
)

// roots are the packages that cudalab, the runners, students' code and the site's engine are built from; what they
// import comes with them. The site's students' code counts its steps, and a handout's cudalab carries the handout by
// the last: cudalab itself imports none of these.
var roots = []string{"./cmd/cudalab", "./exercises/contract", "./kernels", "cudalab/grader/judge/runner", compile.Steps,
	"cudalab/grader/browser/engine", "cudalab/grader/class/handout/pack"}

// modulesDir is where a handout keeps the modules that the course takes from a folder of this machine: for a course
// outside of cudalab's repository, cudalab.
const modulesDir = "modules"

// systems are what students may have: a package, or a file of it, may be there for one of them only.
var systems = []string{"linux/amd64", "linux/arm64", "windows/amd64", "darwin/arm64", "js/wasm"}

// documents are files to read that no build needs, as patterns below the course's root.
var documents = []string{"LICENSE", "go.mod", "go.sum", "kernels/*.cu", "kernels/*.h", "kernels/*/*.cu",
	"lessons/figures/*.svg", ".vscode/*.json", course.ProfileFile}

// needed are the files of the course that a handout holds, relative to its root, in order, and the files of modules
// that it takes from folders of this machine: by their path in the handout, where they are. What lies about in the
// course's folders beside them is left where it is.
func needed(ctx context.Context, c *course.Course) (own []string, borrowed map[string]string, err error) {
	root, files := c.Root, map[string]bool{}
	borrowed = map[string]string{}
	for _, system := range systems {
		packages, err := list(ctx, root, system)
		if err != nil {
			return nil, nil, err
		}
		for _, p := range packages {
			below, own := strings.CutPrefix(p.ImportPath, c.Module+"/")
			if !own {
				p.addBorrowed(borrowed)
				continue
			}
			if strings.HasPrefix(below, "solutions/") {
				return nil, nil, fmt.Errorf("cudalab itself imports %s, so that no handout can be without it", p.ImportPath)
			}
			for _, file := range slices.Concat(p.GoFiles, p.SFiles, p.EmbedFiles) {
				if full := path.Join(below, file); !showsSolution(full) {
					files[full] = true
				}
			}
		}
	}
	for _, pattern := range documents {
		found, err := fs.Glob(os.DirFS(root), pattern)
		if err != nil {
			return nil, nil, err
		}
		for _, file := range found {
			files[file] = true
		}
	}
	return slices.Sorted(maps.Keys(files)), borrowed, nil
}

// showsSolution reports whether a file shows how an exercise may be solved: a walk-through, or a test.
func showsSolution(file string) bool {
	return strings.HasSuffix(file, ".solution.md") || strings.HasSuffix(file, "_test.go") ||
		strings.Contains(file, "/testdata/")
}

// listed is what go list says of a package.
type listed struct {
	ImportPath                  string
	Dir                         string
	GoFiles, SFiles, EmbedFiles []string
	Module                      *struct {
		Path, Dir string
		Replace   *struct{ Version string }
	}
}

// addBorrowed notes the package's files where it comes from a folder of this machine; others go downloads.
func (p *listed) addBorrowed(borrowed map[string]string) {
	if p.Module == nil || p.Module.Replace == nil || p.Module.Replace.Version != "" {
		return
	}
	below := strings.TrimPrefix(p.ImportPath, p.Module.Path)
	for _, file := range slices.Concat(p.GoFiles, p.SFiles, p.EmbedFiles) {
		if full := path.Join(modulesDir, p.Module.Path, below, file); !showsSolution(full) {
			borrowed[full] = filepath.Join(p.Dir, filepath.FromSlash(file))
		}
	}
	for _, file := range []string{"go.mod", "LICENSE"} {
		if from := filepath.Join(p.Module.Dir, file); exists(from) {
			borrowed[path.Join(modulesDir, p.Module.Path, file)] = from
		}
	}
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

// borrowingMod is the course's go.mod where it takes modules from folders of this machine: in the handout they are
// below it.
func borrowingMod(ctx context.Context, root string, borrowed map[string]string) (string, error) {
	tool, env, err := compile.GoCommand(root)
	if err != nil {
		return "", err
	}
	args := []string{"mod", "edit", "-print"}
	for file := range borrowed {
		if module, ok := strings.CutSuffix(strings.TrimPrefix(file, modulesDir+"/"), "/go.mod"); ok {
			args = append(args, fmt.Sprintf("-replace=%s=./%s/%[1]s", module, modulesDir))
		}
	}
	slices.Sort(args[3:])
	cmd := exec.CommandContext(ctx, tool, args...)
	cmd.Dir, cmd.Env = root, env
	said, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("go mod edit: %w", err)
	}
	return string(said), nil
}

// list asks go which packages the roots consist of on a system.
func list(ctx context.Context, root, system string) ([]listed, error) {
	tool, env, err := compile.GoCommand(root)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, tool,
		append([]string{"list", "-deps", "-json=ImportPath,Dir,GoFiles,SFiles,EmbedFiles,Module"}, roots...)...)
	system, processor, _ := strings.Cut(system, "/")
	cmd.Dir, cmd.Env = root, append(env, "GOOS="+system, "GOARCH="+processor) // the last ones count
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
