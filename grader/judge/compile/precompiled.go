package compile

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"go/version"
	"hash/fnv"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// Precompiled is all that a runner of a course consists of but the exercises, compiled. With it a build runs the
// compiler and the linker alone: go build would load some hundred packages before, each time, to find that they have
// not changed, and hash what comes out. That makes a third more of work (a runner of six exercises on two cores: 0.93 s
// of CPU time instead of 0.67). Whoever builds many runners of one course makes one; a check takes what the check
// before it has left: see Recall.
type Precompiled struct {
	tools    string   // the folder of Go's compiler and linker
	settings []string // of Go's, as variables of the environment
	lang     string   // the version of Go that the course is written in
	debug    string   // what go build sets for the runtime of a program in the course's module
	archives string   // for an importcfg: a line for every package
	root     string
	folders  []string // of the packages that are not Go's own
	state    string   // of the files in them; see look

	memory string // the file that it is remembered in, if it is

	mu     sync.Mutex
	limits map[[sha256.Size]byte]*CompileError // that code has run into; by its digest
}

// Precompile has go build's cache filled with the packages of these exercises, and looks up where they are. They
// have to stay as they are for as long as the Precompiled is in use; Fresh tells. Its error says that go build
// itself is better left to build.
func Precompile(ctx context.Context, c Course, exercises ...Exercise) (*Precompiled, error) {
	c, err := complete(c, exercises)
	if err != nil {
		return nil, err
	}
	tool, err := goTool(c)
	if err != nil {
		return nil, err
	}
	ask := func(args ...string) (string, error) {
		cmd := exec.CommandContext(ctx, tool, args...)
		cmd.Dir, cmd.Env = c.Root, environment("")
		said, err := cmd.Output()
		return strings.TrimSpace(string(said)), err
	}
	temp, err := os.MkdirTemp("", "cudalab-precompile-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(temp)
	defer tell(c.Preparing)()
	a := newAPI(c.Root)
	p := &Precompiled{lang: version.Lang("go" + goNeeded(c.Root)), limits: map[[sha256.Size]byte]*CompileError{}}
	settings := []string{"GOTOOLDIR", "GOAMD64", "GOARM64"}
	said, err := ask(append([]string{"env"}, settings...)...)
	values := strings.Split(said+"\n\n", "\n") // an empty one at the end is cut off
	if err != nil || values[0] == "" {
		return nil, fmt.Errorf("go env: %w", err)
	}
	p.tools, p.settings = values[0], []string{"GOROOT="} // -trimpath has go build hide where Go is
	for i, name := range settings[1:] {
		p.settings = append(p.settings, name+"="+values[1+i])
	}
	main := filepath.Join(temp, "main.go")
	if err := os.WriteFile(main, []byte("package main\n"), 0o600); err != nil {
		return nil, err
	}
	if p.debug, err = ask("list", "-f", "{{.DefaultGODEBUG}}", main); err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	began := time.Now()
	list := []string{"list", "-export", "-deps", "-trimpath", archiveFlag, "-f",
		"{{with .Export}}packagefile {{$.ImportPath}}={{.}}{{end}}{{if not .Standard}}\n" + folderMark + "{{.Dir}}{{end}}"}
	if p.archives, err = ask(append(list, a.packages(exercises)...)...); err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	p.root = c.Root
	for line := range strings.Lines(p.archives) {
		if folder, ok := strings.CutPrefix(strings.TrimSpace(line), folderMark); ok {
			p.folders = append(p.folders, folder)
		}
	}
	var changed time.Time
	if p.state, changed = p.look(); changed.After(began) {
		return nil, errors.New("the course was changed while it was compiled")
	}
	return p, nil
}

// folderMark begins the line of a package's folder; to an importcfg it is a comment.
const folderMark = "# "

// Archives are the files that the packages are compiled to, by import path.
func (p *Precompiled) Archives() map[string]string {
	files := map[string]string{}
	for line := range strings.Lines(p.archives) {
		if listed, ok := strings.CutPrefix(strings.TrimSpace(line), "packagefile "); ok {
			path, file, _ := strings.Cut(listed, "=")
			files[path] = file
		}
	}
	return files
}

// Fresh reports whether the files that it was made of are those of that time: so they are, by their names, sizes and
// times.
func (p *Precompiled) Fresh() bool {
	state, _ := p.look()
	return state == p.state
}

// look is a digest of what there is of the course's own packages, and when any of it was changed last.
func (p *Precompiled) look() (state string, changed time.Time) {
	h := fnv.New64a()
	note := func(info fs.FileInfo, err error) {
		if err != nil || info.IsDir() || strings.HasSuffix(info.Name(), "_test.go") {
			return
		}
		fmt.Fprintln(h, info.Name(), info.Size(), info.ModTime().UnixNano())
		if info.ModTime().After(changed) {
			changed = info.ModTime()
		}
	}
	for _, name := range []string{"go.mod", "go.sum"} {
		note(os.Stat(filepath.Join(p.root, name)))
	}
	for _, folder := range p.folders {
		fmt.Fprintln(h, folder)
		entries, _ := os.ReadDir(folder) // one that is gone has none
		for _, e := range entries {
			note(e.Info())
		}
	}
	return fmt.Sprint(h.Sum64()), changed
}

// whole reports whether everything that was compiled is still there: Go's cache can be emptied at any time.
// What a page has brought stays.
func (p *Precompiled) whole() bool {
	if !hasGo {
		return true
	}
	for _, file := range p.Archives() {
		if _, err := os.Stat(file); err != nil {
			return false
		}
	}
	return true
}
