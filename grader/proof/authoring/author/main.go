// Command authoring is for those who write lessons: it makes the folders of a new one, and brings up to date what
// follows from course.toml.
//
//	go run cudalab/grader/proof/authoring/author new ring
//	go run cudalab/grader/proof/authoring/author generate
//
// It works on the course that the working directory lies in, which may be one outside of this repository.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"cudalab/grader/proof/authoring"
)

func main() {
	said, err := run(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "authoring:", err)
		os.Exit(2)
	}
	fmt.Print(said)
}

// run carries out a command and answers what to say about it.
func run(args []string) (string, error) {
	root, err := root()
	if err != nil {
		return "", err
	}
	var written []string
	next := ""
	switch {
	case len(args) == 1 && args[0] == "generate":
	case len(args) == 2 && args[0] == "new":
		if written, err = authoring.New(root, args[1]); err != nil {
			return "", err
		}
		next = fmt.Sprintf("The lesson %s is begun. `make build`, and `bin/cudalab check %[1]s --solution` passes;\n"+
			"`go test ./grader/proof/authoring -run TestLessonsAreWhole` says what is still to be written.\n", args[1])
	default:
		return "", fmt.Errorf("say `authoring new NAME` or `authoring generate`, not %q", args)
	}
	changed, err := authoring.Generate(root)
	said := ""
	for _, file := range append(written, changed...) {
		said += "written: " + file + "\n"
	}
	return said + next, err
}

// root is the nearest folder with a go.mod, from the working directory upwards.
func root() (string, error) {
	start, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for dir := start; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", fmt.Errorf("neither %s nor a folder above it has a go.mod: change into the course", start)
		}
	}
}
