//go:build !js

// Engine is the judge of the browser's edition: `cudalab check` without a command line and without a machine below it.
// The page puts the course's files where this program finds them, asks for one check after another, and starts what the
// judge starts, Go's compiler and linker and the runners, in workers: see grader/browser/site/engine.
package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "This is the judge of the browser's edition: `cudalab browser` builds the site that runs it.")
	os.Exit(2)
}
