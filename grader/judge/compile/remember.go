package compile

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"os"
	"path/filepath"

	"cudalab/grader/machine/lock"
)

// kept is what a file keeps of a Precompiled.
type kept struct {
	Tools, Lang, Debug, Flag, Archives, Root, State string
	Settings, Folders                               []string
}

// Recall is Precompile for a program that builds once and ends: it takes what such a program has left in the user's
// cache folder, if that is still true, and else precompiles and leaves it there for the next. To ask go build takes as
// long as to link, and nothing but a student's code has changed since the last time. Its error says, as Precompile's,
// that go build itself is better left to build.
func Recall(ctx context.Context, c Course, exercises ...Exercise) (*Precompiled, error) {
	c, err := complete(c, exercises)
	if err != nil {
		return nil, err
	}
	tool, err := goTool(c)
	if err != nil {
		return nil, err
	}
	folder, err := cacheFolder(c.Root)
	if err != nil {
		return nil, err // to ask each time would take longer than go build
	}
	memory := filepath.Join(folder, "packages-"+cache(tool, "", exercises))
	if p := remember(memory, c.Root); p != nil {
		return p, nil
	}
	defer tell(c.Preparing)()
	c.Preparing = nil
	// Whoever comes while another compiles would compile the same once more beside it.
	release, err := lock.Acquire(ctx, filepath.Join(folder, compiling))
	if err != nil {
		return nil, err
	}
	defer release()
	if p := remember(memory, c.Root); p != nil {
		return p, nil
	}
	p, err := Precompile(ctx, c, exercises...)
	if err == nil {
		p.keep(memory)
	}
	return p, err
}

// remember is what a file keeps, where it is fresh and all of it is there; else nil.
func remember(memory, root string) *Precompiled {
	text, err := os.ReadFile(memory)
	if err != nil {
		return nil
	}
	var r kept
	if json.Unmarshal(text, &r) != nil || r.Root != root || r.Flag != archiveFlag {
		return nil
	}
	p := &Precompiled{tools: r.Tools, lang: r.Lang, debug: r.Debug, archives: r.Archives, root: r.Root, state: r.State,
		settings: r.Settings, folders: r.Folders, memory: memory, limits: map[[sha256.Size]byte]*CompileError{}}
	if !p.Fresh() || !p.whole() {
		return nil
	}
	return p
}

// keep writes it to a file. Where it cannot, the next build finds out anew.
func (p *Precompiled) keep(memory string) {
	text, err := json.Marshal(kept{Tools: p.tools, Lang: p.lang, Debug: p.debug, Flag: archiveFlag, Archives: p.archives,
		Root:  p.root,
		State: p.state, Settings: p.settings, Folders: p.folders})
	if err != nil {
		return
	}
	f, err := os.CreateTemp(filepath.Dir(memory), "new-")
	if err != nil {
		return
	}
	_, err = f.Write(text)
	if f.Close() == nil && err == nil && os.Rename(f.Name(), memory) == nil {
		p.memory = memory
		return
	}
	os.Remove(f.Name())
}

// forget has the next Recall find out anew: something was not as it is remembered.
func (p *Precompiled) forget() {
	if p != nil && p.memory != "" {
		os.Remove(p.memory)
	}
}
