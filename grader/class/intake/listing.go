package intake

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

type kind int

const (
	regular kind = iota
	folder
	special // links, devices, pipes
)

// entry is one thing in a folder or an archive.
type entry struct {
	path    string // with slashes, relative to the listing's root
	from    string // the same in SUBMISSIONS, whatever the listing: what is in an archive lies below its name
	kind    kind
	size    int64 // in bytes, unpacked; 0 for a file in a folder, whose size is known once it is read
	nesting int   // how many archives are around it within the submission
	// load returns the content of a regular file, up to a limit in bytes. Its error is a fault.
	load    func(limit int64) ([]byte, error)
	open    func() (*os.File, error) // of a file of this machine's disk; nil for others
	renamed bool                     // the name in the archive was not UTF-8
	fault   fault                    // why whatever holds this entry cannot be used
}

// listing is everything in a folder or an archive, but for what ignored names.
type listing []entry

// gitFolder is what a clone has at its root. It is listed, but not what is in it.
const gitFolder = ".git"

// ignored reports whether a name is that of a file or folder that programs leave behind, and in which nobody hands in
// anything.
func ignored(name string) bool {
	switch name {
	case "__MACOSX", "__pycache__", "node_modules", "Thumbs.db", "desktop.ini", ".DS_Store", ".AppleDouble",
		".Spotlight-V100", ".fseventsd", ".git", ".gitignore", ".gitattributes", ".gitkeep", ".github", ".svn", ".hg",
		".idea", ".vscode", ".vs", ".history", ".cache", ".venv":
		return true
	}
	return strings.HasPrefix(name, "._") || strings.HasPrefix(name, ".Trash") || strings.HasPrefix(name, ".") &&
		strings.HasSuffix(name, ".swp")
}

// hidden reports whether a name, or one on the way to it, begins with a dot.
func hidden(path string) bool { return strings.HasPrefix(path, ".") || strings.Contains(path, "/.") }

// visible splits a path at its first ignored name: the path before it and that name, which is "" if there is none.
func visible(path string) (before, name string) {
	for start := 0; start <= len(path); {
		part, _, _ := strings.Cut(path[start:], "/")
		if ignored(part) {
			return strings.TrimSuffix(path[:start], "/"), part
		}
		start += len(part) + 1
	}
	return path, ""
}

// child is one thing directly in a listing's root.
type child struct {
	name   string
	folder bool
	inside listing // of a folder, with paths relative to it; of an archive, where it has been opened
	entry  entry   // of anything else
	opened bool    // an archive: it has been looked into
	done   func()  // closes it then
}

// holds reports whether there may be students' files in a child.
func (c *child) holds() bool { return c.folder || isArchive(c.name) && c.entry.kind == regular }

// children are what is in the listing's root, sorted by name.
func (l listing) children() []*child {
	byName := map[string]*child{}
	for _, e := range l {
		name, rest, deeper := strings.Cut(e.path, "/")
		if name == "" || name == gitFolder {
			continue
		}
		c := byName[name]
		if c == nil {
			c = &child{name: name}
			byName[name] = c
		}
		switch {
		case deeper || e.kind == folder:
			c.folder = true
			e.path = rest
			c.inside = append(c.inside, e)
		default:
			c.entry = e
		}
	}
	children := make([]*child, 0, len(byName))
	for _, c := range byName {
		// What is hidden is somebody's only if there is something in it that is handed in.
		if !hidden(c.name) || slices.ContainsFunc(c.inside, entry.counted) || c.entry.counted() {
			children = append(children, c)
		}
	}
	slices.SortFunc(children, func(a, b *child) int { return cmp.Compare(a.name, b.name) })
	return children
}

// under are the entries with a folder put in front of their paths.
func (l listing) under(dir string) listing {
	moved := slices.Clone(l)
	for i := range moved {
		moved[i].path = strings.TrimSuffix(dir+"/"+moved[i].path, "/")
	}
	return moved
}

// reader reads a regular file wherever it needs to. Its error is a fault, or one of this machine.
func (e entry) reader() (r io.ReaderAt, size int64, done func(), err error) {
	if e.open != nil {
		f, err := e.open()
		if err != nil {
			return nil, 0, nil, cannotRead(e.from, err)
		}
		info, err := f.Stat()
		if err != nil {
			f.Close()
			return nil, 0, nil, cannotRead(e.from, err)
		}
		return f, info.Size(), func() { f.Close() }, nil
	}
	data, err := e.load(maxPacked + 1)
	if err != nil {
		return nil, 0, nil, err
	}
	return bytes.NewReader(data), int64(len(data)), func() {}, nil
}

// fault is the first fault by path, whatever order the entries are in.
func (l listing) fault() (f fault) {
	at := ""
	for _, e := range l {
		if e.fault != "" && (f == "" || e.path < at) {
			at, f = e.path, e.fault
		}
	}
	return f
}

// cleanPath makes a path of a name in an archive. Where the fault is not "", the path is what comes before the part
// that is at fault.
func cleanPath(name string) (path string, renamed bool, f fault) {
	name, renamed = validUTF8(name)
	slashed := strings.ReplaceAll(name, `\`, "/")
	if strings.HasPrefix(slashed, "/") || len(slashed) > 1 && slashed[1] == ':' && unicode.IsLetter(rune(slashed[0])) {
		return "", renamed, faultf("The archive names a file %s, which is a place outside of it. Pack the folder anew.",
			show(name))
	}
	var parts []string
	for part := range strings.SplitSeq(slashed, "/") {
		switch {
		case part == "" || part == ".":
			continue
		case part == "..":
			f = faultf("The archive names a file %s, which leads out of it. Pack the folder anew.", show(name))
		case strings.Contains(part, "\x00"):
			f = faultf("The archive names a file %s, with a zero byte, which no system allows. Pack the folder anew.",
				show(name))
		case len(name) > maxPath:
			f = faultf("The archive names a file %s, with a path of %d bytes; %d are allowed. Hand in only the exercises' "+
				"files.",
				show(name), len(name), maxPath)
		}
		if f != "" {
			break
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, "/"), renamed, f
}

// validUTF8 writes bytes that are not UTF-8 as % and two digits, which keeps different names different.
func validUTF8(name string) (valid string, changed bool) {
	if utf8.ValidString(name) {
		return name, false
	}
	var b strings.Builder
	for i, r := range name {
		if r == utf8.RuneError && !strings.HasPrefix(name[i:], "\uFFFD") {
			fmt.Fprintf(&b, "%%%02X", name[i])
		} else {
			b.WriteRune(r)
		}
	}
	return b.String(), true
}
