// Package markdown shows Markdown on a terminal, laid out to its width and in a pager. It reads with goldmark, which
// the pages are made with as well, and lays out by itself: the libraries that do load every lexer and theme they know
// when the program starts, which a student would wait for in each check (10 ms of 170, glamour 2.0), and none hangs the
// lines of an item.
package markdown

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"
)

// maxWidth is how many characters a line has at most: longer ones are harder to read.
const maxWidth = 100

// Render lays Markdown out in lines of at most width characters, as far as its words and its code are no longer.
// Without colour nothing in it is but text.
func Render(markdown string, width int, color bool) string {
	source := []byte(strings.ToValidUTF8(strings.ReplaceAll(markdown, "\r\n", "\n"), "\uFFFD"))
	document := goldmark.New(goldmark.WithExtensions(extension.GFM)).Parser().Parse(text.NewReader(source))
	l := layout{source, color}
	return strings.Join(l.blocks(document, max(min(width, maxWidth), 1), look{}), "\n") + "\n"
}

// Show writes text on a terminal, through PAGER, or through less where that is there. A pager that the reader leaves
// early is no error.
func Show(ctx context.Context, w io.Writer, text string) error {
	command := strings.Fields(os.Getenv("PAGER"))
	if len(command) == 0 {
		command = []string{"less"}
	}
	path, err := exec.LookPath(command[0])
	if err != nil || os.Getenv("TERM") == "dumb" {
		_, err := io.WriteString(w, text)
		return err
	}
	pager := exec.CommandContext(ctx, path, command[1:]...)
	pager.Stdin, pager.Stdout, pager.Stderr = strings.NewReader(text), w, os.Stderr
	pager.Env = os.Environ()
	if os.Getenv("LESS") == "" {
		pager.Env = append(pager.Env, "LESS=FRX") // end at once if all fits; keep colours; leave the text on the screen
	}
	err = pager.Run()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return nil
	}
	return err
}
