package sarif_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/grader/proof/reporttest"
	"cudalab/grader/report/sarif"
	"cudalab/grader/suite/verdict"
)

const main = "exercises/slab/slab.go"

// said has a finding of every kind, and one in a file whose name has to be written otherwise in a URI.
var said = []sarif.Input{
	{Main: main, Report: verdict.Report{Exercise: "slab", Status: verdict.Failed, Checks: []verdict.Check{
		{ID: "order", Status: verdict.Failed, Findings: []verdict.Finding{
			{Rule: "free-before-use", Severity: verdict.Error, Message: "It is freed too early.",
				Why: "A free waits for its own stream only.",
				Fix: "Record an event.", File: main, Line: 70, Related: []verdict.Related{
					{File: main, Line: 64, Message: "used here"}, {Message: "nowhere"}, {File: "exercises/slab/más öre.go", Line: 1,
						Message: "made here"}}},
			{Rule: "free-before-use", Severity: verdict.Error, Message: "And here.",
				Why: "A free waits for its own stream only.", Fix: "Record another.",
				File: main, Line: 71},
			{Rule: "needless-wait", Severity: verdict.Remark, Message: "This wait orders nothing.", File: main, Line: 12}}},
		{ID: "crash", Status: verdict.Failed, Findings: []verdict.Finding{{Rule: "panic", Severity: verdict.Error,
			Message: "It panicked."}}}}}},
	{Main: "exercises/buddy/buddy.go", Report: verdict.Report{Exercise: "buddy", Status: verdict.NotStarted,
		Message: "Not started yet.",
		Gap:     &verdict.Gap{ID: "1a", File: "exercises/buddy/buddy.go", Line: 36, Text: "Answer"}}},
	{Main: "exercises/ring/ring.go", Report: verdict.Report{Exercise: "ring", Status: verdict.Passed}},
	{Main: "exercises/overlap/overlap.go", Report: verdict.Report{Exercise: "overlap", Status: verdict.Errored,
		Message: "There is no Go.", Next: "install it"}},
}

// schema is OASIS's, of errata 1, as the Go module github.com/owenrumney/go-sarif/v3 v3.3.1 carries it.
func schema(t *testing.T) reporttest.Kind {
	t.Helper()
	text, err := os.ReadFile("testdata/sarif-schema-2.1.0.json")
	require.NoError(t, err)
	is, err := reporttest.Schema(text)
	require.NoError(t, err)
	return is
}

func written(t *testing.T, in []sarif.Input) []byte {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, sarif.Write(&out, in))
	return out.Bytes()
}

func TestLog(t *testing.T) {
	is := schema(t)
	got := written(t, said)
	reporttest.Golden(t, "log.sarif", got)
	require.NoError(t, reporttest.Check(got, is))
	require.NoError(t, reporttest.Check(written(t, nil), is))
	require.Equal(t, got, written(t, said))
}

func TestAFileOutsideIsNamedInFull(t *testing.T) {
	file, err := filepath.Abs("slab.go")
	require.NoError(t, err)
	got := written(t, []sarif.Input{{Report: verdict.Report{Status: verdict.Failed,
		Checks: []verdict.Check{{Findings: []verdict.Finding{
			{Rule: "leak", Severity: verdict.Error, Message: "m", File: file, Line: 2}}}}}}})
	require.NoError(t, reporttest.Check(got, schema(t)))
	require.Contains(t, string(got), `"uri": "file:///`)
	require.NotContains(t, string(got), "SRCROOT")
}

// The schema is read as it is meant: what breaks it in one place is found.
func TestTheSchemaFindsFaults(t *testing.T) {
	is := schema(t)
	for name, spoil := range map[string]func(run map[string]any){
		"no tool":              func(run map[string]any) { delete(run, "tool") },
		"an unknown field":     func(run map[string]any) { run["findings"] = []any{} },
		"a level of ours":      func(run map[string]any) { run["results"].([]any)[0].(map[string]any)["level"] = "remark" },
		"a result without":     func(run map[string]any) { delete(run["results"].([]any)[0].(map[string]any), "message") },
		"a line before all":    func(run map[string]any) { region(run)["startLine"] = 0.0 },
		"a line that is text":  func(run map[string]any) { region(run)["startLine"] = "7" },
		"half a line":          func(run map[string]any) { region(run)["startLine"] = 7.5 },
		"columns of no kind":   func(run map[string]any) { run["columnKind"] = "bytes" },
		"a rule without an ID": func(run map[string]any) { delete(rules(run)[0].(map[string]any), "id") },
		"a rule twice":         func(run map[string]any) { driver(run)["rules"] = append(rules(run), rules(run)[0]) },
	} {
		t.Run(name, func(t *testing.T) {
			var log map[string]any
			require.NoError(t, json.Unmarshal(written(t, said), &log))
			spoil(log["runs"].([]any)[0].(map[string]any))
			require.Error(t, is(log))
		})
	}
}

func driver(run map[string]any) map[string]any {
	return run["tool"].(map[string]any)["driver"].(map[string]any)
}

func rules(run map[string]any) []any { return driver(run)["rules"].([]any) }

func region(run map[string]any) map[string]any {
	place := run["results"].([]any)[0].(map[string]any)["locations"].([]any)[0].(map[string]any)
	return place["physicalLocation"].(map[string]any)["region"].(map[string]any)
}
