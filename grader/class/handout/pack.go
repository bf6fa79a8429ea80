package handout

import (
	"bytes"
	"context"
	_ "embed"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"cudalab/grader/desk/parcel"
	"cudalab/grader/judge/compile"
	"cudalab/lessons"
)

// begun is the README of a course that `cudalab init` has written.
//
//go:embed begun.md
var begun []byte

// packed are the files of a parcel beside those that checks are built from, as patterns below the course's root. What
// is read there is the chapters: hints come one at a time, from the program.
var packed = append(slices.Clone(documents), "lessons/*.md", "kernels/build.sh")

// Pack is the course at root as a program carries it: what students work in, what checks are built from, and the
// modules that this takes, so that no network is needed. A handout's has no solutions.
func Pack(ctx context.Context, root string) (*parcel.Parcel, error) {
	if module := compile.Module(root); module != "cudalab" {
		return nil, usagef("Only cudalab's own course can be packed, and this is module %s.", module)
	}
	exercises, err := lessons.Read(os.DirFS(filepath.Join(root, "lessons")))
	if err != nil {
		return nil, err
	}
	p := &parcel.Parcel{Files: map[string][]byte{}, Release: parcel.Release{
		Module: "cudalab", Version: lessons.Version(os.DirFS(filepath.Join(root, "lessons"))), Handout: true}}
	var packages []string
	for _, e := range exercises {
		packages = append(packages, e.Package)
		carried := parcel.Exercise{Name: e.Name, Package: e.Package, Formerly: e.Formerly}
		p.Exercises = append(p.Exercises, carried)
		skeleton, err := e.Skeleton()
		if err != nil {
			return nil, err
		}
		p.Files[carried.File()] = skeleton
	}
	files, err := compile.Sources(root, packages...)
	if err != nil {
		return nil, err
	}
	for _, pattern := range packed {
		found, err := fs.Glob(os.DirFS(root), pattern)
		if err != nil {
			return nil, err
		}
		files = append(files, found...)
	}
	for _, file := range files {
		if strings.HasSuffix(file, ".hints.md") {
			continue
		}
		p.Handout = p.Handout && !parcel.Solves(file)
		if p.Files[file], err = os.ReadFile(filepath.Join(root, filepath.FromSlash(file))); err != nil {
			return nil, err
		}
	}
	if !p.Handout {
		p.Commit = commit(ctx, root)
	}
	adapt(p.Files)
	return p, vendor(ctx, root, p.Files)
}

// adapt gives the course what it has in the place of the repository's: cudalab lies elsewhere, in PATH.
func adapt(files map[string][]byte) {
	const tasks = ".vscode/tasks.json"
	files[tasks] = []byte(strings.NewReplacer("${workspaceFolder}/bin/", "", `${workspaceFolder}\\bin\\`, "").
		Replace(string(files[tasks])))
	files["README.md"] = begun
	files[".gitignore"] = []byte("/.cudalab/*\n!/" + parcel.RecordFile + "\n")
}

// vendor adds the modules that the files need, and leaves the others out of their go.mod.
func vendor(ctx context.Context, root string, files map[string][]byte) error {
	tool, env, err := compile.GoCommand(root)
	if err != nil {
		return err
	}
	temp, err := os.MkdirTemp("", "cudalab-pack-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	for file, text := range files {
		if err := put(filepath.Join(temp, filepath.FromSlash(file)), text); err != nil {
			return err
		}
	}
	run := func(args ...string) (string, error) {
		cmd := exec.CommandContext(ctx, tool, args...)
		cmd.Dir, cmd.Env = temp, append(env, "GOFLAGS=-mod=mod") // the last one counts
		var complaint bytes.Buffer
		cmd.Stderr = &complaint
		said, err := cmd.Output()
		if err != nil {
			err = fmt.Errorf("go %s: %w\n%s", strings.Join(args[:2], " "), err, complaint.Bytes())
		}
		return string(said), err
	}
	imported, err := run("list", "-deps", "-f", "{{with .Module}}{{.Path}}{{end}}", "./...")
	if err != nil {
		return err
	}
	required, err := run("list", "-m", "-f", "{{if not .Main}}{{.Path}}{{end}}", "all")
	if err != nil {
		return err
	}
	edit := []string{"mod", "edit"}
	for module := range strings.FieldsSeq(required) {
		if !slices.Contains(strings.Fields(imported), module) {
			edit = append(edit, "-droprequire="+module)
		}
	}
	if _, err := run(edit...); err != nil {
		return err
	}
	if _, err := run("mod", "vendor"); err != nil {
		return err
	}
	return fs.WalkDir(os.DirFS(temp), ".", func(file string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || file != "go.mod" && !strings.HasPrefix(file, "vendor/") {
			return err
		}
		files[file], err = os.ReadFile(filepath.Join(temp, filepath.FromSlash(file)))
		return err
	})
}

// commit is the repository's that root is the top of, marked where files have changed since; "" where it is none.
func commit(ctx context.Context, root string) string {
	git := func(args ...string) string {
		said, _ := exec.CommandContext(ctx, "git", append([]string{"-C", root}, args...)...).Output()
		return strings.TrimSpace(string(said))
	}
	if git("rev-parse", "--show-prefix") != "" {
		return "" // the course lies in somebody's repository
	}
	return git("describe", "--always", "--dirty", "--exclude=*", "--abbrev=12")
}
