package class

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"cudalab/grader/judge/visible"
)

// IsPageOf reports whether a file is the page of a result.
func IsPageOf(path string, s Student) bool {
	digest, err := digestOfResult(s)
	if err != nil {
		return false
	}
	state, err := stateOf(path, digest)
	return err == nil && (state == wholePage || state == incompletePage)
}

// The end of a page tells which result it is of, and that it is whole; it says so as well where something is lacking.
const (
	ofResult  = "<!-- cudalab result %s -->\n"
	lackingOf = "<!-- cudalab result %s, incomplete -->\n"
)

// digestOfResult tells one result of a student from another.
func digestOfResult(s Student) (string, error) {
	text, err := visible.JSON(s)
	return sum(text), err
}

// pageState is what there is of a page.
type pageState int

const (
	noPage pageState = iota
	otherPage
	incompletePage
	wholePage
)

// stateOf looks whether a page is the one of a result.
func stateOf(path, digest string) (pageState, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return noPage, nil
	}
	if err != nil {
		return noPage, err
	}
	defer f.Close()
	end := make([]byte, len(lackingOf)+len(digest))
	if at, err := f.Seek(0, io.SeekEnd); err != nil || at < int64(len(end)) {
		return otherPage, err
	} else if _, err := f.ReadAt(end, at-int64(len(end))); err != nil {
		return otherPage, err
	}
	switch text := string(end); {
	case strings.HasSuffix(text, fmt.Sprintf(ofResult, digest)):
		return wholePage, nil
	case strings.HasSuffix(text, fmt.Sprintf(lackingOf, digest)):
		return incompletePage, nil
	}
	return otherPage, nil
}
