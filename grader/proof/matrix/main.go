// Command matrix prints what became of the corpus's programs on a device, as the lessons' tests have recorded it: all
// programs in one table, and each lesson's with its checks and rules.
package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"cudalab/grader/proof/corpus"
	"cudalab/grader/suites/course"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: matrix sim|gpu")
		os.Exit(2)
	}
	if err := show(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "matrix:", err)
		os.Exit(1)
	}
}

func show(device string) error {
	c, err := course.Open("")
	if err != nil {
		return err
	}
	var all []string
	for _, e := range c.Exercises {
		text, err := os.ReadFile(corpus.MatrixFile(c.Root, e.Package, device))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			fmt.Printf("%s was not yet checked on %s.\n", e.Name, device)
		case err != nil:
			return err
		default:
			all = append(all, string(text))
		}
	}
	sum, err := corpus.Sum(all...)
	if err != nil {
		return err
	}
	fmt.Print(sum, strings.Join(all, "\n"))
	return nil
}
