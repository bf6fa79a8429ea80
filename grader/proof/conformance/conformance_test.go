package conformance

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cudalab/native/device"
	"cudalab/native/driver"
	"cudalab/native/session"
)

var (
	kind   = flag.String("device", "sim", "the device to ask: sim or gpu")
	record = flag.Bool("record", false, "record the GPU's answers anew; needs -device gpu")
)

var answersFile = filepath.Join("testdata", "h200.txt")

func openDevice(t *testing.T, kind string) device.Device {
	d, err := session.OpenDevice(kind)
	var unavailable *driver.Unavailable
	if errors.As(err, &unavailable) {
		t.Skipf("no NVIDIA GPU here: %v", err)
	}
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, d.Close()) })
	return d
}

// TestRecord writes the answers file, and is skipped without -record.
func TestRecord(t *testing.T) {
	if !*record {
		t.Skip("not asked to record: -device gpu -record does")
	}
	require.Equal(t, "gpu", *kind, "the recorded answers are a GPU's: give -device gpu with -record")
	rec, err := recordAnswers(openDevice(t, *kind), rows(), time.Now())
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(filepath.Dir(answersFile), 0o755))
	require.NoError(t, os.WriteFile(answersFile, []byte(format(rec, rows())), 0o644))
}

func TestAnswersAreTheRecordedOnes(t *testing.T) {
	text, err := os.ReadFile(answersFile)
	if errors.Is(err, os.ErrNotExist) {
		t.Fatalf("%s is missing: no GPU has recorded its answers yet; on a machine with one, run\n"+
			"    go test ./grader/proof/conformance -device gpu -record", answersFile)
	}
	require.NoError(t, err)
	want, err := parse(string(text))
	require.NoError(t, err)

	d := openDevice(t, *kind)
	require.NoError(t, warm(d))
	for _, row := range rows() {
		t.Run(row.Name, func(t *testing.T) {
			recorded, ok := want.Answers[row.Name]
			delete(want.Answers, row.Name)
			got := row.answers(d)
			if !ok {
				t.Fatal("not in the recorded answers: record them anew on a GPU")
			}
			if diff := diff(recorded, got); diff != "" {
				t.Errorf("- recorded (%v)\n+ answered (%s)\n%s", want.Header, d.Info().Name, diff)
			}
		})
	}
	require.Empty(t, want.Answers, "rows that are recorded but no longer asked: record them anew on a GPU")
}

// Each row must run to its end and answer the same whatever ran before it, or its answers are worth nothing.
func TestRowsAreSteady(t *testing.T) {
	rec, err := recordAnswers(openDevice(t, *kind), rows(), time.Unix(0, 0))
	require.NoError(t, err)
	names := map[string]bool{}
	for _, row := range rows() {
		require.False(t, names[row.Name], "two rows are named %s", row.Name)
		names[row.Name] = true
		require.NotEmpty(t, rec.Answers[row.Name], row.Name)
		for _, line := range rec.Answers[row.Name] {
			require.NotContains(t, line, "cannot be set up", row.Name)
			require.NotContains(t, line, "cleaning up", row.Name)
		}
	}
}

func TestARecordingIsReadBackAsItWasWritten(t *testing.T) {
	rows := []row{{Name: "a/one", Note: "a note"}, {Name: "b/two"}}
	rec := &recording{Header: []string{"device: x", "date: y"},
		Answers: map[string][]string{"a/one": {"f() → CUDA_SUCCESS", "# not a comment"}, "b/two": {"g"}}}
	got, err := parse(format(rec, rows))
	require.NoError(t, err)
	require.Equal(t, rec, got)

	_, err = parse("    an answer of nobody's\n")
	require.ErrorContains(t, err, "line 1")
	_, err = parse("a\na\n")
	require.ErrorContains(t, err, "line 2: row a is there twice")
}

func TestDiff(t *testing.T) {
	require.Empty(t, diff([]string{"a"}, []string{"a"}))
	require.Equal(t, "      a\n    - b\n    + c\n    + d\n", diff([]string{"a", "b"}, []string{"a", "c", "d"}))
	require.Equal(t, "      a\n    - b\n", diff([]string{"a", "b"}, []string{"a"}))
}
