package main

import (
	"io"
	"os"

	"github.com/fatih/color"
	"golang.org/x/term"
)

// screen is where a command writes for people: what it can show and how wide it is.
type screen struct {
	io.Writer
	color bool
	width int // characters; 0 if it is no terminal
}

// screenOf looks at what w is. Colour is for terminals only, and never with NO_COLOR (https://no-color.org).
func screenOf(w io.Writer) screen {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return screen{Writer: w}
	}
	s := screen{Writer: w, color: os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"}
	if width, _, err := term.GetSize(int(f.Fd())); err == nil {
		s.width = width
	}
	if s.color && f == os.Stdout {
		s.Writer = color.Output // old Windows consoles need help with colours
	}
	return s
}
