package fidelity

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/native/device"
	"cudalab/native/driver"
	"cudalab/native/sim"
)

var (
	kind   = flag.String("device", "sim", "the `device` to time: sim or gpu")
	record = flag.Bool("record", false, "write what is measured: a recording with -device gpu, else the table")
)

const (
	recordings = "testdata"
	tableFile  = "table.md"
)

// TestRecord measures the GPU and writes a recording of it, and is skipped on the simulator.
func TestRecord(t *testing.T) {
	if *kind != "gpu" || !*record {
		t.Skip("not asked to record: -device gpu -record does")
	}
	d, err := driver.Open()
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, d.Close()) })
	require.NoError(t, warm(d))
	all, closeAll, err := everything()
	require.NoError(t, err)
	defer closeAll()
	r, measured, err := newRecording(d, func(d device.Device) (timings []timing, err error) {
		for _, x := range all {
			these, err := x.measure(target{d, nil})
			if err != nil {
				return nil, fmt.Errorf("%s: %w", x.name, err)
			}
			timings = append(timings, these...)
		}
		return timings, nil
	})
	require.NoError(t, err)
	if r.Unsure != "" {
		t.Logf("the machine did not keep its pace; record again, if it may be quieter: %s", r.Unsure)
	}
	require.NoError(t, os.WriteFile(r.path(recordings)+".txt", []byte(r.String()), 0o644))
	require.NoError(t, os.WriteFile(r.path(recordings)+".json", measured.Text(), 0o644))
}

// slowing is a device on a machine that others begin to use: from then on each launch takes longer.
type slowing struct {
	device.Device
	lost, each int64 // nanoseconds
}

func (s *slowing) LaunchKernel(k *device.Launch) device.Code {
	s.lost += s.each
	return s.Device.LaunchKernel(k)
}

func (s *slowing) Now() int64 { return s.Device.Now() + s.lost }

func TestARecordingSaysThatThePaceChanged(t *testing.T) {
	for _, each := range []int64{0, 7_900} {
		d := &slowing{Device: sim.New(sim.Options{})}
		r, before, err := newRecording(d, func(device.Device) ([]timing, error) {
			d.each = each
			return []timing{{Name: "a"}}, nil
		})
		require.NoError(t, err)
		require.Len(t, r.Timings, 1)
		require.InEpsilon(t, sim.H200.Launch, before.Profile.Launch, 0.1)
		if each == 0 {
			require.Empty(t, r.Unsure)
		} else {
			require.Contains(t, r.Unsure, "launch_ns")
		}
		require.NoError(t, d.Close())
	}
}

// TestPredictions holds the simulated device with each recording's profile to the times recorded, and the table to
// both.
func TestPredictions(t *testing.T) {
	recorded, err := readRecordings(recordings)
	require.NoError(t, err)
	require.NotEmpty(t, recorded, "record one on a GPU: -device gpu -record")
	all, closeAll, err := everything()
	require.NoError(t, err)
	defer closeAll()
	var compared []comparison
	measured := map[string]bool{}
	for _, r := range recorded {
		c := comparison{recording: r}
		want := map[string]timing{}
		for _, m := range r.Timings {
			want[m.Name] = m
		}
		for _, x := range all {
			if !x.isIn(want) {
				continue // it is younger than the recording, or not of what was recorded there
			}
			for _, got := range predict(t, x, r.Profile) {
				w, ok := want[got.Name]
				if !ok {
					continue
				}
				delete(want, got.Name)
				measured[got.Name] = true
				row := row{x.slow, x.fast, w, got}
				c.Rows = append(c.Rows, row)
				t.Run(r.Date+"/"+got.Name, func(t *testing.T) {
					t.Log(row)
					require.True(t, row.holds(r.bounds()), "beyond the bounds")
				})
			}
		}
		require.Empty(t, want, "recorded, but no longer measured")
		compared = append(compared, c)
	}
	var unmeasured []row
	for _, x := range all {
		if measured[x.name] {
			continue
		}
		for _, got := range predict(t, x, nil) {
			if !measured[got.Name] {
				unmeasured = append(unmeasured, row{Slow: x.slow, Fast: x.fast, Predicted: got})
			}
		}
	}
	same(t, tableFile, func(string) string { return table(compared, unmeasured) })
	var lessons []string
	for _, c := range compared {
		c.Rows = slices.DeleteFunc(c.Rows, func(r row) bool { return !isLesson(r.Measured.Name) })
		lessons = append(lessons, c.String())
	}
	same(t, chapterFile, func(chapter string) string {
		before, rest, ok := strings.Cut(chapter, chapterBegin)
		require.True(t, ok)
		_, after, ok := strings.Cut(rest, chapterEnd)
		require.True(t, ok)
		return before + chapterBegin + strings.Join(lessons, "\n") + chapterEnd + after
	})
}

// isIn reports whether some of what is timed in one go is among what was recorded.
func (x timed) isIn(recorded map[string]timing) bool {
	for name := range recorded {
		if name == x.name || strings.HasPrefix(name, x.name+"/") {
			return true
		}
	}
	return false
}

// predict times something on a simulated device that nobody has used.
func predict(t *testing.T, x timed, p *sim.Profile) []timing {
	d := sim.New(sim.Options{Profile: p})
	defer func() { require.NoError(t, d.Close()) }()
	require.NoError(t, warm(d))
	timings, err := x.measure(target{d, p})
	require.NoError(t, err, x.name)
	return timings
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
