package cli

import (
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"cudalab/grader/desk/terminal"
	"cudalab/grader/judge/prove"
	"cudalab/grader/report"
)

// showFilm shows an order that goes wrong beside the one that happened, frame by frame: on a terminal one at a time, by
// keys, elsewhere all of them one below the other.
func showFilm(cmd *cobra.Command, s screen, fault *prove.Fault, o report.Options) error {
	last := report.Frames(fault) - 1
	o.Height = s.height
	if s.width == 0 {
		for k := range last + 1 {
			fmt.Fprintln(s, report.Frame(fault, k, o))
		}
		return nil
	}
	keyboard, err := terminal.OpenKeyboard(os.Stdin)
	if err != nil {
		return err
	}
	defer keyboard.Close()
	s.Writer = keyboard.Output(s.Writer)
	shown := 0 // lines
	show := func(k int) {
		text := report.Frame(fault, k, o) + fmt.Sprintf("%d of %d   → next   ← back   q quit", k, last)
		if shown > 0 && s.color {
			fmt.Fprintf(s, "\r\x1b[%dA\x1b[J", shown)
		}
		fmt.Fprint(s, text)
		shown = strings.Count(text, "\n")
	}
	defer func() { fmt.Fprintln(s) }()
	k := 0
	show(k)
	for {
		select {
		case <-cmd.Context().Done():
			return &exitError{status: exitInterrupted}
		case key, more := <-keyboard.Pressed:
			if !more {
				return nil
			}
			switch key {
			case terminal.Right, ' ', '\r', '\n', 'n':
				k = min(k+1, last)
			case terminal.Left, 'b', 'p':
				k = max(k-1, 0)
			case 'q', terminal.CtrlD:
				return nil
			case terminal.CtrlC:
				return &exitError{status: exitInterrupted}
			}
			show(k)
			keyboard.Next()
		}
	}
}
