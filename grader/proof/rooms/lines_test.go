package rooms_test

import (
	"bytes"
	"flag"
	"fmt"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// maxLine is how many characters a line of Go may have, a tab counted as one.
const maxLine = 120

// oldFiles lists the files that had longer lines before there was a limit, and how many each of them still may have.
const oldFiles = "testdata/longlines.txt"

var record = flag.Bool("record", false, "write to "+oldFiles+" how many long lines there are, unless there are more")

func TestLinesAreShort(t *testing.T) {
	long := longLines(t)
	if *record {
		recordLongLines(t, long)
	}
	listed := listedLongLines(t)
	files := maps.Clone(listed)
	for file, lines := range long {
		files[file] = len(lines)
	}
	for _, file := range slices.Sorted(maps.Keys(files)) {
		switch lines, may := long[file], listed[file]; {
		case len(lines) > may:
			t.Errorf("%s may have %d lines of more than %d characters, and has %d: %v", file, may, maxLine, len(lines), lines)
		case len(lines) == 0 && may > 0:
			t.Errorf("%s has no long line any more. Delete its line in %s, or run this test with -record.", file, oldFiles)
		case len(lines) < may:
			t.Errorf("%s has fewer long lines than before. Its line in %s is now \"%s %d\", which -record writes, too.",
				file, oldFiles, file, len(lines))
		}
	}
}

// longLines has the numbers of the lines that are too long in each Go file.
func longLines(t *testing.T) map[string][]int {
	long := map[string][]int{}
	walk(t, func(file string, text []byte) {
		if path.Ext(file) != ".go" || strings.Contains(file, "testdata/") {
			return
		}
		for i, line := range bytes.Split(text, []byte("\n")) {
			if utf8.RuneCount(line) > maxLine {
				long[file] = append(long[file], i+1)
			}
		}
	})
	return long
}

// recordLongLines holds the sum down and not each file's number, because code that moves takes its long lines along.
func recordLongLines(t *testing.T, long map[string][]int) {
	var list strings.Builder
	now, before := 0, 0
	for _, file := range slices.Sorted(maps.Keys(long)) {
		fmt.Fprintf(&list, "%s %d\n", file, len(long[file]))
		now += len(long[file])
	}
	if _, err := os.Stat(oldFiles); err == nil {
		for _, lines := range listedLongLines(t) {
			before += lines
		}
		if now > before {
			t.Logf("Nothing is recorded: there are %d long lines, and %d are listed.", now, before)
			return
		}
	}
	require.NoError(t, os.WriteFile(oldFiles, []byte(list.String()), 0o644))
}

func listedLongLines(t *testing.T) map[string]int {
	text, err := os.ReadFile(oldFiles)
	require.NoError(t, err)
	listed := map[string]int{}
	for line := range strings.Lines(string(text)) {
		var file string
		var lines int
		_, err := fmt.Sscanf(line, "%s %d\n", &file, &lines)
		require.NoError(t, err, "%s: %q", oldFiles, line)
		listed[file] = lines
	}
	return listed
}
