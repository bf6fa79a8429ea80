package rooms_test

import (
	"bytes"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// layers are the rooms, the lowest first: a room may import those listed before it.
var layers = []string{
	"native",             // CUDA's API, the two devices that answer it, and the record of every call
	"kernels",            // what the lessons launch
	"exercises/contract", // what an exercise, its solution and its suite share
	"lessons",            // texts, hints and points
	"grader/order",       // which accesses nothing orders
	"grader/suite",       // the lesson kit
	"grader/suites",      // the lessons' suites, and the course
	"grader/machine",     // processes, their heaps, the sandbox, locks, what a GPU costs
	"grader/judge",       // from source files to a report
	"grader/desk",        // what helps a student between two checks
	"grader/class",       // many submissions
	"grader/report",      // results in every format
	"grader/browser",     // the course in a browser
	"cmd",                // the command line
	"grader/proof",       // what all of this is held to: nothing that is handed out needs it
	"exercises",          // code under test: the runner of a check is compiled with it, nothing else
	"solutions",          // the same
}

// mostRooms is how many rooms grader/ may have: a list that one reads at a glance.
const mostRooms = 10

const root = "../../.."

// roomOf is the layer that a folder of the repository belongs to; -1 for none.
func roomOf(folder string) int {
	found := -1
	for i, room := range layers {
		if (folder == room || strings.HasPrefix(folder, room+"/")) && (found < 0 || len(room) > len(layers[found])) {
			found = i
		}
	}
	return found
}

// walk yields the repository's own files by their paths in it.
func walk(t *testing.T, each func(file string, text []byte)) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(root, func(at string, d fs.DirEntry, err error) error {
		file, _ := filepath.Rel(root, at)
		file = filepath.ToSlash(file)
		switch {
		case err != nil:
			return err
		case d.IsDir() && file != "." && (strings.HasPrefix(d.Name(), ".") || file == "bin" || file == "vendor"):
			return filepath.SkipDir
		case !d.Type().IsRegular() || path.Ext(file) != ".go" && path.Ext(file) != ".md" && d.Name() != "Makefile":
			return nil
		}
		text, err := os.ReadFile(at)
		each(file, text)
		return err
	}))
}

func TestARoomImportsOnlyThoseBelowIt(t *testing.T) {
	files := 0
	walk(t, func(file string, text []byte) {
		if path.Ext(file) != ".go" || strings.HasSuffix(file, "_test.go") || strings.Contains(file, "testdata/") {
			return
		}
		room := roomOf(path.Dir(file))
		if room < 0 {
			t.Errorf("%s lies in no room: say in layers where it belongs.", file)
			return
		}
		files++
		parsed, err := parser.ParseFile(token.NewFileSet(), file, text, parser.ImportsOnly)
		require.NoError(t, err)
		for _, spec := range parsed.Imports {
			name, err := strconv.Unquote(spec.Path.Value)
			require.NoError(t, err)
			folder, ours := strings.CutPrefix(name, "cudalab/")
			if !ours {
				continue
			}
			switch other := roomOf(folder); {
			case other < 0:
				t.Errorf("%s imports %s, which lies in no room.", file, name)
			case other > room:
				t.Errorf("%s imports %s, but %s lies above %s: move what both need to a room below them, or have the "+
					"caller pass it in.", file, name, layers[other], layers[room])
			}
		}
	})
	require.Greater(t, files, 300)
}

func TestTheGraderHasFewRooms(t *testing.T) {
	entries, err := os.ReadDir(filepath.Join(root, "grader"))
	require.NoError(t, err)
	var rooms []string
	for _, e := range entries {
		rooms = append(rooms, "grader/"+e.Name())
	}
	require.LessOrEqual(t, len(rooms), mostRooms, "grader/ has %d rooms: does the new one belong into another?",
		len(rooms))
	var listed []string
	for _, room := range layers {
		if strings.HasPrefix(room, "grader/") {
			listed = append(listed, room)
		}
	}
	require.ElementsMatch(t, listed, rooms, "what `ls grader` shows is what layers lists")
}

// mention is where text names a package or file of the grader's.
var mention = regexp.MustCompile(`\bgrader/[a-z]+(/[a-z_]+(\.[a-z]+)?)?`)

// What has moved is named by no old path.
func TestPathsInTextsAreThere(t *testing.T) {
	walk(t, func(file string, text []byte) {
		for i, line := range bytes.Split(text, []byte("\n")) {
			for _, named := range mention.FindAllString(string(line), -1) {
				if strings.HasPrefix(named, "grader/suites/") {
					named = "grader/suites" // there may be any lesson, also one that a chapter makes up
				}
				if _, err := os.Stat(filepath.Join(root, named)); err != nil {
					t.Errorf("%s:%d names %s, which is not there.", file, i+1, named)
				}
			}
		}
	})
}
