package terminal

import (
	"cmp"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// Editor is a command with what must be known of it.
type Editor struct {
	words []string
}

// Chosen is the editor that the given command names, else VISUAL's, else EDITOR's, else the one whose terminal this is.
// It is not ok where none is known.
func Chosen(command string) (e Editor, ok bool) {
	command = cmp.Or(command, os.Getenv("VISUAL"), os.Getenv("EDITOR"))
	if command == "" && os.Getenv("TERM_PROGRAM") == "vscode" {
		command = "code"
	}
	// The path of a program may hold blanks; everything else is split at them.
	if _, err := exec.LookPath(command); err == nil {
		return Editor{[]string{command}}, true
	}
	words := strings.Fields(command)
	return Editor{words}, len(words) > 0
}

// style is how an editor is told where to go.
type style int

const (
	fileOnly  style = iota
	plusLine        // +12 file
	fileLine        // file:12
	goTo            // -g file:12
	lineFlag        // --line 12 file
	shortFlag       // -l 12 file
)

// known are the editors by the names of their programs; windowed ones have a window of their own, so that nobody waits
// for them.
var known = map[string]struct {
	style    style
	windowed bool
}{
	"vi": {plusLine, false}, "vim": {plusLine, false}, "nvim": {plusLine, false}, "nano": {plusLine, false},
	"pico": {plusLine, false}, "emacs": {plusLine, false}, "emacsclient": {plusLine, false}, "micro": {plusLine, false},
	"kak": {plusLine, false}, "joe": {plusLine, false}, "mcedit": {plusLine, false}, "gvim": {plusLine, true},
	"gedit": {plusLine, true}, "hx": {fileLine, false}, "helix": {fileLine, false}, "subl": {fileLine, true},
	"zed": {fileLine, true}, "code": {goTo, true}, "code-insiders": {goTo, true}, "codium": {goTo, true},
	"cursor": {goTo, true}, "windsurf": {goTo, true}, "idea": {lineFlag, true}, "goland": {lineFlag, true},
	"kate": {shortFlag, true}, "notepad": {fileOnly, true},
}

// Name is the editor's program.
func (e Editor) Name() string {
	return strings.TrimSuffix(filepath.Base(e.words[0]), ".exe")
}

// Windowed reports whether the editor opens a window of its own. Any other may need the terminal, until it ends.
func (e Editor) Windowed() bool { return known[e.Name()].windowed }

// Command opens a file at a line, counted from 1. A command with {file} or {line} in it gets them there; an editor that
// is not known gets the file alone.
func (e Editor) Command(file string, line int) *exec.Cmd {
	at := strconv.Itoa(max(line, 1))
	var args []string
	placed := false
	for _, word := range e.words[1:] {
		filled := strings.NewReplacer("{file}", file, "{line}", at).Replace(word)
		placed = placed || filled != word
		if e.Windowed() && (word == "--wait" || word == "-w") {
			continue // meant for git, which waits for what was written
		}
		args = append(args, filled)
	}
	if placed {
		return exec.Command(e.words[0], args...)
	}
	switch known[e.Name()].style {
	case plusLine:
		args = append(args, "+"+at, file)
	case fileLine:
		args = append(args, file+":"+at)
	case goTo:
		args = append(args, "-g", file+":"+at)
	case lineFlag:
		args = append(args, "--line", at, file)
	case shortFlag:
		args = append(args, "-l", at, file)
	default:
		args = append(args, file)
	}
	return exec.Command(e.words[0], args...)
}
