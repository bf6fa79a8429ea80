package fidelity

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cudalab/native/device"
	"cudalab/native/driver"
	"cudalab/native/session"
)

var (
	kind   = flag.String("device", "sim", "the `device` to time: sim or gpu")
	record = flag.Bool("record", false, "write what is measured: the recording with -device gpu, else the table")
)

var (
	recordingFile = filepath.Join("testdata", "h200.txt")
	tableFile     = "table.md"
)

// open opens a device and warms it up.
func open(t *testing.T) device.Device {
	d, err := session.OpenDevice(*kind)
	var unavailable *driver.Unavailable
	if errors.As(err, &unavailable) {
		t.Skipf("no NVIDIA GPU here: %v", err)
	}
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, d.Close()) })
	require.NoError(t, Warm(d))
	return d
}

// TestRecord writes the recording, and is skipped on the simulator.
func TestRecord(t *testing.T) {
	if *kind != "gpu" || !*record {
		t.Skip("not asked to record: -device gpu -record does")
	}
	d := open(t)
	r := NewRecording(d, time.Now())
	all, closeAll, err := everything()
	require.NoError(t, err)
	defer closeAll()
	for _, x := range all {
		timings, err := x.measure(d)
		require.NoError(t, err, x.name)
		r.Timings = append(r.Timings, timings...)
	}
	require.NoError(t, os.MkdirAll(filepath.Dir(recordingFile), 0o755))
	require.NoError(t, os.WriteFile(recordingFile, []byte(r.String()), 0o644))
}

// TestPredictions holds the device's times to the recorded ones, and the table to both.
func TestPredictions(t *testing.T) {
	text, err := os.ReadFile(recordingFile)
	require.NoError(t, err, "record it on a GPU: -device gpu -record")
	recorded, err := Parse(string(text))
	require.NoError(t, err)
	want := map[string]Timing{}
	for _, m := range recorded.Timings {
		want[m.Name] = m
	}
	var rows, unmeasured []Row
	var d device.Device
	all, closeAll, err := everything()
	require.NoError(t, err)
	defer closeAll()
	for _, x := range all {
		if d == nil || *kind == "sim" { // a GPU takes long to open, and a simulated one may as well be new
			d = open(t)
		}
		timings, err := x.measure(d)
		require.NoError(t, err, x.name)
		for _, got := range timings {
			t.Run(got.Name, func(t *testing.T) {
				w, ok := want[got.Name]
				r := Row{x.slow, x.fast, w, got}
				if !ok {
					unmeasured = append(unmeasured, r)
					t.Skip("not yet measured on a GPU, or with kernels that it no longer has: -device gpu -record measures it")
				}
				delete(want, got.Name)
				rows = append(rows, r)
				t.Log(r)
				require.True(t, r.holds(), "beyond the bounds")
			})
		}
	}
	require.Empty(t, want, "recorded, but no longer measured")
	if *kind != "sim" {
		return
	}
	same(t, tableFile, func(string) string { return Table(recorded, rows, unmeasured) })
	rows = slices.DeleteFunc(rows, func(r Row) bool { return !isLesson(r.Measured.Name) })
	same(t, chapterFile, func(chapter string) string {
		before, rest, ok := strings.Cut(chapter, chapterBegin)
		require.True(t, ok)
		_, after, ok := strings.Cut(rest, chapterEnd)
		require.True(t, ok)
		return before + chapterBegin + times(rows) + chapterEnd + after
	})
}

// isLesson reports whether a row is of what lessons time.
func isLesson(name string) bool {
	return strings.HasPrefix(name, "lesson/") || strings.HasPrefix(name, "allocators/")
}

// Where the instructors' chapter shows the lessons' rows.
const (
	chapterFile  = "../../../lessons/instructors/fairness.md"
	chapterBegin = "<!-- clock -->\n"
	chapterEnd   = "<!-- end -->\n"
)

// same holds a file to what it should be, given what it is, or with -record makes it so.
func same(t *testing.T, file string, should func(is string) string) {
	t.Helper()
	is, err := os.ReadFile(file)
	require.NoError(t, err)
	want := should(string(is))
	if *record {
		require.NoError(t, os.WriteFile(file, []byte(want), 0o644))
		return
	}
	require.Equal(t, want, string(is), "write it again with -record if that is meant")
}
