package cli

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"
)

// errNobodyToAsk is the error of confirm where a question needs an answer and there is no terminal.
var errNobodyToAsk = errors.New("there is no terminal to ask on")

// confirm asks a question on the terminal; only yes means yes. Without a terminal the answer is unasked, or an error
// where unasked is false.
func confirm(cmd *cobra.Command, question string, unasked bool) (bool, error) {
	if !term.IsTerminal(int(os.Stdin.Fd())) {
		if unasked {
			return true, nil
		}
		return false, errNobodyToAsk
	}
	stderr := screenOf(cmd.ErrOrStderr())
	fmt.Fprintf(stderr, "%s [y/N] ", strings.Join(stderr.wrap(question), "\n"))
	answer := make(chan string, 1)
	go func() {
		line, _ := bufio.NewReader(os.Stdin).ReadString('\n') // no answer is no
		answer <- line
	}()
	select {
	case <-cmd.Context().Done():
		return false, cmd.Context().Err()
	case line := <-answer:
		line = strings.ToLower(strings.TrimSpace(line))
		return line == "y" || line == "yes", nil
	}
}
