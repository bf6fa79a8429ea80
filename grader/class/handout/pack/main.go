// Command pack packs the course of the working directory for a cudalab that carries it: into the folder that it is
// given go the archives and overlay.json, with which `go build -overlay` takes them in the place of the empty ones in
// the tree.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"cudalab/grader/class/handout"
	"cudalab/grader/desk/parcel"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: pack FOLDER")
		os.Exit(2)
	}
	if err := pack(os.Args[1]); err != nil {
		fmt.Fprintf(os.Stderr, "pack: the course could not be packed: %v\n", err)
		os.Exit(1)
	}
}

func pack(dir string) error {
	root, err := os.Getwd()
	if err != nil {
		return err
	}
	p, err := handout.Pack(context.Background(), root)
	if err != nil {
		return err
	}
	own, solutions, err := p.Archives()
	if err != nil {
		return err
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	replace := map[string]string{}
	for in, text := range map[string][]byte{parcel.CourseZip: own, parcel.SolutionsZip: solutions} {
		file := filepath.Join(dir, filepath.Base(in))
		replace[filepath.Join(root, filepath.FromSlash(in))] = file
		if err := os.WriteFile(file, text, 0o644); err != nil {
			return err
		}
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "overlay.json"), overlay, 0o644)
}
