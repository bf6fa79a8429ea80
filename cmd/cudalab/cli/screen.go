package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/fatih/color"
	"golang.org/x/term"

	"cudalab/grader/desk/markdown"
	"cudalab/grader/report"
)

// screen is where a command writes for people: what it can show and how wide it is.
type screen struct {
	io.Writer
	color  bool
	links  bool // positions in files can be made links
	width  int  // characters; 0 if it is no terminal
	height int  // lines; 0 if it is no terminal
}

// screenOf looks at what w is. Colour is for terminals only, and never with NO_COLOR (https://no-color.org).
func screenOf(w io.Writer) screen {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return screen{Writer: w}
	}
	s := screen{Writer: w, color: os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"}
	// The terminal in VS Code makes links of positions by itself, and unlike its links to files they lead to the line.
	s.links = s.color && os.Getenv("TERM_PROGRAM") != "vscode"
	if width, height, err := term.GetSize(int(f.Fd())); err == nil {
		s.width, s.height = width, height
	}
	if s.color && f == os.Stdout {
		s.Writer = color.Output // old Windows consoles need help with colours
	}
	return s
}

// say writes sentences, broken between words where the screen is a terminal.
func (s screen) say(text string) {
	for _, line := range s.wrap(text) {
		fmt.Fprintln(s, line)
	}
}

// wrap is text in lines that fit on the screen.
func (s screen) wrap(text string) []string {
	if s.width == 0 {
		return strings.Split(text, "\n")
	}
	return report.Wrap(text, min(s.width, 100))
}

// markdown writes Markdown, laid out where the screen is a terminal.
func (s screen) markdown(text string) error {
	_, err := io.WriteString(s, s.layOut(text))
	return err
}

// pages writes Markdown, laid out and in a pager where the screen is a terminal.
func (s screen) pages(ctx context.Context, text string) error {
	if s.width == 0 {
		_, err := io.WriteString(s, text)
		return err
	}
	return markdown.Show(ctx, s.Writer, s.layOut(text))
}

func (s screen) layOut(text string) string {
	if s.width == 0 {
		return text
	}
	return markdown.Render(text, s.width, s.color)
}
