package intake

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// walker lists a folder of this machine's disk.
type walker struct {
	root *os.Root
	list listing
}

// listFolder lists what is below a folder. A subfolder with too much in it, or which cannot be read, is an entry with a
// fault. The error is about the folder itself.
func listFolder(root *os.Root) (listing, error) {
	w := walker{root: root}
	dir := ""
	entries, err := w.readDir(dir, maxSubmissions)
	if err != nil {
		return nil, err
	}
	// Folders that hold a single folder are wrapping: the bounds on a submission count from below them.
	for len(entries) == 1 && entries[0].IsDir() {
		inner := path.Join(dir, entries[0].Name())
		below, err := w.readDir(inner, maxSubmissions)
		if err != nil || len(inner) > maxPath {
			break
		}
		w.list = append(w.list, entry{path: inner, from: inner, kind: folder})
		dir, entries = inner, below
	}
	for _, e := range entries {
		left := maxListed
		w.add(dir, e, &left)
		if len(w.list) > maxClassEntries {
			return nil, tooManyEntries("The folder", maxClassEntries)
		}
	}
	return w.list, nil
}

// readDir are the entries of a folder that are not ignored, sorted by name, but for .git, which it lists.
func (w *walker) readDir(dir string, limit int) ([]fs.DirEntry, error) {
	f, err := w.root.Open(filepath.FromSlash(path.Join(".", dir)))
	if err != nil {
		return nil, cannotRead(dir, err)
	}
	defer f.Close()
	what := "The submission"
	if dir == "" {
		what = "The folder"
	}
	var kept []fs.DirEntry
	for {
		some, err := f.ReadDir(256)
		for _, e := range some {
			if e.Name() == gitFolder {
				git := path.Join(dir, gitFolder)
				w.list = append(w.list, entry{path: git, from: git, kind: folder})
			}
			if !ignored(e.Name()) {
				kept = append(kept, e)
			}
		}
		switch {
		case errors.Is(err, io.EOF):
			slices.SortFunc(kept, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
			return kept, nil
		case err != nil:
			return nil, cannotRead(dir, err)
		case len(kept) > limit:
			return nil, tooManyEntries(what, maxListed)
		}
	}
}

func (w *walker) add(dir string, d fs.DirEntry, left *int) {
	e := entry{path: path.Join(dir, d.Name())}
	e.from = e.path
	if *left--; *left < 0 {
		return
	}
	switch {
	case d.IsDir():
		e.kind = folder
		if len(e.path) > maxPath {
			e.fault = faultf("The folders are nested so deeply that a path has more than %d bytes. Hand in only the exercises' "+
				"files.", maxPath)
			w.list = append(w.list, e)
			return
		}
		w.list = append(w.list, e)
		w.below(e.path, left)
		return
	case d.Type().IsRegular():
		name := e.path
		e.load = func(limit int64) ([]byte, error) { return readFile(w.root, name, limit) }
		e.open = func() (*os.File, error) { return openFile(w.root, name) }
	default:
		e.kind = special
	}
	w.list = append(w.list, e)
}

func (w *walker) below(dir string, left *int) {
	entries, err := w.readDir(dir, *left)
	if err == nil {
		for _, d := range entries {
			w.add(dir, d, left)
		}
		if *left < 0 {
			err = tooManyEntries("The submission", maxListed)
		}
	}
	var f fault
	if errors.As(err, &f) {
		w.list = append(w.list, entry{path: dir, from: dir, kind: folder, fault: f})
	}
}

func cannotRead(path string, err error) fault {
	var wrapped *fs.PathError
	if errors.As(err, &wrapped) {
		err = wrapped.Err
	}
	if path == "" {
		path = "The folder"
	}
	return faultf("%s cannot be read: %v. Make sure that you may read it, and that it is whole.", show(path), err)
}

// changed is the fault of a file that is not any more what was listed.
func changed(name string) fault {
	return faultf("%s changed while it was read. Wait until nothing writes to the submissions, and grade this one again.",
		show(name))
}

// openFile opens a file, and makes sure that it is the one that was listed.
func openFile(root *os.Root, name string) (*os.File, error) {
	local := filepath.FromSlash(name)
	listed, err := root.Lstat(local)
	if err != nil {
		return nil, cannotRead(name, err)
	}
	if !listed.Mode().IsRegular() {
		return nil, changed(name)
	}
	f, err := root.Open(local)
	if err != nil {
		return nil, cannotRead(name, err)
	}
	opened, err := f.Stat()
	switch {
	case err != nil:
		f.Close()
		return nil, cannotRead(name, err)
	case !os.SameFile(listed, opened):
		f.Close()
		return nil, changed(name)
	}
	return f, nil
}

// readFile reads a file up to a limit, and makes sure that nothing writes to it meanwhile.
func readFile(root *os.Root, name string, limit int64) ([]byte, error) {
	f, err := openFile(root, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	before, err := f.Stat()
	if err != nil {
		return nil, cannotRead(name, err)
	}
	text, err := io.ReadAll(io.LimitReader(f, limit))
	if err != nil {
		return nil, cannotRead(name, err)
	}
	after, err := f.Stat()
	if err != nil {
		return nil, cannotRead(name, err)
	}
	if after.Size() != before.Size() || !after.ModTime().Equal(before.ModTime()) || int64(len(text)) != min(limit,
		after.Size()) {
		return nil, changed(name)
	}
	return text, nil
}

// show writes a name from outside so that it can neither fill nor confuse a message.
func show(name string) string {
	name, _ = validUTF8(name)
	if runes := []rune(name); len(runes) > 100 {
		name = string(runes[:60]) + "…" + string(runes[len(runes)-39:])
	}
	if name == "" || strings.IndexFunc(name, func(r rune) bool { return !printable(r) }) >= 0 {
		return fmt.Sprintf("%q", name)
	}
	return name
}
