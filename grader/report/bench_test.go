package report_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"cudalab/grader/report"
	"cudalab/grader/suite/verdict"
)

// measured is a report with every kind of line: two clocks, intervals and none, a ratio and none, bytes, notes.
func measured(d verdict.Device) verdict.BenchReport {
	host, calls := verdict.Wall, verdict.Wall
	if d.Kind == "sim" {
		host, calls = verdict.CPU, verdict.Virtual
	}
	return verdict.BenchReport{
		Schema: verdict.BenchSchemaVersion, Exercise: "slab", Device: d, Status: verdict.Passed, DurationMS: 812,
		Workloads: []verdict.Comparison{
			{ID: "same-size", Name: "same size, 64 KiB", Operation: "allocation and free", Unit: verdict.Nanoseconds,
				Standings: []verdict.Standing{
					{Contender: verdict.Yours, Value: 24.1, Low: 23.9, High: 24.6, Clock: host, Samples: 31, Batch: 4096,
						Ratio: &verdict.Quotient{Value: 1.12, Low: 1.1, High: 1.14}},
					{Contender: verdict.Solution, Value: 21.5, Low: 21.4, High: 21.7, Clock: host, Samples: 31, Batch: 4096},
					{Contender: "cuda.MallocAsync", Value: 600, Low: 600, High: 600, Clock: calls, Samples: 2, Batch: 1024},
					{Contender: "cuda.Malloc (baseline)", Value: 62_300, Low: 61_000, High: 63_000, Clock: calls, Samples: 31,
						Batch: 128},
				}},
			{ID: "growth", Name: "growth from nothing", Operation: "run", Unit: verdict.Nanoseconds,
				Note: "New is not in the time.",
				Standings: []verdict.Standing{{Contender: verdict.Solution, Value: 2_431_000, Low: 2_400_000, High: 2_500_000,
					Clock: calls, Samples: 25, Batch: 1}}},
			{ID: "bookkeeping", Name: "bookkeeping on the host", Operation: "block", Unit: verdict.ByteCount,
				Standings: []verdict.Standing{{Contender: verdict.Yours, Value: 16.3, Low: 16.3, High: 16.3, Samples: 1,
					Batch: 16384}}},
		},
	}
}

// benchCases are the reports that golden files are kept of.
func benchCases() map[string]verdict.BenchReport {
	leftOut := measured(instead)
	leftOut.Status = verdict.NotStarted
	leftOut.Message = "Your code is left out: the skeleton is as it was handed out."
	leftOut.Next = "write TODO(1a)"
	crashed := measured(gpu)
	crashed.Status, crashed.Workloads, crashed.Findings = verdict.Crashed, crashed.Workloads[:1], []verdict.Finding{race}
	crashed.Message = "Your code is left out from where it did not end well."
	nothing := verdict.BenchReport{Schema: verdict.BenchSchemaVersion, Exercise: "slab",
		Device: verdict.Device{Kind: "gpu"}, Status: verdict.Errored,
		Message: "There is no NVIDIA driver.", Next: "take --device sim"}
	return map[string]verdict.BenchReport{"gpu": measured(gpu), "sim": measured(simulated), "left-out": leftOut,
		"crashed": crashed, "error": nothing}
}

func benchText(t *testing.T, r verdict.BenchReport, o report.Options) string {
	t.Helper()
	var out bytes.Buffer
	o.Source = source
	require.NoError(t, report.Bench(&out, r, o))
	return out.String()
}

func TestBenchGolden(t *testing.T) {
	for name, r := range benchCases() {
		t.Run(name, func(t *testing.T) { golden(t, "bench-"+name+".txt", benchText(t, r, report.Options{Width: 80})) })
	}
	golden(t, "bench-narrow.txt", benchText(t, measured(simulated), report.Options{Width: 50}))
	var out bytes.Buffer
	require.NoError(t, report.BenchJSON(&out, measured(simulated)))
	golden(t, "bench-sim.json", out.String())
}

func TestBenchKeepsTheWidthAndAddsOnlyColour(t *testing.T) {
	for name, r := range benchCases() {
		for _, width := range []int{40, 60, 80, 100} {
			for _, line := range strings.Split(benchText(t, r, report.Options{Width: width}), "\n") {
				if !strings.Contains(line, file) {
					require.LessOrEqual(t, utf8.RuneCountInString(line), width, "%s: %s", name, line)
				}
			}
		}
		colored := benchText(t, r, report.Options{Color: true})
		for _, code := range []string{"0", "1", "2", "22", "31", "32", "33", "36", "31;1", "0;22", "0;22;0"} {
			colored = strings.ReplaceAll(colored, "\x1b["+code+"m", "")
		}
		require.Equal(t, benchText(t, r, report.Options{}), colored, name)
	}
}

// Programs read these names: within one schema version none may go.
func TestBenchSchema(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, report.BenchJSON(&out, verdict.BenchReport{Schema: verdict.BenchSchemaVersion}))
	require.NotContains(t, out.String(), "null")
	require.Equal(t, "1", fmt.Sprint(verdict.BenchSchemaVersion), "a new version needs new names here")

	out.Reset()
	require.NoError(t, report.BenchJSON(&out, measured(gpu)))
	var r struct {
		Workloads []struct{ Standings []map[string]any }
	}
	var top map[string]any
	require.NoError(t, json.Unmarshal(out.Bytes(), &r))
	require.NoError(t, json.Unmarshal(out.Bytes(), &top))
	for _, name := range []string{"schema", "exercise", "device", "status", "duration_ms", "workloads", "findings"} {
		require.Contains(t, top, name)
	}
	for _, name := range []string{"id", "name", "operation", "unit", "standings"} {
		require.Contains(t, top["workloads"].([]any)[0], name)
	}
	for _, name := range []string{"contender", "value", "low", "high", "clock", "samples", "batch", "ratio"} {
		require.Contains(t, r.Workloads[0].Standings[0], name)
	}
}
