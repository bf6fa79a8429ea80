package chrome_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/grader/judge/check"
	"cudalab/grader/judge/compile"
	"cudalab/grader/judge/run"
	"cudalab/grader/proof/corpus"
	"cudalab/grader/report/chrome"
	"cudalab/grader/report/timeline"
	"cudalab/grader/suites/course"
)

// event has the fields of the "Trace Event Format" document that the phases used here may have.
type event struct {
	Name  string         `json:"name"`
	Cat   string         `json:"cat"`
	Phase string         `json:"ph"`
	Time  *float64       `json:"ts"`
	Dur   *float64       `json:"dur"`
	PID   *int           `json:"pid"`
	TID   *int           `json:"tid"`
	ID    int            `json:"id"`
	Bind  string         `json:"bp"`
	Scope string         `json:"s"`
	Args  map[string]any `json:"args"`
}

// written is the trace of a program of a lesson's corpus, as the file holds it.
func written(t *testing.T, exercise, program string) []event {
	t.Helper()
	c, err := course.Open("../../..")
	require.NoError(t, err)
	e, err := c.Find(exercise)
	require.NoError(t, err)
	p, err := corpus.Find(c.Root, e.Package, program)
	require.NoError(t, err)
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, e.Package+".go"), []byte(p.Text), 0o644))
	r := check.Exercise(context.Background(), check.Request{
		Course: compile.Course{Root: c.Root}, Options: run.Options{Device: "sim", Seed: 42, Pictures: true},
		Code: []check.Code{{Exercise: e, Dir: dir}},
	})
	require.NoError(t, r.Err)
	var f chrome.File
	for _, n := range r.Drawn() {
		f.Add(exercise, timeline.New(n, r.Place))
	}
	var out bytes.Buffer
	require.NoError(t, f.Write(&out))
	var file struct {
		Unit   string  `json:"displayTimeUnit"`
		Events []event `json:"traceEvents"`
	}
	d := json.NewDecoder(&out)
	d.DisallowUnknownFields()
	require.NoError(t, d.Decode(&file))
	require.Equal(t, "ns", file.Unit)
	return file.Events
}

// thread is a row of Perfetto's.
type thread struct{ pid, tid int }

func TestEveryEventIsAsTheFormatHasIt(t *testing.T) {
	events := written(t, "cross-stream-events", "wrong/no-wait-before-free")
	names, processes := map[thread]string{}, map[int]string{}
	starts, ends := map[int]event{}, map[int]event{}
	counted := map[string]bool{}
	var findings []event
	last := 0.0
	timed := false
	for i, e := range events {
		require.NotEmpty(t, e.Name)
		require.NotNilf(t, e.PID, "event %d", i)
		require.NotNilf(t, e.TID, "event %d", i)
		require.NotNilf(t, e.Time, "event %d", i)
		on := thread{*e.PID, *e.TID}
		if e.Phase != "M" {
			timed = true
			require.GreaterOrEqualf(t, *e.Time, last, "event %d goes back in time", i)
			last = *e.Time
		}
		if e.Phase != "X" {
			require.Nil(t, e.Dur)
		}
		switch e.Phase {
		case "M":
			require.False(t, timed, "names come first")
			switch e.Name {
			case "process_name":
				processes[*e.PID] = e.Args["name"].(string)
			case "thread_name":
				names[on] = e.Args["name"].(string)
			case "process_sort_index", "thread_sort_index":
				require.IsType(t, 0.0, e.Args["sort_index"])
			default:
				t.Fatalf("unknown metadata %q", e.Name)
			}
		case "X":
			require.NotNil(t, e.Dur)
			require.GreaterOrEqual(t, *e.Dur, 0.0)
			require.Contains(t, []string{"host", "device", "event"}, e.Cat)
			require.Equal(t, e.Cat == "host", names[on] == "host")
			require.NotEmpty(t, names[on])
			require.Contains(t, e.Args, "answer")
		case "s", "f":
			pairs := starts
			if e.Phase == "f" {
				pairs = ends
				require.Equal(t, "e", e.Bind)
			}
			require.Positive(t, e.ID)
			require.NotContains(t, pairs, e.ID)
			pairs[e.ID] = e
		case "C":
			counted[e.Name] = true
			for _, v := range e.Args {
				require.IsType(t, 0.0, v)
			}
		case "i":
			require.Equal(t, "t", e.Scope)
			require.NotEmpty(t, names[on])
			findings = append(findings, e)
		default:
			t.Fatalf("event %d has the unknown phase %q", i, e.Phase)
		}
	}
	require.Contains(t, processes, 1)
	require.Contains(t, processes[1], "cross-stream-events: ")
	require.Len(t, ends, len(starts))
	waits := 0
	for id, s := range starts {
		f, ok := ends[id]
		require.True(t, ok)
		require.Equal(t, [2]string{s.Name, s.Cat}, [2]string{f.Name, f.Cat},
			"the ends of a flow are bound by name and category too")
		require.LessOrEqual(t, *s.Time, *f.Time)
		if s.Cat == "event" {
			waits++
			require.NotEqual(t, *s.TID, *f.TID)
		}
	}
	require.Positive(t, waits)
	require.True(t, counted["allocated device memory"])
	require.True(t, counted["default pool, reserved"])
	require.NotEmpty(t, findings)
	require.Equal(t, "free-before-use", findings[0].Name)
	require.Contains(t, findings[0].Args["message"], "never waits")
	require.Equal(t, "checksum on b", findings[0].Args["unordered with"])
}

func TestSlicesOfAThreadNest(t *testing.T) {
	open := map[thread][]float64{} // ends of the slices that are open
	for _, e := range written(t, "async-pipeline", "right/event-per-batch") {
		if e.Phase != "X" {
			continue
		}
		on, end := thread{*e.PID, *e.TID}, *e.Time+*e.Dur
		stack := open[on]
		for len(stack) > 0 && stack[len(stack)-1] <= *e.Time+1e-6 {
			stack = stack[:len(stack)-1]
		}
		if len(stack) > 0 {
			require.LessOrEqualf(t, end, stack[len(stack)-1]+1e-6, "%s at %v cuts across the slice around it", e.Name, *e.Time)
		}
		open[on] = append(stack, end)
	}
	require.NotEmpty(t, open)
}
