package build

import (
	"bytes"
	"fmt"
	"strconv"
)

// An archive of the compiler's begins with what importers read, behind a header of its own; the linker reads that
// header and the rest. (cmd/internal/archive and cmd/link/internal/ld, Go 1.26.)
const (
	archiveMark = "!<arch>\n"
	entryHeader = 60 // bytes: name 16, date 12, owner 6, group 6, mode 8, size 10, end 2
	exportMark  = "\n$$B\n"
)

// forLinker is an archive without what importers read: nobody imports it but packages that are compiled already. One
// that looks otherwise than described stays whole.
func forLinker(archive []byte) []byte {
	rest, ok := bytes.CutPrefix(archive, []byte(archiveMark))
	if !ok || len(rest) < entryHeader {
		return archive
	}
	header, rest := rest[:entryHeader], rest[entryHeader:]
	size, err := strconv.Atoi(string(bytes.TrimSpace(header[48:58])))
	if err != nil || size < 0 || size+size%2 > len(rest) {
		return archive
	}
	exported, rest := rest[:size], rest[size+size%2:]
	head, _, ok := bytes.Cut(exported, []byte(exportMark))
	if !ok || !bytes.HasPrefix(header, []byte("__.PKGDEF ")) {
		return archive
	}
	head = append(bytes.Clone(head), exportMark...)
	if len(head)%2 == 1 {
		head = append(head, '\n')
	}
	var less bytes.Buffer
	fmt.Fprintf(&less, "%s%s%-10d%s%s%s", archiveMark, header[:48], len(head), header[58:], head, rest)
	return less.Bytes()
}
