// Package build makes what runs behind the page of the browser's edition: Go's compiler and linker, the judge and the
// packages that runners consist of, as WebAssembly. It takes Go from this machine's installation; nothing of Go's is
// kept in this repository.
package build

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"go/version"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"cudalab/grader/browser/serve"
	"cudalab/grader/judge/check"
	"cudalab/grader/judge/compile"
	"cudalab/grader/suites/course"
)

// site is one build under way.
type site struct {
	course *course.Course
	out    string // the folder that the site is in
	temp   string
	tool   string // the go command
	env    []string
	goroot string
	tell   func(step string)
}

// Steps is how many steps Write tells of.
const Steps = 5

// manifest is what the page's engine learns first. All else has a name by its content and never changes.
type manifest struct {
	Go       string            `json:"go"` // its version
	Files    map[string]*file  `json:"files"`
	Scripts  map[string]string `json:"scripts"`  // what workers are put together from
	Packages []string          `json:"packages"` // import paths of those in the bundle
	Lang     string            `json:"lang"`     // of Go, in which the course is written
	Debug    string            `json:"debug"`    // what go build sets for the runtime of a program of the course's
}

// file is where a file is, and its sizes in bytes: as it is, and as its compressed copies are, URL.br and URL.gz.
type file struct {
	URL    string `json:"url"`
	Size   int    `json:"size"`
	Brotli int    `json:"br"`
	Gzip   int    `json:"gz"`
}

// Write writes the engine of a course's site into a folder. Scripts are the texts of grader/browser/site/engine, by
// name. What the folder has of an earlier build and this one does not need is deleted. Tell is called with what comes
// next at the beginning of each step.
func Write(ctx context.Context, c *course.Course, out string, scripts map[string]string, tell func(string)) error {
	temp, err := os.MkdirTemp("", "cudalab-browser-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	s := &site{course: c, out: out, temp: temp, tell: tell}
	if s.tool, s.env, err = compile.GoCommand(c.Root); err != nil {
		return err
	}
	m := manifest{Files: map[string]*file{}, Scripts: map[string]string{}}
	said, err := s.ask(ctx, "env", "GOROOT", "GOVERSION")
	if err != nil {
		return err
	}
	s.goroot, m.Go, _ = strings.Cut(said, "\n")
	if err := s.engine(ctx, &m, scripts); err != nil {
		return err
	}
	s.tell("compressed copies")
	if err := s.compress(ctx, m); err != nil {
		return err
	}
	text, err := json.Marshal(m)
	if err != nil {
		return err
	}
	if err := s.tidy(m); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(out, "manifest.json"), text, 0o644)
}

// folder is where in the site all files but the manifest are.
const folder = "engine"

func (s *site) engine(ctx context.Context, m *manifest, scripts map[string]string) error {
	if err := os.MkdirAll(filepath.Join(s.out, folder), 0o755); err != nil {
		return err
	}
	s.tell("the judge")
	judge := filepath.Join(s.temp, "judge.wasm")
	if _, err := s.ask(ctx, "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", judge,
		"cudalab/grader/browser/engine"); err != nil {
		return err
	}
	modules := map[string]string{"judge": judge}
	for _, name := range []string{"compile", "link"} {
		s.tell("Go's tool " + name + ", for browsers")
		var err error
		if modules[name], err = s.goTool(ctx, name); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(modules)) {
		text, err := os.ReadFile(modules[name])
		if err == nil {
			m.Files[name], err = s.put(name, ".wasm", text)
		}
		if err != nil {
			return err
		}
	}
	s.tell("the packages that checks are linked from")
	if err := s.packages(ctx, m); err != nil {
		return err
	}
	tree, err := s.tree()
	if err != nil {
		return err
	}
	if m.Files["course"], err = s.put("course", ".bin", tree); err != nil {
		return err
	}
	exec, err := os.ReadFile(filepath.Join(s.goroot, "lib", "wasm", "wasm_exec.js"))
	if err != nil {
		return err
	}
	scripts = maps.Clone(scripts)
	scripts["wasm_exec"] = string(exec)
	for name, text := range scripts {
		f, err := s.put(name, ".js", []byte(text))
		if err != nil {
			return err
		}
		m.Scripts[name] = f.URL
	}
	license, err := os.ReadFile(filepath.Join(s.goroot, "LICENSE"))
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(s.out, folder, "GO-LICENSE.txt"), license, 0o644)
}

// packages bundles everything that a runner consists of but the student's code, compiled: what all have in common, and
// what one exercise's has beside that.
func (s *site) packages(ctx context.Context, m *manifest) error {
	var err error
	if m.Debug, err = s.ask(ctx, "list", "-f", "{{.DefaultGODEBUG}}", "cudalab/cmd/cudalab"); err != nil {
		return err
	}
	lang, err := s.ask(ctx, "list", "-m", "-f", "{{.GoVersion}}")
	if err != nil {
		return err
	}
	m.Lang = version.Lang("go" + lang)
	needed := append(check.Packages(s.course.Root, s.course.Exercises), compile.Steps)
	overlay, err := s.stepwise()
	if err != nil {
		return err
	}
	// Without what debuggers want the archives are a tenth smaller.
	listed, err := s.ask(ctx, append([]string{"list", "-export", "-deps", "-trimpath", "-gcflags=all=-dwarf=false",
		"-overlay", overlay, "-f", "{{with .Export}}{{$.ImportPath}}={{.}}{{end}}"}, needed...)...)
	if err != nil {
		return err
	}
	all := map[string]*bundle{"packages": {}}
	for line := range strings.Lines(listed) {
		name, archive, ok := strings.Cut(strings.TrimSpace(line), "=")
		if !ok {
			continue
		}
		text, err := os.ReadFile(archive)
		if err != nil {
			return err
		}
		m.Packages = append(m.Packages, name)
		if !slices.Contains(needed, name) { // nothing that is compiled in the browser imports it
			text = forLinker(text)
		}
		of := "packages"
		for _, e := range s.course.Exercises {
			if name == s.course.Module+"/grader/suites/"+e.Package || name == s.course.Module+"/solutions/"+e.Package {
				of = "lesson-" + e.Package
			}
		}
		if all[of] == nil {
			all[of] = &bundle{}
		}
		all[of].add(name, text)
	}
	for _, of := range slices.Sorted(maps.Keys(all)) {
		text, err := all[of].bytes()
		if err != nil {
			return err
		}
		if m.Files[of], err = s.put(of, ".bin", text); err != nil {
			return err
		}
	}
	return nil
}

// stepwise writes the overlay in which the solutions count their steps, as the code under test does: the two are raced.
func (s *site) stepwise() (overlay string, err error) {
	replace := map[string]string{}
	for _, e := range s.course.Exercises {
		files, err := filepath.Glob(filepath.Join(s.course.Root, e.SolutionFolder(), "*.go"))
		if err != nil {
			return "", err
		}
		for _, f := range files {
			text, err := os.ReadFile(f)
			if err != nil {
				return "", err
			}
			made := filepath.Join(s.temp, e.Package+"-"+filepath.Base(f))
			replace[f] = made
			if err := os.WriteFile(made, compile.Stepwise(text), 0o600); err != nil {
				return "", err
			}
		}
	}
	return s.overlay("stepwise.json", replace)
}

// overlay writes what has go build take other files for some.
func (s *site) overlay(name string, replace map[string]string) (file string, err error) {
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	file = filepath.Join(s.temp, name)
	return file, os.WriteFile(file, text, 0o600)
}

// tree bundles the files of the course that the judge looks at, and the list of lessons.
func (s *site) tree() ([]byte, error) {
	b := bundle{}
	take := func(pattern string) error {
		files, err := filepath.Glob(filepath.Join(s.course.Root, filepath.FromSlash(pattern)))
		for _, f := range files {
			if strings.HasSuffix(f, "_test.go") {
				continue
			}
			text, err := os.ReadFile(f)
			if err != nil {
				return err
			}
			name, err := filepath.Rel(s.course.Root, f)
			if err != nil {
				return err
			}
			b.add(filepath.ToSlash(name), text)
		}
		return err
	}
	for _, pattern := range []string{"go.mod", "exercises/contract/*.go", "native/cuda/*.go", "kernels/*.go",
		"solutions/*/*.go"} {
		if err := take(pattern); err != nil {
			return nil, err
		}
	}
	type lesson struct {
		Name    string            `json:"name"`
		Package string            `json:"package"`
		Title   string            `json:"title"`
		Number  int               `json:"number"`
		Points  map[string]int    `json:"points"`
		Files   map[string]string `json:"files"`
	}
	var lessons []lesson
	for i, e := range s.course.Exercises {
		skeleton, err := e.Skeleton()
		if err != nil {
			return nil, err
		}
		name := e.Package + ".go"
		b.add("exercises/"+e.Package+"/"+name, skeleton)
		lessons = append(lessons, lesson{e.Name, e.Package, e.Title, i + 1, e.Points,
			map[string]string{name: string(skeleton)}})
	}
	text, err := json.Marshal(lessons)
	if err != nil {
		return nil, err
	}
	b.add("lessons.json", text)
	return b.bytes()
}

// put writes a file of the site under a name that its content gives it.
func (s *site) put(name, ending string, text []byte) (*file, error) {
	sum := sha256.Sum256(text)
	f := &file{URL: folder + "/" + name + "-" + hex.EncodeToString(sum[:8]) + ending, Size: len(text)}
	path := s.path(f.URL)
	if known, err := os.Stat(path); err == nil && known.Size() == int64(len(text)) {
		return f, nil
	}
	return f, os.WriteFile(path, text, 0o644)
}

// path is where a file of the site is on this machine.
func (s *site) path(url string) string { return filepath.Join(s.out, filepath.FromSlash(url)) }

// compress writes the compressed copies of the manifest's files, and notes their sizes.
func (s *site) compress(ctx context.Context, m manifest) error {
	var files []string
	for _, name := range slices.Sorted(maps.Keys(m.Files)) {
		files = append(files, s.path(m.Files[name].URL))
	}
	if err := serve.Compress(ctx, files); err != nil {
		return err
	}
	for _, f := range m.Files {
		for ending, size := range map[string]*int{".br": &f.Brotli, ".gz": &f.Gzip} {
			made, err := os.Stat(s.path(f.URL) + ending)
			if err != nil {
				return err
			}
			*size = int(made.Size())
		}
	}
	return nil
}

// tidy deletes what an earlier build has left.
func (s *site) tidy(m manifest) error {
	needed := map[string]bool{"GO-LICENSE.txt": true}
	for _, f := range m.Files {
		needed[filepath.Base(f.URL)] = true
	}
	for _, url := range m.Scripts {
		needed[filepath.Base(url)] = true
	}
	entries, err := os.ReadDir(filepath.Join(s.out, folder))
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !needed[strings.TrimSuffix(strings.TrimSuffix(e.Name(), ".br"), ".gz")] {
			if err := os.Remove(filepath.Join(s.out, folder, e.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

// ask runs the go command for the browser's platform, and answers what it said.
func (s *site) ask(ctx context.Context, args ...string) (said string, err error) {
	cmd := exec.CommandContext(ctx, s.tool, args...)
	cmd.Dir = s.course.Root
	cmd.Env = append(slices.Clone(s.env), "GOOS=js", "GOARCH=wasm")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("go %s: %w\n%s", args[0], err, bytes.TrimSpace(stderr.Bytes()))
	}
	return strings.TrimSpace(string(out)), nil
}
