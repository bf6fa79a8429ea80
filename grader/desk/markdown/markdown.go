// Package markdown shows Markdown on a terminal, laid out to its width and in a pager.
package markdown

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"

	"charm.land/glamour/v2"
	"github.com/charmbracelet/x/ansi"
)

const (
	maxWidth = 100 // longer lines are harder to read
	bullet   = 2   // characters before an item of a list
)

// Render lays Markdown out in lines of at most width characters. Without colour nothing in it is but text.
func Render(markdown string, width int, color bool) (string, error) {
	wrap := min(width, maxWidth) - bullet // which the renderer does not count
	renderer, err := glamour.NewTermRenderer(glamour.WithStyles(style()), glamour.WithWordWrap(max(wrap, 1)),
		glamour.WithChromaFormatter("terminal16"), glamour.WithInlineTableLinks(true))
	if err != nil {
		return "", err
	}
	text, err := renderer.Render(unbroken(local.ReplaceAllString(strings.ReplaceAll(markdown, "\t", "    "), "$1")))
	if err != nil {
		return "", err
	}
	if !color {
		text = ansi.Strip(text)
	}
	return strings.Trim(trailing.ReplaceAllString(text, "$1"), "\n") + "\n", nil
}

// unbroken puts every paragraph on one line, as Markdown means it. The renderer keeps the line breaks in lists, and marks
// what is bold on both sides of a break twice.
func unbroken(markdown string) string {
	var b strings.Builder
	fenced, open := false, false // open: the line before may be continued
	for line := range strings.Lines(markdown) {
		text := strings.TrimSpace(line)
		fence := strings.HasPrefix(text, "```")
		begins := text == "" || fence || starts.MatchString(text)
		if open && !begins {
			b.WriteString(" " + text)
			continue
		}
		if open {
			b.WriteString("\n")
		}
		if fence {
			fenced = !fenced
		}
		open = !fenced && !fence && text != "" && text[0] != '#' && text[0] != '|'
		if open {
			line = strings.TrimRight(line, "\n ")
		}
		b.WriteString(line)
	}
	return b.String()
}

// local matches links to files beside the text, which lead nowhere on a terminal: their words are left.
var local = regexp.MustCompile(`\[([^][]+)\]\([^():]+\)`)

// starts matches lines that begin something of their own: a heading, a quote, a row of a table, an item of a list.
var starts = regexp.MustCompile(`^(#|>|\||[-*] |\d+\. )`)

// trailing is the blanks that fill lines up to the full width, and what colours them. A reset among them stays.
var trailing = regexp.MustCompile(`(?m)(?: |\x1b\[[0-9;]*m)*?(\x1b\[0?m)?(?: |\x1b\[[0-9;]*m)* (?: |\x1b\[[0-9;]*m)*$`)

// Show writes text on a terminal, through PAGER, or through less where that is there. A pager that the reader leaves early
// is no error.
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
