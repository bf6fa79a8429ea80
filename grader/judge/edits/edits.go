// Package edits is what programs share that edit programs: code with its types, the changes that operators make in one
// place, and how what is left compiles where a change leaves names without use.
package edits

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"slices"
)

// Compiled imports packages, and what they need, from what the compiler has made of them, in Go's build cache.
func Compiled(root string, set *token.FileSet, packages ...string) (types.Importer, error) {
	list := exec.Command("go", slices.Concat([]string{"list", "-export", "-deps", "-json=ImportPath,Export"}, packages)...)
	list.Dir = root
	var complaint bytes.Buffer
	list.Stderr = &complaint
	out, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w\n%s", err, complaint.Bytes())
	}
	exports := map[string]string{}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var listed struct{ ImportPath, Export string }
		if err := d.Decode(&listed); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		exports[listed.ImportPath] = listed.Export
	}
	return From(exports, set), nil
}

// From imports packages from the files that they are compiled to.
func From(archives map[string]string, set *token.FileSet) types.Importer {
	open := func(path string) (io.ReadCloser, error) { return os.Open(archives[path]) }
	return importer.ForCompiler(set, "gc", open)
}
